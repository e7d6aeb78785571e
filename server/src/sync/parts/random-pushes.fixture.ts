// Random lists with faults, pushes of them as whole requests, and accounts that are the same at first. Shared by tests that push the same lists
// to two accounts in different ways.
import type { Report, Settings } from '@soundings/contract/organization.ts';
import * as fc from 'fast-check';
import { changeAccount, createAccount } from '../../accounts/accounts.ts';
import { Fault } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { inTransaction, type Pool, type Transaction } from '../../db/db.ts';
import { createGroup, releaseGroup } from '../../people/groups.ts';
import { updateConfirmed, updateUsersManaged } from '../../people/users.sql.ts';
import { changeUser, createUser, removeUser } from '../../people/users.ts';
import { defineAttribute } from '../../people/attributes.changes.ts';
import { deleteGroupResults } from '../../results/published-figures.ts';
import { pushOrganization } from '../push.ts';

export type Data = { users?: object[]; groups?: object[] };
export type Sent = { data: Data; settings: Settings };
/** What both ways of sending have in common. */
export type Outcome = {
  summary?: Report['summary'];
  changes?: Report['changes'];
  faults?: unknown[];
  warnings: unknown[];
};

export const newRun = () => ({
  id: newId(),
  source: 'api' as const,
  tokenId: null,
  address: null,
  file: null,
});
/** `space`: as in `JSON.stringify`. Some systems write their lists with spaces between the values. */
export const bytesOf = (value: unknown, space?: number) => ({
  bytes: new TextEncoder().encode(JSON.stringify(value, null, space)),
  gzip: false,
});
export const inTextOrder = (list: { type: string; path?: string; message?: string }[]) =>
  list.map(({ type, path, message }) => `${type} ${path} ${message}`).toSorted();

/** `space`: as in `bytesOf`. */
export async function pushWholeLists(
  pool: Pool,
  accountId: number,
  sent: Sent,
  space?: number,
): Promise<Outcome> {
  try {
    const body = bytesOf(sent, space);
    const { summary, changes, warnings } = await pushOrganization(pool, accountId, newRun(), body, {
      deleteGroupResults,
    });
    return { summary, changes, warnings: inTextOrder(warnings) };
  } catch (error) {
    if (error instanceof Fault && error.kind === 'invalid')
      return { faults: inTextOrder(error.details), warnings: [] };
    throw error;
  }
}

/** Returns an account with manual users and groups. */
export async function newTwin(pool: Pool): Promise<number> {
  return inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Twin' });
    await createUser(tx, id, { firstName: 'Ada', email: 'ada@example.org', role: 'Administrator' });
    await createUser(tx, id, { firstName: 'Manual', externalId: 'u7', email: 'm7@example.org' });
    const manual = await createGroup(tx, id, { name: 'Manual', externalId: 'g6' });
    await createUser(tx, id, { firstName: 'In manual', memberships: { memberOf: [manual] } });
    await defineAttribute(tx, id, { name: 'site', allowedValues: ['North', 'South'] });
    return id;
  });
}

const seldom = <T>(value: fc.Arbitrary<T>, usual: fc.Arbitrary<T>, weight = 12) =>
  fc.oneof({ arbitrary: usual, weight }, { arbitrary: value, weight: 1 });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const group = fc.constantFrom('g0', 'g1', 'g2', 'g3', 'g6');
const userOf = (externalId: string) =>
  fc.record(
    {
      externalId: fc.constant(externalId),
      firstName: fc.constantFrom('Eva', 'Åke'),
      lastName: seldom(fc.constant('x'.repeat(501)), fc.constantFrom('Ek', 'Öberg'), 60),
      // Mostly an address of its own or of the next one, so that addresses are swapped, left and taken over.
      email: fc.option(
        fc.constantFrom(
          `${externalId}@example.org`,
          `${externalId}@example.org`,
          `u${(Number(externalId.slice(1)) + 1) % 12}@example.org`,
          'ADA@example.org',
        ),
      ),
      active: fc.boolean(),
      accessInfo: fc.record(
        {
          memberOf: fc.array(seldom(fc.constant('g9'), group, 40), { maxLength: 3 }),
          adminOf: fc.array(group, { maxLength: 1 }),
          role: fc.constantFrom('User', 'Manager', 'Administrator'),
        },
        { requiredKeys: [] },
      ),
      externalProperties: fc.record({
        site: seldom(fc.constant('East'), fc.constantFrom('North', 'South'), 40),
      }),
    },
    { requiredKeys: ['externalId', 'firstName', 'lastName'] },
  );
