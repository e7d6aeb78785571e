// What is stored of closed weeks: the entries of results, KPI values, response rates and asked questions, which fragments and packs are built from.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';
import { selectKpis, selectQuestions } from '../../questions/questions.sql.ts';
import {
  type GroupScope,
  selectAskedOfGroups,
  selectKpiValues,
  selectRates,
  selectResults,
} from '../data/results.sql.ts';
import type { Window } from '../data/window.ts';
import { entryOfAsked, entryOfResult, entryOfValue } from './entries.ts';
import type { FrameEntry } from './frames.ts';
import { fragmentKinds } from './fragments.sql.ts';

/** What a week has of a group or segment, and of a question; 0 if the figure is not about a question. */
export type StoredEntry = { questionId: number; groupId: number; entry: FrameEntry };

type Row = { questionId?: number; groupId: number; week: Week };

/** One kind of figures, of one KPI if it is about KPIs. */
export type StoredList = {
  kind: number;
  kpiId: string;
  /** Yields the entries of the rows that are wanted, ordered by question, group and week. */
  read(groups: 'group' | 'segment', isWanted: (row: Row) => boolean): AsyncGenerator<StoredEntry[]>;
};

/** Returns all lists of an account in a window of weeks. */
export async function storedLists(db: Db, accountId: AccountId, window: Window): Promise<StoredList[]> {
  const [questions, kpis] = await Promise.all([selectQuestions(db, accountId), selectKpis(db, accountId)]);
  const types = new Map(questions.map(({ id, type }) => [id, type]));
  return [
    listOf(
      { kind: fragmentKinds.results, kpiId: '' },
      (scope) => selectResults(db, accountId, scope, window, undefined),
      (row) => entryOfResult(types.get(row.questionId), row),
    ),
    ...kpis.map(({ id }) =>
      listOf(
        { kind: fragmentKinds.kpiValues, kpiId: id },
        (scope) => selectKpiValues(db, accountId, scope, id, window),
        entryOfValue,
      ),
    ),
    listOf(
      { kind: fragmentKinds.rates, kpiId: '' },
      (scope) => selectRates(db, accountId, scope, window),
      entryOfValue,
    ),
    listOf(
      { kind: fragmentKinds.asked, kpiId: '' },
      (scope) => selectAskedOfGroups(db, accountId, scope, window),
      entryOfAsked,
    ),
  ];
}

const listOf = <T extends Row>(
  about: Pick<StoredList, 'kind' | 'kpiId'>,
  rowsOf: (scope: GroupScope) => AsyncIterable<T[]>,
  entryOf: (row: T) => FrameEntry,
): StoredList => ({
  ...about,
  async *read(groups, isWanted) {
    for await (const rows of rowsOf({ groupId: undefined, withSubgroups: true, kind: groups }))
      yield rows.filter(isWanted).map((row) => {
        const { questionId = 0, groupId } = row;
        return { questionId, groupId, entry: entryOf(row) };
      });
  },
});
