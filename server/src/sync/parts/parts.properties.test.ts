// A push in parts does the same as one request with the same lists: random lists, with faults, split at random, sent to two accounts with the same
// history, one as requests and one in parts.
import type { Report } from '@soundings/contract/organization.ts';
import type { Push } from '@soundings/contract/people/push-parts.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Fault } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import type { JsonValue } from '../../base/json/json.ts';
import { deleteGroupResults } from '../../results/published-figures.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { cases } from '../../testing/house/cases.ts';
import { commitPush } from './commit.ts';
import { beginCommit, deletePush, openPush, readPush, readPushChanges } from './parts.ts';
import { stateOf } from './account-state.fixture.ts';
import {
  withMostOf,
  bytesOf,
  type Data,
  newTwin,
  type Outcome,
  requests,
  newRun,
  type Sent,
  pushWholeLists,
  inTextOrder,
} from './random-pushes.fixture.ts';
import { storePart } from './store-part.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

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
  const run = newRun();
  const body = { parts: parts.length, settings } as unknown as JsonValue;
  const begun = await beginCommit(pool, accountId, { id: pushId, run, body });
  await commitPush(pool, accountId, { ...begun, run }, deleteGroupResults);
  const push = await readPush(pool, accountId, pushId);
  const { changes } = await readPushChanges(pool, accountId, { id: pushId, from: 0 });
  await deletePush(pool, accountId, pushId);
  const { outcome, summary, details, warnings = [] } = push.run as NonNullable<Push['run']>;
  return outcome === 'refused'
    ? { faults: inTextOrder(details ?? []), warnings: [] }
    : { summary: summary as Report['summary'], changes, warnings: inTextOrder(warnings) };
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

test('a push in parts has the same result, changes and faults as one request with the same lists', async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(requests, { minLength: 1, maxLength: 6 }), async (list) => {
      const [whole, inParts] = [await newTwin(database.pool), await newTwin(database.pool)];
      let earlier: Data | undefined;
      for (const { cuts, ...random } of list) {
        const sent = withMostOf(random, earlier, cuts);
        earlier = sent.data;
        const [first, second] = [
          await pushWholeLists(database.pool, whole, sent),
          await sendInParts(inParts, sent, cuts),
        ];
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