const ids = (letter: string, count: number) => Array.from({ length: count }, (_, i) => `${letter}${i}`);
const users = fc
  .shuffledSubarray([...ids('u', 7), ...ids('u', 12).slice(8)])
  .chain((list) =>
    seldom(fc.constant(list.slice(0, 1)), fc.constant([] as string[]), 15).chain((again) =>
      seldom(fc.constant<string[]>(['u7']), fc.constant([] as string[]), 15).chain((manual) =>
        fc.tuple(...[...list, ...again, ...manual].map(userOf)),
      ),
    ),
  );
const groups = fc.shuffledSubarray(ids('g', 5)).chain((list) =>
  fc.tuple(
    ...list.map((externalId) =>
      fc.record(
        {
          externalId: fc.constant(externalId),
          name: fc.constantFrom('North', 'South'),
          description: fc.option(fc.constant('Text')),
          parent: fc.option(seldom(group, fc.constantFrom('g0', 'g6'), 6)),
        },
        { requiredKeys: ['externalId', 'name'] },
      ),
    ),
  ),
);
export const requests = fc.record({
  data: fc
    .record({ users: maybe(users), groups: maybe(groups) })
    .map((data): Data => JSON.parse(JSON.stringify(data)) as Data),
  settings: fc.record({
    validateOnly: seldom(fc.constant(true), fc.constant(false), 4),
    forceSetLanguage: fc.boolean(),
    maxUsersDeleted: seldom(fc.constant(1), fc.constant(200), 8),
  }),
  cuts: fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
});

/** What administrators do between two pushes, to the same person or group of both accounts. Most of it does nothing if they are not there. */
export type Edit = { kind: (typeof kindsOfEdits)[number]; externalId: string };
const kindsOfEdits = [
  'confirm',
  'appoint',
  'step down',
  'rename',
  'sign out',
  'release',
  'remove',
  'release group',
  'value',
  'roles on',
  'roles off',
] as const;
export const edits = fc.array(
  fc.record({
    kind: seldom(fc.constantFrom(...kindsOfEdits), fc.constantFrom(...kindsOfEdits.slice(0, -1)), 8),
    externalId: fc.constantFrom(...ids('u', 12)),
  }),
  { maxLength: 3 },
);

export async function editAccount(
  pool: Pool,
  accountId: number,
  { kind, externalId }: Edit,
): Promise<string | undefined> {
  return inTransaction(pool, async (tx) => {
    const by = await idOf(tx, accountId, 'Ada');
    const userId = await idOf(tx, accountId, externalId);
    if (kind === 'roles on' || kind === 'roles off')
      await changeAccount(tx, accountId, { rolesBySync: kind === 'roles on' });
    else if (kind === 'release group') await releaseGroupOf(tx, accountId, `g${externalId.slice(1)}`);
    else if (userId === undefined || by === undefined) return 'not there';
    else if (kind === 'appoint')
      await tx`
        update users set role = 'Administrator', role_pending = false, fingerprint = null
        where  account_id = ${accountId} and user_id = ${userId} and active`;
    else if (kind === 'step down') await changeUser(tx, accountId, by, { role: 'User' }, userId);
    else if (kind === 'confirm') await updateConfirmed(tx, accountId, userId);
    else if (kind === 'release') await updateUsersManaged(tx, accountId, [userId], false);
    else if (kind === 'remove') await removeUser(tx, accountId, userId, by);
    else if (kind === 'value') await changeUser(tx, accountId, userId, { attributes: { site: 'North' } }, by);
    else if (kind === 'sign out') await changeUser(tx, accountId, userId, { active: false }, by);
    else await changeUser(tx, accountId, userId, { firstName: 'Edited', language: 'sv' }, by);
    return undefined;
  }).catch((error: unknown) => {
    if (error instanceof Fault) return error.message;
    throw error;
  });
}

async function idOf(tx: Transaction, accountId: number, name: string): Promise<number | undefined> {
  const [row] = await tx<{ id: number }[]>`
    select user_id as "id" from users
    where  account_id = ${accountId} and coalesce(external_id, first_name) = ${name}`;
  return row?.id;
}

async function releaseGroupOf(tx: Transaction, accountId: number, externalId: string): Promise<void> {
  const [row] = await tx<{ id: number }[]>`
    select group_id as "id" from groups where account_id = ${accountId} and external_id = ${externalId} and managed`;
  if (row) await releaseGroup(tx, accountId, row.id, { keepExternalId: true });
}

/**
 * A list without faults and mostly without warnings, as most are. Otherwise hardly any text would be known: of lists as in `requests`, one in twenty
 * is applied without a warning.
 */
