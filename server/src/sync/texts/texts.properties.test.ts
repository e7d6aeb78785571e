// A push that is read by the texts of the last one does the same as one that is parsed as a whole: random lists, with faults, are sent to two accounts
// with the same history, of which one never knows any texts.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../db/db.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { cases } from '../../testing/house/cases.ts';
import { stateOf } from '../parts/account-state.fixture.ts';
import { withMostOf, type Data, newTwin, requests, pushWholeLists } from '../parts/random-pushes.fixture.ts';
import { deleteTexts, selectTexts } from './sent-texts.sql.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('a push has the same result, changes and faults whether texts are known or not', async () => {
  const { pool } = database;
  let withTexts = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(requests, { minLength: 2, maxLength: 6 }), async (list) => {
      const [knowing, parsing] = [await newTwin(pool), await newTwin(pool)];
      let earlier: Data | undefined;
      for (const { cuts, ...random } of list) {
        const sent = withMostOf(random, earlier, cuts);
        earlier = sent.data;
        if ((await selectTexts(pool, knowing, 0)) !== undefined) withTexts++;
        const first = await pushWholeLists(pool, knowing, sent);
        await inTransaction(pool, (tx) => deleteTexts(tx, parsing));
        expect(first).toEqual(await pushWholeLists(pool, parsing, sent));
        expect(await stateOf(pool, knowing)).toEqual(await stateOf(pool, parsing));
      }
    }),
    cases(300),
  );
  expect(withTexts).toBeGreaterThan(0);
});
