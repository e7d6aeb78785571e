// For tests of segments: a company of three teams whose people have attributes, a schedule that asks them, and what is published.
import { selectSegments } from '../../rounds/segments/breakdowns.sql.ts';
import { afterAll, beforeAll } from 'vitest';
import { changeAccount, createAccount } from '../../accounts/accounts.ts';
import { saveAnswers } from '../../answers/answering.ts';
import { type Db, inTransaction, type Pool } from '../../db/db.ts';
import { defineAttribute } from '../../people/attributes.changes.ts';
import { createGroup } from '../../people/groups.ts';
import { createUser } from '../../people/users.ts';
import { defineKpis, defineLibrary } from '../../questions/questions.ts';
import { selectQuestions } from '../../questions/questions.sql.ts';
import { newLinks } from '../../rounds/links.ts';
import { openDueRounds } from '../../rounds/opening.ts';
import { createSchedule } from '../../rounds/schedules.ts';
import { type NewBreakdown, openBreakdown } from '../../rounds/segments/breakdowns.ts';
import { askedWeek, mondays, noon } from '../../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { closeWeek } from '../close-week.ts';

export let database: TestDatabase;
export let pool: Pool;

export function useDatabase(): void {
  beforeAll(async () => {
    database = await openTestDatabase();
    pool = database.pool;
  });
  afterAll(() => database.close());
}

export const command = { origin: 'command' } as const;
export const site: NewBreakdown = { name: 'Site', attribute: 'site', bands: null, crossOf: null };
export const age: NewBreakdown = { name: 'Age', attribute: 'born', bands: [40], crossOf: null };

export type Staff = {
  id: number;
  groups: { top: number; a: number; b: number; c: number };
  userIds: number[];
  /** The questions that are asked, by key: a scale, a recommendation, and a choice. */
  questionIds: number[];
  scheduleId: number;
};

/** The site of the person with this number: two large ones, one of four people, and one of a single person. */
export const siteOf = (i: number) =>
  i === 59 ? 'Kiruna' : i >= 55 ? 'Lund' : i % 2 === 0 ? 'Stockholm' : 'Malmö';
export const bornOf = (i: number) => (i % 3 === 0 ? '1970-05-05' : '1995-05-05');

/** Creates a company of 60 people in three teams of 20, and a schedule that asks them three questions. No breakdown is open yet. */
export async function staff(settings: Parameters<typeof changeAccount>[2] = {}): Promise<Staff> {
  return inTransaction(pool, async (tx) => {
    const { id, language } = await createAccount(tx, { name: 'Acme', timezone: 'UTC' });
    await changeAccount(tx, id, settings);
    for (const name of ['site', 'born']) await defineAttribute(tx, id, { name, allowedValues: null });
    const top = await createGroup(tx, id, { name: 'top' });
    const [a, b, c] = [
      await createGroup(tx, id, { name: 'a', parentId: top }),
      await createGroup(tx, id, { name: 'b', parentId: top }),
      await createGroup(tx, id, { name: 'c', parentId: top }),
    ];
    const userIds: number[] = [];
    for (let i = 0; i < 60; i++) {
      const memberOf = [[a, b, c][Math.floor(i / 20)] as number];
      const attributes = { site: siteOf(i), born: bornOf(i) };
      userIds.push(
        await createUser(tx, id, {
          firstName: `P${i}`,
          lastName: 'P',
          email: `p${i}@example.org`,
          memberships: { memberOf },
          attributes,
        }),
      );
    }
    await defineLibrary(tx, id, language);
    const keys = ['workload-amount', 'workload-rested', 'help-most'];
    const all = await selectQuestions(tx, id);
    const questionIds = keys.map((key) => all.find((one) => one.key === key)?.id as number);
    const scheduleId = await createSchedule(
      tx,
      id,
      mondays({ groupIds: [top], questionIds, fromDay: '2026-01-05' }),
    );
    await defineKpis(tx, id, [
      { id: 'mood', name: 'Mood', imageUrl: null, questionIds: questionIds.slice(0, 2) },
    ]);
    return { id, groups: { top, a, b, c }, userIds, questionIds, scheduleId };
  });
}

export const open = ({ id }: { id: number }, breakdown: NewBreakdown) =>
  inTransaction(pool, (tx) => openBreakdown(tx, id, command, breakdown));

/** Opens the week of a company as of a time. */
export const openWeek = ({ id }: { id: number }, now = noon, on = pool) =>
  openDueRounds(on, database.keys, now, { accountId: id });

/** What the person with this number answers: a number, and an option of the choice. */
export type Answers = (i: number) => { value: number; choice: string } | undefined;

const differing: Answers = (i) => ({ value: 1 + (i % 5), choice: i % 4 === 0 ? 'time' : 'goals' });

/** Saves answers of everyone who has one. `handedOut`: those whose links the employer handed out. */
export async function answerAll(
  { id, userIds, questionIds }: Staff,
  answers: Answers = differing,
  { week = askedWeek, handedOut = [] as number[] } = {},
): Promise<void> {
  const people = userIds.map((userId) => ({ accountId: id, userId, week }));
  const links = await newLinks(pool, people);
  for (const i of handedOut) links[i] = (await newLinks(pool, [people[i]!], { by: null }))[0] as string;
  for (const [i, link] of links.entries()) {
    const given = answers(i);
    if (!given) continue;
    const [one, two, three] = questionIds as [number, number, number];
    await saveAnswers(pool, database.keys, { link, visit: 'a browser' }, [
      { questionId: one, value: given.value },
      { questionId: two, value: given.value },
      { questionId: three, value: given.choice },
    ]);
  }
}

export const close = ({ id }: { id: number }, week = askedWeek, of = pool) =>
  inTransaction(of, (tx) => closeWeek(tx, database.keys, id, week));

export type Row = {
  groupId: number;
  questionId: number;
  value: number | null;
  answers: number | null;
  distribution: string | null;
  handedOut: boolean;
};

/** Returns the published results, of groups or of segments. */
export async function resultsOf(
  { id }: { id: number },
  of: 'groups' | 'segments',
  week = askedWeek,
): Promise<Row[]> {
  const ids = await idsOf(pool, id, of);
  return [
    ...(await pool<Row[]>`
      select group_id as "groupId", question_id as "questionId", value, answers, distribution, handed_out as "handedOut"
      from   results
      where  account_id = ${id} and week = ${week} and group_id = any(${ids})
      order  by 1, 2`),
  ];
}

export const idsOf = async (db: Db, id: number, of: 'groups' | 'segments'): Promise<number[]> =>
  of === 'segments'
    ? (await selectSegments(db, id)).map((one) => one.id)
    : (await db<{ id: number }[]>`select group_id as id from groups where account_id = ${id}`).map(
        (row) => row.id,
      );

/** Returns the results of a question by the value of the segment. */
export async function byValue(
  acme: Staff,
  question: number,
  week = askedWeek,
): Promise<Record<string, Omit<Row, 'groupId' | 'questionId'>>> {
  const names = new Map((await selectSegments(pool, acme.id)).map(({ id, value }) => [id, value]));
  const rows = (await resultsOf(acme, 'segments', week)).filter(
    ({ questionId }) => questionId === acme.questionIds[question],
  );
  return Object.fromEntries(
    rows.map(({ groupId, value, answers, distribution, handedOut }) => [
      names.get(groupId),
      { value, answers, distribution, handedOut },
    ]),
  );
}
