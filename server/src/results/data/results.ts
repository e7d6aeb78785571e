// Builds the responses of the data interface (§4.1), from published figures only. Large responses are streamed while they are read, from
// fragments or rows, so that they take no more memory than small ones. Responses for a single group need a single statement.
import { addWeeks, dayIn, fourDigits, type Week } from '@soundings/contract/weeks.ts';
import type { Db } from '../../db/db.ts';
import type { Reading } from '../../db/replica/reads.ts';
import type { StreamedResponse } from '../../http/responses/responses.ts';
import { kpiNotFound } from '../../questions/questions.ts';
import { type WantedFigures, fragmentKinds, hasVersion } from '../fragments/fragments.sql.ts';
import {
  askedFromFragments,
  type ResponseChunks,
  type FramesWanted,
  preferFragments,
  resultsFromFragments,
  textFromFragments,
  valuesFromFragments,
} from '../fragments/read-fragments.ts';
import { askedFromPacks, resultsFromPacks, valuesFromPacks } from '../fragments/read-packs.ts';
import { type CommentRow, selectComments } from './comments.sql.ts';
import {
  findScope,
  groupIdIn,
  inOneBatch,
  leavesOf,
  type Reader,
  type ResponseText,
  type ResultsQuery,
  scopeNotFound,
  streamedInOneState,
  wholeText,
  translatedQuestions,
  withQuestions,
} from '../responses/response-parts.ts';
import {
  type AskedRow,
  type GroupScope,
  type KpiHead,
  type ResultRow,
  selectAskedOfGroups,
  selectKpiValues,
  selectRates,
  selectResults,
  type ValueRow,
} from './results.sql.ts';
import {
  selectGroupAsked,
  selectGroupKpiValues,
  selectGroupRates,
  selectGroupResults,
} from './single-group.sql.ts';
import { answerData, type Leaf, nested, questionList, type TranslatedQuestion, valueList } from './shape.ts';
import { lastWeeks, type Window } from './window.ts';

/** Whether weeks are read from fragments. A fragment has up to 52, so fewer weeks are read faster from rows. */
const isLong = ({ first, last }: Window): boolean => addWeeks(first, 12) <= last;

type Stored = Record<'packs' | 'fragments', () => ResponseChunks>;

/** Returns the sources of the figures of many groups, in order of preference. */
const storedFor = (window: Window, { packs, fragments }: Stored): (() => ResponseChunks)[] =>
  isLong(window) ? [packs, fragments] : [packs];

/** Returns the values of a KPI. Throws a Fault if the group or the KPI does not exist. */
export async function kpiValuesResponse(
  reading: Reading,
  reader: Reader,
  kpiId: string,
  query: ResultsQuery,
): Promise<ResponseText> {
  const { accountId } = reader;
  if (!query.withSubgroups) {
    const isPlain = reader.numbers === 'plain';
    const text = await ofOneGroup(reading, reader, query, async (db, wanted) => {
      const kpi = isPlain && (await reader.names.kpi(db, reader, kpiId));
      return kpi
        ? kpiChunks(kpi, valuesFromFragments(db, wanted, { kind: fragmentKinds.kpiValues, kpiId }))
        : undefined;
    });
    if (text !== undefined) return text;
    const groupId = groupIdIn(query.groupId);
    const one = { groupId, kpiId, kind: query.kind };
    const rows = await reading.once(async (db) => {
      const found = await selectGroupKpiValues(db, accountId, one, query.window);
      if (!found[0]) throw await scopeNotFound(db, accountId, query);
      return found;
    });
    const kpi = rows[0]?.kpi;
    if (!kpi) throw kpiNotFound();
    return wholeText(kpiChunks(kpi, valueList(inOneBatch(valuesOf(groupId, rows)), reader.numbers)));
  }
  return streamedValues(reading, reader, query, {
    figures: { kind: fragmentKinds.kpiValues, kpiId },
    rowsOf: (db, scope) => selectKpiValues(db, accountId, scope, kpiId, query.window),
    about: async (db, at) => {
      const kpi = await at.names.kpi(db, at, kpiId);
      if (!kpi) throw kpiNotFound();
      return kpi;
    },
    around: kpiChunks,
  });
}

async function* kpiChunks(kpi: KpiHead, values: ResponseChunks) {
  yield `{"kpi":${JSON.stringify(kpiOf(kpi))},"values":[`;
  yield* values;
  yield ']}';
}

/**
 * Returns a response about a single group from fragments. Undefined if it has to be read from rows. `chunksOf`: writes it, or returns undefined
 * if it can't.
 */
