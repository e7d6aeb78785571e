// Weeks in which people answer over HTTP, for attacks on what remains of them after they have closed.
import { createHash, randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { dayIn, type Week, weekOf } from '@soundings/contract/weeks.ts';
import { createAccount, lockAccount } from '../../accounts/accounts.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { createGroup } from '../../people/groups.ts';
import { createUser } from '../../people/users.ts';
import { defineLibrary } from '../../questions/questions.ts';
import { selectQuestions } from '../../questions/questions.sql.ts';
import { newLinks } from '../../rounds/links.ts';
import { weekdayOf } from '../../rounds/send-times.ts';
import { openDueRounds } from '../../rounds/opening.ts';
import { createSchedule } from '../../rounds/schedules.ts';
import { AnswerKeys } from '../../sealing/answer-keys.ts';
import { readKeyFile } from '../../sealing/key-file.ts';
import { mondays } from '../asking.ts';
import type { TestData } from '../database.ts';

/** A week in which everyone has answered. */
export type AnsweredWeek = {
  accountId: number;
  adminId: number;
  week: Week;
  userIds: number[];
  links: string[];
  /** The people who have skipped the second question. Everyone else has answered it. */
  skippers: Set<number>;
  /** Each comment of the large group contains the first mark, each of the small group the second. */
  shownMark: string;
  hiddenMark: string;
  questionIds: number[];
  /** The total number of answers. */
  answers: number;
};

const [large, small] = [24, 3];

/**
 * Creates an account with a group whose comments are published and one that is too small for anything, and their schedule for
 * this week. Everyone answers two questions, one of them with a comment, one person after another, through the given services in
 * turn.
 */
export async function answeredWeek({ pool, keys }: TestData, addresses: string[]): Promise<AnsweredWeek> {
  const [now, today] = [Date.now(), dayIn('UTC', Date.now())];
  const mark = randomBytes(9).toString('hex');
  const [shownMark, hiddenMark] = [`shown${mark}`, `hidden${mark}`];
  const created = await inTransaction(pool, async (tx) => {
    const { id: accountId, language } = await createAccount(tx, { name: 'Test' });
    await lockAccount(tx, accountId);
    const adminId = await createUser(tx, accountId, {
      firstName: 'Ada',
      lastName: 'Admin',
      role: 'Administrator',
      email: 'ada@example.org',
    });
    await defineLibrary(tx, accountId, language);
    const groupIds: number[] = [];
    const userIds: number[] = [];
    for (const [name, count] of [
      ['Large', large],
      ['Small', small],
    ] as const) {
      const groupId = await createGroup(tx, accountId, { name, externalId: name });
      groupIds.push(groupId);
      for (let i = 1; i <= count; i++) {
        const own = `${name}-${mark}-${i}`;
        userIds.push(
          await createUser(tx, accountId, {
            firstName: 'P',
            lastName: String(i),
            externalId: own,
            email: `${own}@example.org`.toLowerCase(),
            memberships: { memberOf: [groupId] },
          }),
        );
      }
    }
    const ids = new Map((await selectQuestions(tx, accountId)).map(({ key, id }) => [key, id]));
    const questionIds = ['workload-amount', 'workload-rested'].map((key) => ids.get(key) as number);
    await createSchedule(
      tx,
      accountId,
      mondays({
        groupIds,
        questionIds,
        weekday: weekdayOf(today),
        hour: 0,
        anyHour: true,
        fromDay: today,
        reminderDays: null,
        reminderHour: null,
      }),
    );
    return { accountId, adminId, userIds, questionIds };
  });
  await openDueRounds(pool, keys, now);
  const week = weekOf(today);
  const people = created.userIds.map((userId) => ({ accountId: created.accountId, userId, week }));
  const links = await newLinks(pool, people);
  const skippers = new Set<number>();
  await Promise.all(
    links.map(async (link, i) => {
      const address = addresses[i % addresses.length] as string;
      const [first, second] = created.questionIds as [number, number];
      const comment = `${i < large ? shownMark : hiddenMark} number ${i}`;
      await giveAnswer(address, link, { question: first, value: 1 + (i % 5), comment });
      if (i % 3 === 0) skippers.add(created.userIds[i] as number);
      await giveAnswer(
        address,
        link,
        i % 3 === 0 ? { question: second, skipped: true } : { question: second, value: 1 + (i % 4) },
      );
    }),
  );
  const { accountId, adminId, userIds, questionIds } = created;
  return {
    accountId,
    adminId,
    week,
    userIds,
    links,
    questionIds,
    skippers,
    shownMark,
    hiddenMark,
    answers: 2 * links.length,
  };
}

export const visitOf = (link: string): string => createHash('sha256').update(link).digest('hex').slice(0, 27);

/** Gives an answer like the page does. Throws if it is not stored. */
export async function giveAnswer(address: string, link: string, answer: object): Promise<void> {
  const given = await fetch(`${address}/a/${link}/answers`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: `soundings_visit=${visitOf(link)}` },
    body: JSON.stringify(answer),
  });
  if (given.status !== 204) throw new Error(`Not kept: ${given.status} ${await given.text()}`);
}

/** The keys of a service, as another process with its files has them. */
export const keysBeside = (dataDir: string, pool: Pool): AnswerKeys =>
  new AnswerKeys(pool, { place: 'file', directory: join(dataDir, 'keys') });

export const keyPathOf = (dataDir: string): string => join(resolve(dataDir), 'keys', 'answers');

/** Returns whether the week has closed, its epoch has ended, and these services have no key except that of the current epoch. */
export async function isForgotten(
  pool: Pool,
  { accountId, week }: Pick<AnsweredWeek, 'accountId' | 'week'>,
  dataDirs: string[],
): Promise<boolean> {
  const [row] = await pool<{ isClosed: boolean; isSpent: boolean; epoch: number }[]>`
    select closed_at is not null as "isClosed", is_spent as "isSpent", epoch as "epoch"
    from   weeks, answer_keys
    where  account_id = ${accountId} and week = ${week}`;
  return (
    row !== undefined &&
    row.isClosed &&
    !row.isSpent &&
    dataDirs.every((dataDir) => readKeyFile(keyPathOf(dataDir))?.epoch === row.epoch)
  );
}
