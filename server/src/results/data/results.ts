// Builds the responses of the data interface (§4.1), from published figures only. Large responses are streamed while their rows
// are read, so that they take no more memory than small ones. Responses for a single group need a single statement.
import { dayIn, fourDigits, type Week } from '@soundings/contract/weeks.ts';
import type { Kind } from '@soundings/contract/data.ts';
import type { Numbers } from '@soundings/contract/operation.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fault } from '../../base/errors.ts';
import { quote } from '../../base/text.ts';
import type { AccountId, Db } from '../../db/db.ts';
import type { Reading } from '../../db/replica/reads.ts';
import { StreamedResponse } from '../../http/responses/responses.ts';
import { groupNotFound } from '../../people/faults.ts';
import { selectQuestions } from '../../questions/questions.sql.ts';
import { kpiNotFound } from '../../questions/questions.ts';
import { segmentNotFound } from '../../rounds/segments/breakdowns.ts';
import { type CommentRow, selectComments } from './comments.sql.ts';
import {
  type AskedRow,
  type KpiHead,
  type ResultRow,
  type GroupScope,
  selectAskedOfGroups,
  selectGroupIdOf,
  selectKpi,
  selectKpiValues,
  selectRates,
  selectResults,
  selectScope,
  type ValueRow,
} from './results.sql.ts';
import {
  selectGroupAsked,
  selectGroupKpiValues,
  selectGroupRates,
  selectGroupResults,
} from './single-group.sql.ts';
import {
  answerData,
  grouped,
  type Leaf,
  nested,
  questionList,
  valueList,
  translatedQuestion,
  type TranslatedQuestion,
} from './shape.ts';
import { lastWeeks, type Window } from './window.ts';

/** The account that reads, its number format and time zone, and its version, which changes whenever a response could change. */
export type Reader = { accountId: AccountId; numbers: Numbers; timezone: string; version: string };

/**
 * The requested groups and weeks. `kind`: what groupId must be the id of; undefined: a group or a segment. Without a window: the latest
 * values, or the last five weeks.
 */
export type ResultsQuery = {
  groupId: string;
  withSubgroups: boolean;
  kind?: Kind | undefined;
  window: Window | undefined;
  now: number;
};

/** The text of a response, complete or, if it can be long, streamed. */
export type ResponseText = string | StreamedResponse;

/** Returns the values of a KPI. Throws a Fault if the group or the KPI does not exist. */
export async function kpiValuesResponse(
  reading: Reading,
  reader: Reader,
  kpiId: string,
  query: ResultsQuery,
): Promise<ResponseText> {
  const { accountId } = reader;
  if (!query.withSubgroups) {
    const groupId = idIn(query.groupId);
    const one = { groupId, kpiId, kind: query.kind };
    const rows = await reading.once(async (db) => {
      const found = await selectGroupKpiValues(db, accountId, one, query.window);
      if (!found[0]) throw await scopeNotFound(db, accountId, query);
      return found;
    });
    const kpi = rows[0]?.kpi;
    if (!kpi) throw kpiNotFound();
    return textOf(kpiChunks(kpi, inOneBatch(valuesOf(groupId, rows)), reader));
  }
  const [scope, kpi] = await reading.once((db) =>
    Promise.all([findScope(db, accountId, query), selectKpi(db, accountId, kpiId)]),
  );
  if (!kpi) throw kpiNotFound();
  return streamedResponse(reader, query, () =>
    reading.stream((db) =>
      kpiChunks(kpi, selectKpiValues(db, accountId, scope, kpiId, query.window), reader),
    ),
  );
}

async function* kpiChunks(kpi: KpiHead, rows: AsyncIterable<ValueRow[]>, { numbers }: Reader) {
  yield `{"kpi":${JSON.stringify(kpiOf(kpi))},"values":[`;
  yield* valueList(rows, numbers);
  yield ']}';
}

export const kpiOf = ({ id, name, imageUrl }: KpiHead) => ({
  id,
  name,
  ...(imageUrl !== null && { imageURL: imageUrl }),
});

/** Returns the response rates. Throws a Fault if the group does not exist. */
export async function ratesResponse(
  reading: Reading,
  reader: Reader,
  query: ResultsQuery,
): Promise<ResponseText> {
  const { accountId } = reader;
  if (!query.withSubgroups) {
    const groupId = idIn(query.groupId);
    const rows = await reading.once(async (db) => {
      const found = await selectGroupRates(db, accountId, { groupId, kind: query.kind }, query.window);
      if (!found[0]) throw await scopeNotFound(db, accountId, query);
      return found;
    });
    return textOf(rateChunks(inOneBatch(valuesOf(groupId, rows)), reader));
  }
  const scope = await reading.once((db) => findScope(db, accountId, query));
  return streamedResponse(reader, query, () =>
    reading.stream((db) => rateChunks(selectRates(db, accountId, scope, query.window), reader)),
  );
}