async function ofOneGroup(
  reading: Reading,
  reader: Reader,
  { groupId, kind, window }: ResultsQuery,
  chunksOf: (db: Db, wanted: FramesWanted) => Promise<ResponseChunks | undefined>,
): Promise<string | undefined> {
  if (!window || !isLong(window)) return undefined;
  const scope = { groupId: groupIdIn(groupId), withSubgroups: false, kind };
  return reading.once(async (db) => {
    const chunks = await chunksOf(db, { accountId: reader.accountId, scope, window });
    const text = chunks && (await textFromFragments(reader, chunks));
    // In another version, its names could be older than its figures.
    return text && (await hasVersion(db, reader.accountId, reader.version)) ? text : undefined;
  });
}

/**
 * Streams values, from fragments if they have them. `about`: reads what `around` needs for the rest of the response. Throws a Fault if the
 * group does not exist.
 */
function streamedValues<About>(
  reading: Reading,
  reader: Reader,
  query: ResultsQuery,
  {
    figures,
    rowsOf,
    about,
    around,
  }: {
    figures: WantedFigures;
    rowsOf: (db: Db, scope: GroupScope) => AsyncIterable<ValueRow[]>;
    about: (db: Db, reader: Reader) => Promise<About>;
    around: (about: About, values: ResponseChunks) => ResponseChunks;
  },
): StreamedResponse {
  const { accountId, numbers } = reader;
  const { window } = query;
  const read = async (db: Db, at: Reader) => {
    const scope = await findScope(db, accountId, query);
    return { scope, found: await about(db, at) }; // mostly known already
  };
  return streamedInOneState(reading, reader, query, read, ({ scope, found }, rows, db) => {
    const fromRows = () => around(found, valueList(rowsOf(rows, scope), numbers));
    // Fragments have plain numbers, and can't be searched for the latest value.
    if (!window || numbers !== 'plain') return fromRows();
    const wanted = { accountId, scope, window };
    const packs = () => around(found, valuesFromPacks(rows, wanted, figures));
    const fragments = () => around(found, valuesFromFragments(rows, wanted, figures));
    const stored = storedFor(window, { packs, fragments });
    return preferFragments(db, reader, { stored, rows: fromRows });
  });
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
    const isPlain = reader.numbers === 'plain';
    const text = await ofOneGroup(reading, reader, query, async (db, wanted) =>
      isPlain ? rateChunks(valuesFromFragments(db, wanted, { kind: fragmentKinds.rates })) : undefined,
    );
    if (text !== undefined) return text;
    const groupId = groupIdIn(query.groupId);
    const rows = await reading.once(async (db) => {
      const found = await selectGroupRates(db, accountId, { groupId, kind: query.kind }, query.window);
      if (!found[0]) throw await scopeNotFound(db, accountId, query);
      return found;
    });
    return wholeText(rateChunks(valueList(inOneBatch(valuesOf(groupId, rows)), reader.numbers)));
  }
  return streamedValues(reading, reader, query, {
    figures: { kind: fragmentKinds.rates },
    rowsOf: (db, scope) => selectRates(db, accountId, scope, query.window),
    about: async () => undefined,
    around: (_, values) => rateChunks(values),
  });
}

async function* rateChunks(values: ResponseChunks) {
  yield '[{"values":[';
  yield* values;
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
    const text = await ofOneGroup(reading, reader, { ...query, window }, async (db, frames) => {
      const questions = await translatedQuestions(db, reader, language);
      const values: WriteValues = (included) =>
        resultsFromFragments(db, { ...frames, questionIds }, questions, included);
      return resultChunks(values, undefined);
    });
    if (text !== undefined) return text;
    const one = { groupId: groupIdIn(query.groupId), kind: query.kind, questionIds };
    const { rows, questions } = await reading.once(async (db) => {
      const read = () => selectGroupResults(db, accountId, one, window);
      const found = await withQuestions(db, reader, language, read);
      if (!found) throw await scopeNotFound(db, accountId, query);
      return found;
    });
    const values = valuesOfRows(inOneBatch(rows), questions, wanted);
    return wholeText(resultChunks(values, undefined));
  }
  const read = readScopeAndQuestions(query, language);
  return streamedInOneState(reading, reader, query, read, ([scope, questions], rows, db) => {
    const more = () => (comments ? selectComments(rows, accountId, scope, window, questionIds) : undefined);
    const results = () => selectResults(rows, accountId, scope, window, questionIds);
    const fromRows = () => resultChunks(valuesOfRows(results(), questions, wanted), more());
    if (granular) return fromRows();
    const from = (write: typeof resultsFromFragments) => () =>
      resultChunks(
        (included) => write(rows, { accountId, scope, window, questionIds }, questions, included),
        more(),
      );
    const stored = { packs: from(resultsFromPacks), fragments: from(resultsFromFragments) };
    return preferFragments(db, reader, { stored: storedFor(window, stored), rows: fromRows });
  });
}

