// A push that is read by the texts of the last one does the same as one that is parsed as a whole: random lists, with faults, are sent to two accounts
// with the same history, of which one never knows any texts.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../db/db.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { cases } from '../../testing/house/cases.ts';
import { stateOf } from '../parts/account-state.fixture.ts';
import {
  bytesOf,
  type Data,
  editAccount,
  edits,
  newTwin,
  nextOf,
  nextRequests,
  pushWholeLists,
} from '../parts/random-pushes.fixture.ts';
import { readOrganization } from '../check.ts';
import { knownTextsOf } from '../parts/people-index.ts';
import { readByTexts } from './read-lists.ts';
import { deleteTexts, selectTexts } from './sent-texts.sql.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('a push has the same result, changes and faults whether texts are known or not, whatever is edited in between', async () => {
  const { pool } = database;
  const seen = new Set<string>();
  const step = fc.record({
    next: nextRequests,
    edited: edits,
    space: fc.constantFrom(...Array<undefined>(8), 1),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      const [knowing, parsing] = [await newTwin(pool), await newTwin(pool)];
      let earlier: Data | undefined;
      for (const { next, edited, space } of steps) {
        const sent = nextOf(next, earlier);
        const index = await selectTexts(pool, knowing, 0);
        const { bytes } = bytesOf(sent, space);
        if (readByTexts(bytes, index && knownTextsOf(index), readOrganization)) seen.add('known texts');
        const first = await pushWholeLists(pool, knowing, sent, space);
        await inTransaction(pool, (tx) => deleteTexts(tx, parsing));
        expect(first).toEqual(await pushWholeLists(pool, parsing, sent, space));
        if (!first.faults && first.warnings.length === 0) earlier = sent.data;
        for (const edit of edited) {
          const result = await editAccount(pool, knowing, edit);
          expect(result).toEqual(await editAccount(pool, parsing, edit));
          if (result === undefined) seen.add(edit.kind);
        }
        expect(await stateOf(pool, knowing)).toEqual(await stateOf(pool, parsing));
      }
    }),
    cases(120),
  );
  expect([...seen]).toContain('known texts');
});