async function* rateChunks(rows: AsyncIterable<ValueRow[]>, { numbers }: Reader) {
  yield '[{"values":[';
  yield* valueList(rows, numbers);
  yield ']}]';
}

/** Returns the rows of a group that have a value. */
const valuesOf = (groupId: number, rows: { week: Week | null; value: number | null }[]): ValueRow[] =>
  rows.flatMap(({ week, value }) => (week === null ? [] : [{ groupId, week, value }]));

export type ResultsWanted = {
  questionIds: number[] | undefined;
  comments: boolean;
  granular: boolean;
  language: string | undefined;
};

/** Returns the results of questions. Throws a Fault if the group does not exist. */
export async function resultsResponse(
  reading: Reading,
  reader: Reader,
  query: ResultsQuery,
  wanted: ResultsWanted,
): Promise<ResponseText> {
  const { accountId } = reader;
  const { questionIds, language, comments, granular } = wanted;
  const window = query.window ?? lastWeeks(dayIn(reader.timezone, query.now));
  if (!query.withSubgroups && !comments && !granular) {
    const one = { groupId: idIn(query.groupId), kind: query.kind, questionIds };
    const [rows, questions] = await reading.once(async (db) => {
      const [found, all] = await Promise.all([
        selectGroupResults(db, accountId, one, window),
        translatedQuestions(db, accountId, language),
      ]);
      if (!found) throw await scopeNotFound(db, accountId, query);
      return [found, all] as const;
    });
    return textOf(resultChunks(inOneBatch(rows), undefined, questions, wanted));
  }
  const [scope, questions] = await reading.once((db) =>
    Promise.all([findScope(db, accountId, query), translatedQuestions(db, accountId, language)]),
  );
  return streamedResponse(reader, query, () =>
    reading.stream((db) =>
      resultChunks(
        selectResults(db, accountId, scope, window, questionIds),
        comments ? selectComments(db, accountId, scope, window, questionIds) : undefined,
        questions,
        wanted,
      ),
    ),
  );
}

async function* resultChunks(
  results: AsyncIterable<ResultRow[]>,
  comments: AsyncIterable<CommentRow[]> | undefined,
  questions: ReadonlyMap<number, TranslatedQuestion>,
  { granular }: ResultsWanted,
) {
  const included = new Map<number, TranslatedQuestion>();
  yield '[{"values":[';
  // A row with individual answers can be as long as a group has people, so only a few are written per turn of the event loop.
  const rowsPerTurn = granular ? 20 : undefined;
  yield* nested(
    leavesOf(results, rowsPerTurn, (row) => {
      const question = questions.get(row.questionId);
      if (!question) return []; // created since this response began; the next response has it, with another version
      included.set(row.questionId, question);
      const keys = [String(row.questionId), String(row.groupId), fourDigits(row.week)];
      return [{ keys, text: answerData(question, row, granular) }];
    }),
  );
  yield ']';
  if (comments) {
    yield ',"comments":[';
    yield* nested(commentLeaves(comments));
    yield ']';
  }
  yield `,"questions":${questionList(included.values())}}]`;
}

/** Returns which questions were asked of which groups. Throws a Fault if the group does not exist. */
export async function askedQuestionsResponse(
  reading: Reading,
  reader: Reader,
  query: ResultsQuery,
  language: string | undefined,
): Promise<ResponseText> {
  const { accountId } = reader;
  const window = query.window ?? lastWeeks(dayIn(reader.timezone, query.now));
  if (!query.withSubgroups) {
    const groupId = idIn(query.groupId);
    const [rows, questions] = await reading.once(async (db) => {
      const [found, all] = await Promise.all([
        selectGroupAsked(db, accountId, groupId, window),
        translatedQuestions(db, accountId, language),
      ]);
      if (!found) throw await scopeNotFound(db, accountId, query);
      return [found, all] as const;
    });
    return textOf(askedChunks(inOneBatch(rows), questions));
  }
  const [scope, questions] = await reading.once((db) =>
    Promise.all([findScope(db, accountId, query), translatedQuestions(db, accountId, language)]),
  );
  return streamedResponse(reader, query, () =>
    reading.stream((db) => askedChunks(selectAskedOfGroups(db, accountId, scope, window), questions)),
  );
}