type ScopeAndQuestions = [scope: GroupScope, questions: ReadonlyMap<number, TranslatedQuestion>];

/** Returns a function that reads the scope and the questions. It throws a Fault if the group does not exist. */
const readScopeAndQuestions =
  (query: ResultsQuery, language: string | undefined) =>
  (db: Db, at: Reader): Promise<ScopeAndQuestions> =>
    Promise.all([findScope(db, at.accountId, query), translatedQuestions(db, at, language)]);

/** Writes results as a JSON object, and adds their questions to `included`. */
type WriteValues = (included: Map<number, TranslatedQuestion>) => ResponseChunks;

const valuesOfRows =
  (
    results: AsyncIterable<ResultRow[]>,
    questions: ReadonlyMap<number, TranslatedQuestion>,
    { granular }: ResultsWanted,
  ): WriteValues =>
  (included) => {
    // A row with individual answers can be as long as a group has people, so only a few are written per turn of the event loop.
    const rowsPerTurn = granular ? 20 : undefined;
    return nested(
      leavesOf(results, rowsPerTurn, (row) => {
        const question = questions.get(row.questionId);
        if (!question) return [];
        included.set(row.questionId, question);
        const keys = [String(row.questionId), String(row.groupId), fourDigits(row.week)];
        return [{ keys, text: answerData(question, row, granular) }];
      }),
    );
  };

async function* resultChunks(values: WriteValues, comments: AsyncIterable<CommentRow[]> | undefined) {
  const included = new Map<number, TranslatedQuestion>();
  yield '[{"values":[';
  yield* values(included);
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
    const ofGroup = { ...query, window, kind: 'group' as const }; // no questions are asked of segments
    const text = await ofOneGroup(reading, reader, ofGroup, async (db, wanted) => {
      const questions = await translatedQuestions(db, reader, language);
      return askedChunks((lists) => askedFromFragments(db, wanted, lists), questions);
    });
    if (text !== undefined) return text;
    const groupId = groupIdIn(query.groupId);
    const { rows, questions } = await reading.once(async (db) => {
      const read = () => selectGroupAsked(db, accountId, groupId, window);
      const found = await withQuestions(db, reader, language, read);
      if (!found) throw await scopeNotFound(db, accountId, query);
      return found;
    });
    return wholeText(askedChunks(askedOfRows(inOneBatch(rows)), questions));
  }
  const read = readScopeAndQuestions(query, language);
  return streamedInOneState(reading, reader, query, read, ([scope, questions], rows, db) => {
    const wanted = { accountId, scope, window };
    const fromRows = () =>
      askedChunks(askedOfRows(selectAskedOfGroups(rows, accountId, scope, window)), questions);
    const from = (write: typeof askedFromFragments) => () =>
      askedChunks((lists) => write(rows, wanted, lists), questions);
    const stored = { packs: from(askedFromPacks), fragments: from(askedFromFragments) };
    return preferFragments(db, reader, { stored: storedFor(window, stored), rows: fromRows });
  });
}

/** Writes asked questions as a JSON object, and adds the lists of their ids to `lists`. */
type WriteAsked = (lists: Set<string>) => ResponseChunks;

const askedOfRows =
  (rows: AsyncIterable<AskedRow[]>): WriteAsked =>
  (lists) =>
    nested(
      leavesOf(rows, undefined, ({ groupId, week, questionIds }) => {
        lists.add(questionIds);
        return [{ keys: [String(groupId), fourDigits(week)], text: `[${questionIds}]` }];
      }),
    );

async function* askedChunks(write: WriteAsked, questions: ReadonlyMap<number, TranslatedQuestion>) {
  const lists = new Set<string>(); // few different ones, as most groups are asked the same
  yield '[{"askedquestions":[';
  yield* write(lists);
  const ids = new Set([...lists].flatMap((list) => list.split(',').map(Number)));
  const known = [...ids].toSorted((a, b) => a - b).flatMap((id) => questions.get(id) ?? []);
  yield `],"questions":${questionList(known)}}]`;
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
