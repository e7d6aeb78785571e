// Answers that many people give at the same time are saved in one statement. Each still has its own outcome.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import { inTransaction, openPool } from '../db/db.ts';
import { createUser } from '../people/users.ts';
import { askPeople } from '../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { cases } from '../testing/house/cases.ts';
import { answersOfPerson } from '../testing/kept-answers.ts';
import { until } from '../testing/until.ts';
import { saveAnswers } from './answering.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

async function asking(count: number) {
  const accountId = await inTransaction(database.pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Acme' });
    await createUser(tx, id, { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' });
    return id;
  });
  return askPeople(database, accountId, { count });
}

const people = 8;
const keys = ['workload-amount', 'workload-rested'];

/** What is sent for one answer. Nothing of what is wrong may be stored, and it must not refuse what is sent at the same time. */
type Sent = {
  person: number;
  key: string;
  browser: string;
  wrong: 'value' | 'question' | 'link' | undefined;
};
const anySent: fc.Arbitrary<Sent> = fc.record({
  person: fc.nat(people - 1),
  key: fc.constantFrom(...keys),
  browser: fc.constantFrom('one', 'one', 'one', 'another'),
  wrong: fc.constantFrom(undefined, undefined, undefined, 'value', 'question', 'link'),
});

/** `waits`: how many answers are sent before the first statement can go on. The others are sent while it and later ones run. */
const anyRush = fc.record({
  all: fc.array(anySent, { minLength: 1, maxLength: 60 }),
  waits: fc.nat(60),
  inactive: fc.nat(people - 1),
});

test('in any mixture of right and wrong answers, each person gets the outcome of their own, and what was confirmed is stored', async () => {
  const other = await asking(1);
  await fc.assert(
    fc.asyncProperty(anyRush, async ({ all, waits, inactive }) => {
      const { accountId, week, userIds, links, questionIds } = await asking(people + 1);
      const pool = openPool(database.url, 4);
      try {
        await pool`
          update users set active = false where account_id = ${accountId} and user_id = ${userIds[inactive]!}`;
        // From now on the forms of the questions are known, so that what is wrong is found only when the answers are saved.
        for (const key of keys) {
          for (const [link, asked] of [
            [links[people]!, questionIds] as const,
            [other.links[0]!, other.questionIds] as const,
          ])
            await saveAnswers(pool, database.keys, { link, visit: 'one' }, [
              { questionId: asked.get(key)!, skipped: true },
            ]);
        }
        const give = async ({ person, key, browser, wrong }: Sent, i: number): Promise<string> => {
          const asked = wrong === 'question' ? other.questionIds : questionIds;
          const by = { link: wrong === 'link' ? 'x'.repeat(27) : links[person]!, visit: browser };
          const value = wrong === 'value' ? 99 : 1 + (i % 5);
          const answer = { questionId: asked.get(key)!, value, comment: `answer ${i}` };
          return saveAnswers(pool, database.keys, by, [answer]).catch((error: unknown) =>
            error instanceof Fault ? error.code : Promise.reject(error),
          );
        };
        // The first statement waits for this lock, so that the answers after it are handled together.
        const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const holding = inTransaction(database.pool, async (tx) => {
          await tx`select 1 from weeks where account_id = ${accountId} and week = ${week} for update`;
          locked.resolve();
          await release.promise;
        });
        await locked.promise;
        const giving = all.slice(0, waits).map(give);
        await settled(giving);
        release.resolve();
        giving.push(...all.slice(waits).map((one, i) => give(one, waits + i)));
        const outcomes = await Promise.all(giving);
        await holding;

        const sent = all.map((one, i) => ({ ...one, comment: `answer ${i}`, outcome: outcomes[i]! }));
        for (let person = 0; person < people; person++) {
          const stored = await answersOfPerson(database, accountId, week, userIds[person]!);
          for (const key of keys) {
            const own = sent.filter((one) => one.person === person && one.key === key);
            const confirmed = own.filter(({ outcome }) => outcome === 'kept');
            const due = ({ wrong, browser }: Sent) => {
              if (person === inactive || wrong === 'link') return 'closed';
              if (wrong !== undefined) return 'invalid value';
              return confirmed.some((one) => one.browser !== browser) ? 'already answered' : 'kept';
            };
            expect(own.map(({ outcome }) => outcome)).toEqual(own.map(due));
            const answer = stored.get(questionIds.get(key)!);
            // The last that was saved is stored. Which one that is depends on the statements.
            expect(answer === undefined).toBe(confirmed.length === 0);
            expect([undefined, ...confirmed.map(({ comment }) => comment)]).toContain(
              answer?.comment ?? undefined,
            );
          }
        }
      } finally {
        await pool.end();
      }
    }),
    cases(40),
  );
});

/** Resolves when a statement waits for a lock, or when all answers have their outcome because none of them waits. */
async function settled(giving: Promise<string>[]): Promise<void> {
  let isDone = false;
  void Promise.all(giving).then(() => (isDone = true));
  await until(async () => {
    const [row] = await database.pool<{ count: number }[]>`
      select count(*)::integer as count from pg_stat_activity
      where  datname = current_database() and wait_event_type = 'Lock'`;
    return isDone || row!.count > 0;
  });
}
