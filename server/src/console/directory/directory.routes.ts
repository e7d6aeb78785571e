// The console: the directory that provisions the account over SCIM, its rule for the tree, and people who are handed over to it.
import type { Directory, TreeRule } from '@soundings/contract/scim/directory.ts';
import type { Summary } from '@soundings/contract/organization.ts';
import { scimPath } from '@soundings/contract/scim/scim.ts';
import { lockAccount } from '../../accounts/accounts.ts';
import { audit } from '../../accounts/audit.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import type { Applier } from '../../scim/applying/applier.ts';
import { selectDirectory, updateDirectory } from '../../scim/applying/directories.sql.ts';
import type { OnRules } from '../../scim/applying/rules-thread.ts';
import { keepPerson, waitingOf, waitingUserOf } from '../../scim/applying/waiting-users.ts';
import { selectScimRequests } from '../../scim/request-log.sql.ts';
import { userNotFound } from '../../people/faults.ts';
import { actorOf, type Console } from '../core/console.ts';
import { idIn } from '../core/ids.ts';
import { selectPerson } from '../people/people.sql.ts';
import { selectDirectoryCounts } from './directory.sql.ts';

type Dependencies = {
  pool: Promise<Pool>;
  publicUrl: string;
  canMail: boolean;
  rules: OnRules;
  applier: Applier;
};

/** How many requests the console shows. */
const maxShown = 100;

export function serveDirectory(
  console: Console,
  { pool, publicUrl, canMail, rules, applier }: Dependencies,
): void {
  console.serve('GET /directory', async (who) => directoryOf(await pool, who, publicUrl));
  console.serve('POST /directory/plan', async (who, { body: { rule } }) =>
    rules.plan(who.accountId, rule as TreeRule),
  );
  console.serve('PUT /directory/rule', async (who, { body: { rule, summary } }) => {
    await rules.apply(who.accountId, {
      rule: rule as TreeRule,
      summary: summary as Summary,
      by: actorOf(who),
    });
  });
  console.serve('PATCH /directory', async (who, { body: { settleMinutes } }) => {
    await inTransaction(await pool, async (tx) => {
      await lockAccount(tx, who.accountId);
      const directory = await selectDirectory(tx, who.accountId);
      await updateDirectory(tx, who.accountId, { ...directory, settleMinutes });
      await audit(tx, who.accountId, actorOf(who), 'directory changed', { details: { settleMinutes } });
    });
  });
  console.serve('GET /directory/people/{userId}', async (who, { params }) => {
    const person = await selectPerson(await pool, who.accountId, idIn(params.userId));
    if (!person) throw userNotFound();
    return { user: await waitingUserOf(await pool, who.accountId, person, who.userId) };
  });
  console.serve('POST /directory/takeover/plan', async (who, { body: { id } }) =>
    rules.planTakeover(who.accountId, { id, by: who.userId }),
  );
  console.serve('POST /directory/takeover', async (who, { body: { id, digest } }) => {
    await rules.takeOver(who.accountId, { id, digest, by: who.userId, actor: actorOf(who), canMail });
    // Others may no longer wait: two users can have had the address of the same person.
    applier.notify(who.accountId);
  });
  console.serve('PUT /directory/users/{id}/kept', async (who, { params, body }) => {
    await keepPerson(await pool, who.accountId, { id: params.id, ...body, by: actorOf(who) });
  });
}

async function directoryOf(
  pool: Pool,
  { accountId, userId }: { accountId: number; userId: number },
  publicUrl: string,
): Promise<Directory> {
  const [directory, counts, takeover, requests] = await Promise.all([
    selectDirectory(pool, accountId),
    selectDirectoryCounts(pool, accountId),
    waitingOf(pool, accountId, userId),
    selectScimRequests(pool, accountId, maxShown),
  ]);
  const { rule, settleMinutes, pendingRunId } = directory;
  const { tokens, active, inactive, groups, changes, people, removedGroups, kept } = counts;
  return {
    address: publicUrl + scimPath,
    tokens,
    rule,
    settleMinutes,
    users: { active, inactive },
    groups,
    waiting: { changes, people, groups: removedGroups, kept },
    blocked: takeover,
    pendingRunId,
    requests: requests.map((one) => ({ ...one, at: one.at.toISOString() })),
  };
}
