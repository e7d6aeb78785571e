// Random lists with faults, pushes of them as whole requests, and accounts that are the same at first. Shared by tests that push the same lists
// to two accounts in different ways.
import type { Report, Settings } from '@soundings/contract/organization.ts';
import * as fc from 'fast-check';
import { createAccount } from '../../accounts/accounts.ts';
import { Fault } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { createGroup } from '../../people/groups.ts';
import { createUser } from '../../people/users.ts';
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
export const bytesOf = (value: unknown) => ({
  bytes: new TextEncoder().encode(JSON.stringify(value)),
  gzip: false,
});
export const inTextOrder = (list: { type: string; path?: string; message?: string }[]) =>
  list.map(({ type, path, message }) => `${type} ${path} ${message}`).toSorted();

export async function pushWholeLists(pool: Pool, accountId: number, sent: Sent): Promise<Outcome> {
  try {
    const { summary, changes, warnings } = await pushOrganization(pool, accountId, newRun(), bytesOf(sent), {
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

/** Returns a list that has most users of an earlier one, as HR systems send them. `cuts`: random numbers. */
export function withMostOf({ data, ...sent }: Sent, earlier: Data | undefined, cuts: number[]): Sent {
  if (!data.users || !earlier?.users || (cuts[0] as number) % 3 === 0) return { ...sent, data };
  const idOf = (user: object) => (user as { externalId: string }).externalId;
  const changed = new Map(data.users.slice(0, (cuts.at(-1) as number) % 3).map((user) => [idOf(user), user]));
  const kept = earlier.users.map((user) => changed.get(idOf(user)) ?? user);
  for (const user of earlier.users) changed.delete(idOf(user));
  const list = [...kept, ...changed.values()];
  return { ...sent, data: { ...data, users: (cuts[0] as number) % 5 === 0 ? list.toReversed() : list } };
}
