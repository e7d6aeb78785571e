// Hands people who exist already over to a directory: those with the email address of a user of the directory. They keep their id,
// their history and their groups. From then on, pushes and files that list them are refused. What that changes is shown before.
import type { Change } from '@soundings/contract/organization.ts';
import type { TakeoverPlan } from '@soundings/contract/scim/directory.ts';
import { createHash } from 'node:crypto';
import { notifyPerson } from '../../accounts/account-notices.ts';
import { raiseVersion } from '../../accounts/accounts.sql.ts';
import { lockAccount } from '../../accounts/accounts.ts';
import { type Actor, audit } from '../../accounts/audit.ts';
import { changedSince, Fault } from '../../base/errors.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../../db/db.ts';
import { inSavepoint } from '../../db/savepoints.ts';
import type { DeleteGroupResults } from '../../people/groups.ts';
import { type Findings, newFindings } from '../../sync/findings.ts';
import { selectUsersById } from './apply.sql.ts';
import { requestFor, withConcerned } from './apply.ts';
import { selectDirectory } from './directories.sql.ts';
import { displayNameOf } from './mapping.ts';
import { runDirectory } from './run-directory.ts';
import { updateTakenOver } from './takeover.sql.ts';
import {
  hindranceOf,
  type Match,
  matchById,
  shownPerson,
  togetherOf,
  waitingMatches,
} from './waiting-users.ts';

/** How many people and changes a plan shows. */
const maxShown = 100;

/**
 * Who is to be handed over. `id`: the user of the directory whose person it is; undefined: everyone who can be handed over together. `by`: the
 * administrator, who does not hand over their own account.
 */
export type Chosen = { id: string | undefined; by: number };

/** `canMail`: whether administrators are emailed that they were handed over. */
export type Decided = Chosen & { digest: string; actor: Actor; canMail: boolean };

/** Thrown to undo what was only planned. */
class OnlyPlanned extends Error {
  readonly plan: TakeoverPlan;

  constructor(plan: TakeoverPlan) {
    super('planned');
    this.plan = plan;
  }
}

/** Returns what a handover would change. Nothing is changed. Throws a Fault if the person can't be handed over. */
export async function planTakeover(
  pool: Pool,
  accountId: AccountId,
  chosen: Chosen,
  deleteGroupResults: DeleteGroupResults,
): Promise<TakeoverPlan> {
  try {
    return await inTransaction(pool, async (tx) => {
      const wanted = { ...chosen, notifies: false };
      throw new OnlyPlanned((await handOver(tx, accountId, wanted, deleteGroupResults)).plan);
    });
  } catch (error) {
    if (error instanceof OnlyPlanned) return error.plan;
    throw error;
  }
}

/**
 * Hands people over, and applies what the directory says of them in a run. `digest`: that of the plan that was shown. Throws a Fault (conflict) if
 * it would now be someone else, or change something else.
 */
export async function takeOverPeople(
  pool: Pool,
  accountId: AccountId,
  { digest, actor, canMail, ...chosen }: Decided,
  deleteGroupResults: DeleteGroupResults,
): Promise<number> {
  return inTransaction(pool, async (tx) => {
    const wanted = { ...chosen, notifies: canMail };
    const { plan, people } = await handOver(tx, accountId, wanted, deleteGroupResults);
    if (plan.digest !== digest) throw changedSince('The directory or the people have changed');
    const [only] = people.length === 1 ? people : [];
    await audit(tx, accountId, actor, 'people provisioned', {
      ...(only && { subject: only.id }),
      details: { people: people.length, ...(only && { role: only.role }) },
    });
    await raiseVersion(tx, accountId);
    return people.length;
  });
}

type Handed = { plan: TakeoverPlan; people: NonNullable<Match['person']>[] };

