// The console: the first steps of an account, computed from its data, so that no step has to be ticked by anyone.
import type { Start, StartStep } from '@soundings/contract/console/start.ts';
import { startSteps } from '@soundings/contract/console/start.ts';
import { accountById, lockAccount } from '../../accounts/accounts.ts';
import { updateStartDismissed } from '../../accounts/accounts.sql.ts';
import { audit } from '../../accounts/audit.ts';
import { type Db, inTransaction } from '../../db/db.ts';
import { actorOf, type Console, type Who } from '../core/console.ts';
import type { AskingDependencies } from './asking-dependencies.ts';
import { named } from './question-texts.ts';
import { selectStartFacts, type StartFacts } from './start.sql.ts';

export function serveStart(console: Console, { pool, mailer }: AskingDependencies): void {
  console.serve('GET /start', async (who) => startOf(await pool, who, mailer !== undefined));
  console.serve('PUT /start/dismissed', async (who, { body: { isDismissed } }) =>
    inTransaction(await pool, async (tx) => {
      await lockAccount(tx, who.accountId);
      if (!(await updateStartDismissed(tx, who.accountId, isDismissed))) return;
      const details = { gettingStarted: !isDismissed };
      await audit(tx, who.accountId, actorOf(who), 'settings changed', { details });
    }),
  );
}

async function startOf(db: Db, { accountId, userId }: Who, canMail: boolean): Promise<Start> {
  const { name, language, threshold } = await accountById(db, accountId);
  const facts = await selectStartFacts(db, accountId, userId);
  const { openWeek, hasAsked: _, hasTested: __, ...shown } = facts;
  const isDone = doneSteps(facts, threshold);
  return {
    ...shown,
    steps: startSteps.map((step) => ({ name: step, isDone: isDone[step] })),
    company: { name, language, threshold },
    canMail,
    week: openWeek === null ? null : named(openWeek),
  };
}

/** Returns whether each step is done. A figure needs as many answers as the threshold says, so fewer people are not enough. */
function doneSteps(facts: StartFacts, threshold: number): Record<StartStep, boolean> {
  const { people, withoutGroup, groups, schedule, hasTested, hasAsked, uninvited, invited, signedIn } = facts;
  return {
    company: true,
    people: people > threshold,
    groups: groups > 0 && people - withoutGroup >= threshold,
    pulse: schedule !== null,
    testMail: hasTested,
    ask: hasAsked,
    invite: uninvited === 0 && invited + signedIn > 0,
  };
}
