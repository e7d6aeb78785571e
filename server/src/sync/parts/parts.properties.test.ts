// A push in parts does exactly what one request with the same lists does: for random lists, split at random, sent to two accounts with the same
// history, one as requests and one in parts.
import type { Report, Settings } from '@soundings/contract/organization.ts';
import type { Push } from '@soundings/contract/people/push-parts.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../../accounts/accounts.ts';
import { Fault } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import type { JsonValue } from '../../base/json.ts';
import { inTransaction } from '../../db/db.ts';
import { createGroup } from '../../people/groups.ts';
import { createUser } from '../../people/users.ts';
import { defineAttribute } from '../../people/attributes.changes.ts';
import { deleteGroupResults } from '../../results/published-figures.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { cases } from '../../testing/house/cases.ts';
import { pushOrganization } from '../sync.ts';
import { commitPush } from './commit.ts';
import { beginCommit, deletePush, openPush, readPush, readPushChanges } from './parts.ts';
import { stateOf } from './account-state.fixture.ts';
import { storePart } from './store-part.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

type Data = { users?: object[]; groups?: object[] };
type Sent = { data: Data; settings: Settings };
/** What both ways of sending have in common. */
type Outcome = {
  summary?: Report['summary'];
  changes?: Report['changes'];
  faults?: unknown[];
  warnings: unknown[];
};

const runOf = () => ({ id: newId(), source: 'api' as const, tokenId: null, address: null, file: null });
const bytesOf = (value: unknown) => ({ bytes: new TextEncoder().encode(JSON.stringify(value)), gzip: false });
const sorted = (list: { type: string; path?: string; message?: string }[]) =>
  list.map(({ type, path, message }) => `${type} ${path} ${message}`).toSorted();

async function sendWhole(accountId: number, sent: Sent): Promise<Outcome> {
  try {
    const { summary, changes, warnings } = await pushOrganization(
      database.pool,
      accountId,
      runOf(),
      bytesOf(sent),
      { deleteGroupResults },
    );
    return { summary, changes, warnings: sorted(warnings) };
  } catch (error) {
    if (error instanceof Fault && error.kind === 'invalid')
      return { faults: sorted(error.details), warnings: [] };
    throw error;
  }
}

/** Sends the same lists in parts: `cuts` says where they are split, and in which order the parts are sent, some of them twice. */
async function sendInParts(accountId: number, { data, settings }: Sent, cuts: number[]): Promise<Outcome> {
  const { pool } = database;
  const { id: pushId } = await openPush(pool, accountId, newId());
  const parts = split(data, cuts);
  const order = parts
    .flatMap((_, i) => (cuts[i % cuts.length]! % 3 === 0 ? [i, i] : [i]))
    .toSorted((a, b) => (cuts[a % cuts.length] as number) - (cuts[b % cuts.length] as number));
  const faults: Detail[] = [];
  for (const i of order) {
    await storePart(pool, accountId, { pushId, part: i + 1 }, bytesOf({ data: parts[i] })).catch(
      (error: Fault) => void faults.push(...error.details),
    );
  }
  if (faults.length > 0) {
    await deletePush(pool, accountId, pushId);
    return { faults: ['a part was refused'], warnings: [] };
  }
  const run = runOf();
  const body = { parts: parts.length, settings } as unknown as JsonValue;
  const begun = await beginCommit(pool, accountId, { id: pushId, run, body });
  await commitPush(pool, accountId, { ...begun, run }, deleteGroupResults);
  const push = await readPush(pool, accountId, pushId);
  const { changes } = await readPushChanges(pool, accountId, { id: pushId, from: 0 });
  await deletePush(pool, accountId, pushId);
  const { outcome, summary, details, warnings = [] } = push.run as NonNullable<Push['run']>;
  return outcome === 'refused'
    ? { faults: sorted(details ?? []), warnings: [] }
    : { summary: summary as Report['summary'], changes, warnings: sorted(warnings) };
}

function split({ users, groups }: Data, cuts: number[]): Data[] {
  const parts: Data[] = [];
  const cut = (kind: 'users' | 'groups', list: object[] | undefined) => {
    let rest = list;
    for (let i = 0; rest !== undefined; i++) {
      const size = 1 + ((cuts[i % cuts.length] as number) % 5);
      parts.push({ [kind]: rest.slice(0, size) });
      rest = rest.length > size ? rest.slice(size) : undefined;
    }
  };
  cut('groups', groups);
  cut('users', users);
  // The first part with users can have groups, too.
  const [first, second] = parts;
  if (first?.groups && second?.users && (cuts[0] as number) % 2 === 0)
    parts.splice(0, 2, { ...first, ...second });
  return parts.length > 0 ? parts : [{}];
}

async function newTwin(): Promise<number> {
  return inTransaction(database.pool, async (tx) => {
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
const requests = fc.record({
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

test('a push in parts has the same result, changes and faults as one request with the same lists', async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(requests, { minLength: 1, maxLength: 6 }), async (list) => {
      const [whole, inParts] = [await newTwin(), await newTwin()];
      for (const { cuts, ...sent } of list) {
        const [first, second] = [await sendWhole(whole, sent), await sendInParts(inParts, sent, cuts)];
        const kind =
          second.faults?.[0] === 'a part was refused' ? 'part' : second.faults ? 'refused' : 'done';
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
        // A part is refused alone, for some of the faults of the whole.
        const found = kind === 'part' ? (first.faults?.length ?? 0) > 0 : second;
        expect(found).toEqual(kind === 'part' ? true : first);
        if (kind === 'part') return; // the request has a run, and the parts have none
        expect(await stateOf(database.pool, inParts)).toEqual(await stateOf(database.pool, whole));
      }
    }),
    cases(400),
  );
  expect([...seen.keys()].toSorted()).toEqual(['done', 'part', 'refused']);
});
