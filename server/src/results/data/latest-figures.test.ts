// The latest figures are the same as if all weeks were read: also of groups whose figure is withheld in the last week, of questions that
// were last asked earlier, and not of weeks that are shown before they close.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apply, unit } from '../../testing/organizations.ts';
import { answerLine, importLines, question, round } from '../../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';
import { latestFigures, rollingValues } from './latest-figures.ts';

const window = { first: '2026-10-26', last: '2026-11-09' };
/** How many people of each group answer in each week. Fewer than five: the figure is withheld. */
const answering: Record<string, number[]> = {
  steady: [6, 6, 6],
  late: [0, 6, 7],
  early: [6, 2, 0],
  silent: [1, 2, 3],
};
/** What is asked in each week. */
const asked = [['pace', 'proud'], ['pace', 'proud'], ['pace']];

let world: World;
let account: TestAccount;
beforeAll(async () => {
  world = await openWorld();
  account = await world.account();
  const names = Object.keys(answering);
  await apply(account, {
    groups: [unit('company'), ...names.map((name) => unit(name, { parent: 'company' }))],
  });
  const people = names.flatMap((group) =>
    Array.from({ length: 8 }, (_, i) => ({ id: `${group}-${i}`, group, i })),
  );
  await importLines(world, account.id, [
    question('pace', 1),
    question('proud', 1),
    ...['2026-W44', '2026-W45', '2026-W46'].flatMap((week, w) => [
      round(week, 'company', asked[w]!, Object.fromEntries(people.map(({ id, group }) => [id, [group]]))),
      ...people
        .filter(({ group, i }) => i < answering[group]![w]!)
        .flatMap(({ id, i }) =>
          asked[w]!.map((key) => answerLine(week, 'company', id, key, 1 + ((i + w) % 5))),
        ),
    ]),
  ]);
});
afterAll(() => world?.close());

type Row = {
  groupId: number;
  questionId: number;
  week: string;
  value: number | null;
  answers: number | null;
};

/** Returns the latest figures by group, from all figures of closed weeks. */
async function expected() {
  const rows = await world.pool<Row[]>`
    select r.group_id as "groupId", r.question_id as "questionId", r.week, r.value, r.answers
    from   results r
    join   weeks w using (account_id, week)
    where  r.account_id = ${account.id} and w.closed_at is not null
    order  by r.group_id, r.question_id, r.week`;
  const latest = new Map<number, Map<number, Row>>();
  for (const row of rows.filter(({ value }) => value !== null)) {
    const own = latest.get(row.groupId) ?? new Map<number, Row>();
    latest.set(row.groupId, own.set(row.questionId, row));
  }
  return [...latest].map(([groupId, own]) => ({
    groupId,
    figures: [...own.values()].map(({ questionId, value, answers }) => [questionId, value, answers]),
    weeks: [...new Set([...own.values()].map(({ week }) => week))].toSorted(),
  }));
}

async function read() {
  const questions = await world.pool<{ id: number }[]>`
    select question_id as id from questions where account_id = ${account.id} order by 1`;
  const ids = questions.map(({ id }) => id);
  const found = await latestFigures(world.pool, account.id, ids, window);
  return found.map(({ groupId, figures, weeks }) => ({
    groupId,
    figures: JSON.parse(figures) as unknown,
    weeks: weeks.split(',').toSorted(),
  }));
}

test('the latest figures are those of the last week in which they are shown', async () => {
  const all = await expected();
  // The company, and the three groups with a figure. One of them has its last one in the first week.
  expect(all.length).toBe(4);
  expect(all.some(({ weeks }) => weeks.includes(window.first))).toBe(true);
  expect(await read()).toEqual(all);
});

test('the rolling values for sorting are the means of these figures, also if a question was not asked of all groups', async () => {
  const groups = await world.pool<{ id: number }[]>`
    select group_id as id from groups where account_id = ${account.id}`;
  const asking = await world.pool<{ id: number; weeks: string[] }[]>`
    select q.id, array_agg(r.week::text order by r.week) as weeks
    from   rounds r, unnest(r.question_ids) as q(id) where r.account_id = ${account.id} group by q.id`;
  const values = async () =>
    rollingValues(
      world.pool,
      account.id,
      groups.map(({ id }) => id),
      new Map(asking.map(({ id, weeks }) => [id, weeks])),
    );
  const averages = async () => {
    const all = await expected();
    return new Map(
      all.map(({ groupId, figures }) => {
        const sum = figures.reduce((total, [, value]) => total + (value as number), 0);
        return [groupId, expect.closeTo(sum / figures.length, 8)];
      }),
    );
  };
  const before = await averages();
  expect(before.size).toBe(4);
  expect(await values()).toEqual(before);
  // Another question, which only the company was asked in the last week.
  await world.pool`
    insert into results (account_id, group_id, week, question_id, value, answers)
    select account_id, group_id, ${window.last}, (select max(id) from unnest(${asking.map(({ id }) => id)}::integer[]) as id), 0.9, 7
    from   groups where account_id = ${account.id} and external_id = 'company'
    on conflict do nothing`;
  for (const one of asking) if (!one.weeks.includes(window.last)) one.weeks.push(window.last);
  const after = await averages();
  expect(after).not.toEqual(before);
  expect(await values()).toEqual(after);
});

test('a week that is shown before it closes does not count', async () => {
  await world.pool`
    update weeks set shown_at = now(), closed_at = null where account_id = ${account.id} and week = ${window.last}`;
  expect(await read()).toEqual(await expected());
});