async function* askedChunks(
  rows: AsyncIterable<AskedRow[]>,
  questions: ReadonlyMap<number, TranslatedQuestion>,
) {
  const lists = new Set<string>(); // few different ones, as most groups are asked the same
  yield '[{"askedquestions":[';
  yield* nested(
    leavesOf(rows, undefined, ({ groupId, week, questionIds }) => {
      lists.add(questionIds);
      return [{ keys: [String(groupId), fourDigits(week)], text: `[${questionIds}]` }];
    }),
  );
  const ids = new Set([...lists].flatMap((list) => list.split(',').map(Number)));
  const known = [...ids].toSorted((a, b) => a - b).flatMap((id) => questions.get(id) ?? []);
  yield `],"questions":${questionList(known)}}]`;
}

/** Yields the leaves of rows. `rowsPerTurn`: how many rows are processed per turn of the event loop; a whole batch by default. */
async function* leavesOf<T>(
  batches: AsyncIterable<T[]>,
  rowsPerTurn: number | undefined,
  leavesOfRow: (row: T) => Leaf[],
): AsyncGenerator<Leaf[]> {
  for await (const rows of batches) {
    for (let i = 0; i < rows.length; i += rowsPerTurn ?? rows.length) {
      yield rows.slice(i, i + (rowsPerTurn ?? rows.length)).flatMap(leavesOfRow);
      // Lets other requests run in between.
      if (rowsPerTurn !== undefined) await nextTurn();
    }
  }
}

/** Yields the comments of each question, group and week as one leaf, even if they are in several batches. */
async function* commentLeaves(batches: AsyncIterable<CommentRow[]>): AsyncGenerator<Leaf[]> {
  let keys: string[] = [];
  let texts: string[] = [];
  const leaf = () => ({ keys, text: JSON.stringify(texts) });
  for await (const rows of batches) {
    const leaves: Leaf[] = [];
    for (const { questionId, groupId, week, text } of rows) {
      const next = [String(questionId), String(groupId), fourDigits(week)];
      if (texts.length > 0 && next.join() !== keys.join()) {
        leaves.push(leaf());
        texts = [];
      }
      keys = next;
      texts.push(text);
    }
    yield leaves;
  }
  if (texts.length > 0) yield [leaf()];
}

async function translatedQuestions(
  db: Db,
  accountId: AccountId,
  language: string | undefined,
): Promise<Map<number, TranslatedQuestion>> {
  const questions = await selectQuestions(db, accountId);
  return new Map(questions.map((question) => [question.id, translatedQuestion(question, language)]));
}

/** Returns the scope; all groups, or all segments, if no group is given. Throws a Fault if the group does not exist. */
export async function findScope(
  db: Db,
  accountId: AccountId,
  {
    groupId,
    withSubgroups,
    kind,
  }: Pick<ResultsQuery, 'withSubgroups' | 'kind'> & { groupId: string | undefined },
): Promise<GroupScope> {
  if (groupId === undefined) return { groupId, withSubgroups, kind };
  const scope = { groupId: idIn(groupId), withSubgroups, kind };
  const groups = await selectScope(db, accountId, { ...scope, withSubgroups: false });
  if (groups.length === 0) throw await scopeNotFound(db, accountId, { groupId, kind });
  return scope;
}

/** Returns the id of a group. If the text is not a valid id, returns 0, which no group has. */
const idIn = (groupId: string): number =>
  /^[1-9]\d{0,9}$/.test(groupId) && Number(groupId) < 2 ** 31 ? Number(groupId) : 0;

/**
 * Returns the Fault for an unknown group. The message is the same whether the group never existed, was deleted or belongs to
 * another account. If the text is the externalId of a group of this account, the message names its id.
 */
async function scopeNotFound(
  db: Db,
  accountId: AccountId,
  { groupId, kind }: Pick<ResultsQuery, 'groupId' | 'kind'>,
): Promise<Fault> {
  if (kind === 'segment') return segmentNotFound();
  const id = await selectGroupIdOf(db, accountId, groupId);
  return id === undefined
    ? groupNotFound()
    : groupNotFound(`${quote(groupId)} is the externalId of group ${id}. Use groupId=${id}.`);
}

async function* inOneBatch<T>(rows: T[]): AsyncGenerator<T[]> {
  yield rows;
}

async function textOf(chunks: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += chunk;
  return text;
}

export const streamedResponse = (
  reader: Reader,
  query: Pick<ResultsQuery, 'window' | 'now'>,
  chunksOf: () => AsyncIterable<string>,
) => new StreamedResponse(tagOf(reader, query), () => grouped(chunksOf()));

/** Returns the ETag. It changes with every write to the account and, if the requested weeks depend on the date, every week. */
function tagOf(
  { version, timezone, numbers }: Reader,
  { window, now }: Pick<ResultsQuery, 'window' | 'now'>,
): string {
  const tag = numbers === 'plain' ? version : `${version}-${numbers}`;
  return window ? tag : `${tag}-${lastWeeks(dayIn(timezone, now)).last}`;
}
