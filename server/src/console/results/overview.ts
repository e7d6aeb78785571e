// The overview of a group: its KPIs and response rate over several weeks, and the results of its last week.
import type { GroupResults, ResultsStart } from '@soundings/contract/console/results.ts';
import type { Pool } from '../../db/db.ts';
import {
  type CommentFilter,
  selectCommentPage,
  type KpiWords,
  selectValuedKpis,
  kpiValuesShown,
  ratesShown,
  resultsShown,
  type ShownQuestion,
  type WeekValue,
  type Window,
} from '../../results/data/results-shown.ts';
import { kpiNameIn } from '../../questions/questions.ts';
import type { Who } from '../core/console.ts';
import {
  commentOf,
  figuresOf,
  headOf,
  questionHead,
  readFirstGroup,
  readGroup,
  readWeeks,
  withPeople,
} from './reading.ts';
import { type Weeks, windowOfWeeks } from './weeks.ts';

/** Returns what every results page needs first. */
export async function readStart(pool: Pool, who: Who, language: string): Promise<ResultsStart> {
  const [weeks, groups, kpis] = await Promise.all([
    readWeeks(pool, who),
    readFirstGroup(pool, who),
    selectValuedKpis(pool, who.accountId),
  ]);
  return {
    weeks: weeks.shown,
    running: weeks.running,
    kpis: kpis.map((kpi) => ({ id: kpi.id, name: kpiNameIn(kpi, language) })),
    group: groups.first ? headOf(groups.first) : null,
    groups: groups.open,
  };
}

type Wanted = { groupId: string; weeks: number; language: string };

/** Returns the overview of a group. Throws a Fault if the caller may not see the group. */
export async function readOverview(pool: Pool, who: Who, wanted: Wanted): Promise<GroupResults> {
  const { accountId } = who;
  const { groups, group, company, weeks, questions } = await readGroup(pool, who, wanted);
  const axis = weeks.span(wanted.weeks);
  const window = windowOfWeeks(axis);
  const about = {
    path: groups.above(group.id),
    company: company && headOf(company),
    weeks: axis,
    running: weeks.running,
  };
  const people = withPeople(pool, who, groups, group);
  const nothing = { kpis: [], rates: [], last: null, comments: { total: 0, newest: [] } };
  if (!window) return { group: await people, ...about, ...nothing };
  const [counted, kpis, rates, last, comments] = await Promise.all([
    people,
    readKpis(pool, who, { groupId: group.id, companyId: company?.id, language: wanted.language }, window),
    ratesShown(pool, accountId, group.id, window),
    readLast(pool, who, group.id, { window, weeks, questions, language: wanted.language }),
    selectCommentPage(pool, accountId, group.id, commentsOf(window), { offset: 0, limit: 4 }),
  ]);
  return {
    group: counted,
    ...about,
    kpis,
    rates,
    last,
    comments: {
      total: comments.total,
      newest: comments.rows.map((row) => commentOf(row, questions)),
    },
  };
}

const commentsOf = (window: Window): CommentFilter => ({ window, questionIds: undefined, search: undefined });

/** Returns the KPIs that the group was asked, with the company's value in the week of the last value shown. */
async function readKpis(
  pool: Pool,
  { accountId }: Who,
  { groupId, companyId, language }: { groupId: number; companyId: number | undefined; language: string },
  window: Window,
): Promise<GroupResults['kpis']> {
  const valuesOf = (group: number, { id }: KpiWords) => kpiValuesShown(pool, accountId, group, id, window);
  const read = async (kpi: KpiWords) => {
    const [values, above] = await Promise.all([
      valuesOf(groupId, kpi),
      companyId === undefined ? [] : valuesOf(companyId, kpi),
    ]);
    const last = lastShown(values);
    const company = above.find(({ week }) => week === last?.week) ?? null;
    return { id: kpi.id, name: kpiNameIn(kpi, language), values, company };
  };
  const kpis = await Promise.all((await selectValuedKpis(pool, accountId)).map(read));
  return kpis.filter(({ values }) => values.length > 0);
}

const lastShown = (values: WeekValue[]) => values.findLast(({ value }) => value !== null);

/** Returns the results of the last week that asked the group anything; null if there is none. */
async function readLast(
  pool: Pool,
  { accountId }: Who,
  groupId: number,
  {
    window,
    weeks,
    questions,
    language,
  }: { window: Window; weeks: Weeks; questions: ReadonlyMap<number, ShownQuestion>; language: string },
): Promise<GroupResults['last']> {
  const results = await resultsShown(pool, accountId, groupId, window, questions);
  const last = results.reduce((latest, { week }) => (week > latest ? week : latest), '');
  if (last === '') return null;
  return {
    week: weeks.named(last),
    questions: results
      .filter(({ week }) => week === last)
      .map((result) => {
        const question = questions.get(result.questionId) as ShownQuestion;
        return { ...questionHead(question, language), ...figuresOf(question, result) };
      }),
  };
}