const calmUserOf = (externalId: string) =>
  fc.record(
    {
      externalId: fc.constant(externalId),
      firstName: fc.constantFrom('Eva', 'Åke', 'a "\\ b'),
      lastName: fc.constantFrom('Ek', 'Öberg'),
      email: fc.constantFrom(`${externalId}@example.org`, `${externalId}@Example.org`, null),
      phone: seldom(fc.constant('+46 70 123 45 67'), fc.constant('+46701234567')),
      active: seldom(fc.constant(false), fc.constant(true), 6),
      accessInfo: fc.record(
        {
          memberOf: fc.subarray(['g0', 'g1', 'g2', 'g3']),
          adminOf: fc.subarray(['g0'], { maxLength: 1 }),
          role: seldom(fc.constant('Administrator'), fc.constantFrom('User', 'Manager'), 60),
        },
        { requiredKeys: ['memberOf'] },
      ),
      externalProperties: fc.record({ site: fc.constantFrom('North', 'South') }),
    },
    { requiredKeys: ['externalId', 'firstName', 'lastName'] },
  );
const calmUsers = fc
  .shuffledSubarray([...ids('u', 7), ...ids('u', 12).slice(8)], { minLength: 6 })
  .chain((list) => fc.tuple(...list.map(calmUserOf)));
const calmGroups = fc.constant(
  ['g0', 'g1', 'g2', 'g3'].map((externalId) => ({ externalId, name: externalId })),
);

/** A push of a history: of any list, of one without faults, or of most users of the one before (`kept`), as HR systems send them. */
export const nextRequests = fc.record({
  kind: fc.constantFrom('any', 'calm', ...Array<'kept'>(10).fill('kept')),
  any: requests,
  calm: fc
    .record({ users: calmUsers, groups: calmGroups })
    .map((data) => JSON.parse(JSON.stringify(data)) as Data),
  changes: fc.record({
    replaced: fc.constantFrom(0, 0, 1, 1, 2),
    isAny: seldom(fc.constant(true), fc.constant(false), 6),
    removed: seldom(fc.nat(10), fc.constant(-1), 3),
    order: fc.constantFrom('same', 'same', 'same', 'reversed', 'twice'),
    hasGroups: fc.boolean(),
  }),
  settings: fc.record({
    validateOnly: seldom(fc.constant(true), fc.constant(false), 6),
    forceSetLanguage: seldom(fc.constant(true), fc.constant(false), 8),
    maxUsersDeleted: seldom(fc.constant(0), fc.constant(200), 8),
  }),
});
type NextRequest = typeof nextRequests extends fc.Arbitrary<infer T> ? T : never;

/** Returns what to send. `earlier`: the last list without faults and warnings. */
export function nextOf({ kind, any, calm, changes, settings }: NextRequest, earlier: Data | undefined): Sent {
  if (kind === 'any') return { data: any.data, settings: any.settings };
  if (kind === 'calm' || !earlier?.users) return { data: calm, settings };
  const others = ((changes.isAny ? any.data.users : undefined) ?? calm.users ?? []) as object[];
  const list = withChanged(earlier.users, others.slice(0, changes.replaced));
  if (changes.removed >= 0 && changes.removed < earlier.users.length) list.splice(changes.removed, 1);
  if (changes.order === 'reversed') list.reverse();
  if (changes.order === 'twice' && list[0] && changes.replaced === 2) list.push(list[0]);
  const { users: _, groups: earlierGroups, ...rest } = earlier;
  return {
    data: { ...rest, users: list, ...(changes.hasGroups && earlierGroups && { groups: earlierGroups }) },
    settings,
  };
}

const externalIdOf = (user: object) => (user as { externalId: string }).externalId;

/** Returns a list with other users in place of those with the same externalIds, and with the rest of them at its end. */
function withChanged(earlier: object[], others: object[]): object[] {
  const changed = new Map(others.map((user) => [externalIdOf(user), user]));
  const kept = earlier.map((user) => changed.get(externalIdOf(user)) ?? user);
  for (const user of earlier) changed.delete(externalIdOf(user));
  return [...kept, ...changed.values()];
}

/** Returns a list that has most users of an earlier one, as HR systems send them. `cuts`: random numbers. */
export function withMostOf({ data, ...sent }: Sent, earlier: Data | undefined, cuts: number[]): Sent {
  if (!data.users || !earlier?.users || (cuts[0] as number) % 3 === 0) return { ...sent, data };
  const list = withChanged(earlier.users, data.users.slice(0, (cuts.at(-1) as number) % 3));
  return { ...sent, data: { ...data, users: (cuts[0] as number) % 5 === 0 ? list.toReversed() : list } };
}