async function handOver(
  tx: Transaction,
  accountId: AccountId,
  { notifies, ...chosen }: Chosen & { notifies: boolean },
  deleteGroupResults: DeleteGroupResults,
): Promise<Handed> {
  await lockAccount(tx, accountId);
  const matches = await chosenMatches(tx, accountId, chosen);
  const pairs = matches.flatMap(({ user, person }) => (person ? [{ user, person }] : []));
  // Before their addresses can change.
  for (const { person } of pairs)
    if (notifies && person.role === 'Administrator')
      await notifyPerson(tx, accountId, person.id, 'handed over to directory');
  await updateTakenOver(
    tx,
    accountId,
    pairs.map(({ user, person }) => ({ id: user.id, userId: person.id })),
  );
  const findings = newFindings();
  const ids = pairs.map(({ user }) => user.id);
  const isAlone = chosen.id !== undefined;
  const { changes, refusal } = await applied(tx, accountId, { ids, isAlone, deleteGroupResults }, findings);
  const warnings = [
    ...(refusal ? [refusal.message] : []),
    ...findings.warnings().map(({ message }) => message),
  ];
  const names = new Map(pairs.map(({ user, person }) => [person.externalId ?? user.id, person.name]));
  const leaving = pairs.filter(({ user, person }) => !user.isActive && person.active).length;
  const digest = createHash('sha256')
    .update(
      JSON.stringify([
        pairs.map(({ user, person }) => [user.id, person.id, user.isActive]),
        changes,
        warnings,
      ]),
    )
    .digest('hex');
  const plan = {
    people: pairs.length,
    pairs: pairs.slice(0, maxShown).map(({ user, person }) => ({
      id: user.id,
      name: displayNameOf(user.resource),
      person: shownPerson(person),
    })),
    changes: changes
      .slice(0, maxShown)
      .map((change) => ({ ...change, name: names.get(change.externalId) ?? null })),
    warnings: warnings.slice(0, maxShown),
    leaving,
    digest,
  };
  return { plan, people: pairs.map(({ person }) => person) };
}

async function chosenMatches(
  tx: Transaction,
  accountId: AccountId,
  { id, by }: Chosen,
): Promise<readonly Match[]> {
  if (id === undefined) return togetherOf(await waitingMatches(tx, accountId, true), by);
  const match = await matchById(tx, accountId, id);
  if (!match || hindranceOf(match, by) === 'no person' || hindranceOf(match, by) === 'other user')
    throw changedSince('The directory or the person has changed');
  const hindrance = hindranceOf(match, by);
  if (hindrance === 'own account')
    throw new Fault(
      'conflict',
      'own account',
      "You can't do this to your own account. Ask another administrator.",
    );
  if (hindrance === 'break-glass')
    throw new Fault(
      'conflict',
      'break-glass administrator',
      'This is a break-glass administrator, who must not depend on the directory. Choose other ones first, under Single sign-on.',
    );
  return [match];
}

type Applying = { ids: string[]; isAlone: boolean; deleteGroupResults: DeleteGroupResults };

/**
 * Applies what the directory says of users who were just handed over. If that is refused for one of many, it waits for the next run of the
 * directory, which divides them. That of one person throws the Fault.
 */
async function applied(
  tx: Transaction,
  accountId: AccountId,
  { ids, isAlone, deleteGroupResults }: Applying,
  findings: Findings,
): Promise<{ changes: readonly Change[]; refusal?: Fault }> {
  const directory = await selectDirectory(tx, accountId);
  const changed = await selectUsersById(tx, accountId, ids);
  const users = await withConcerned(tx, accountId, directory, changed, new Date());
  const { request, data } = await requestFor(tx, accountId, directory, users, findings);
  if (data === undefined) return { changes: [] };
  const wanted = { deleteGroupResults, beyondLimits: 'apply' as const };
  const end = await inSavepoint<{ changes: readonly Change[]; refusal?: Fault }>(tx, async (inner, undo) => {
    const run = { sent: { ...request, data }, tokenId: null, wanted };
    const { plan, refusal } = await runDirectory(inner, accountId, run, findings);
    if (refusal) return undo({ changes: [], refusal });
    return { changes: plan?.changes ?? [] };
  });
  if (isAlone && end.refusal) throw end.refusal;
  return end;
}
