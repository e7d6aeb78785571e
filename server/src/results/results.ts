// What the data interface tells (§4.1): of published figures only, as text that is made while it is read, so that the
// largest answers take no more memory than the smallest. One group alone is told by a single statement, at once.
import type { Numbers } from '@soundings/contract/operation.ts';
import { dayIn, type Week } from '@soundings/contract/weeks.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { LongAnswer } from '../http/answers.ts';
import { questionsOf } from '../questions/questions.ts';
import {
  type AskedRow,
  type CommentRow,
  type KpiHead,
  type ResultRow,
  type Scope,
  selectAsked,
  selectComments,
  selectGroupAsked,
  selectGroupIdOf,
  selectGroupKpiValues,
  selectGroupRates,
  selectGroupResults,
  selectKpi,
  selectKpiValues,
  selectRates,
  selectResults,
  selectScope,
  type ValueRow,
} from './results.sql.ts';
import {
  answerData,
  gathered,
  type Leaf,
  nested,
  questionList,
  valueList,
  weekKey,
  worded,
  type WordedQuestion,
} from './shape.ts';
import { lastWeeks, type Window } from './window.ts';

/** Who reads, how numbers are written, the account's time zone, and its version, which is raised by whatever changes an answer. */
export type Reader = { accountId: AccountId; numbers: Numbers; timezone: string; version: string };

/** Connections for short statements, and those for answers that are read for long. */
export type Pools = { pool: Pool; reads: Pool };

/** Which groups and weeks are asked for. Without a window: the latest values, or the last five weeks. */
export type Asked = { groupId: string; beneath: boolean; window: Window | undefined; now: number };

/** The text of an answer: all of it, or, where it may be long, piece by piece. */
export type Told = string | LongAnswer;

/** The values of a KPI. Throws a Fault when the account has no such group or KPI. */
export async function tellKpiValues(
  { pool, reads }: Pools,
  reader: Reader,
  kpiId: string,
  asked: Asked,
): Promise<Told> {
  const { accountId } = reader;
  if (!asked.beneath) {
    const groupId = idIn(asked.groupId);
    const rows = await selectGroupKpiValues(pool, accountId, groupId, kpiId, asked.window);
    if (!rows[0]) throw await groupNotFound(pool, accountId, asked.groupId);
    if (!rows[0].kpi) throw kpiNotFound();
    return textOf(kpiPieces(rows[0].kpi, inOneBatch(valuesOf(groupId, rows)), reader));
  }
  const [scope, kpi] = await Promise.all([
    findScope(pool, accountId, asked),
    selectKpi(pool, accountId, kpiId),
  ]);
  if (!kpi) throw kpiNotFound();
  return longAnswer(reader, asked, () =>
    kpiPieces(kpi, selectKpiValues(reads, accountId, scope, kpiId, asked.window), reader),
  );
}

async function* kpiPieces(kpi: KpiHead, rows: AsyncIterable<ValueRow[]>, { numbers }: Reader) {
  yield `{"kpi":${JSON.stringify(kpiOf(kpi))},"values":[`;
  yield* valueList(rows, numbers);
  yield ']}';
}

export const kpiOf = ({ id, name, imageUrl }: KpiHead) => ({
  id,
  name,
  ...(imageUrl !== null && { imageURL: imageUrl }),
});

/** The response rates. Throws a Fault when the account has no such group. */
export async function tellRates({ pool, reads }: Pools, reader: Reader, asked: Asked): Promise<Told> {
  const { accountId } = reader;
  if (!asked.beneath) {
    const groupId = idIn(asked.groupId);
    const rows = await selectGroupRates(pool, accountId, groupId, asked.window);
    if (!rows[0]) throw await groupNotFound(pool, accountId, asked.groupId);
    return textOf(ratePieces(inOneBatch(valuesOf(groupId, rows)), reader));
  }
  const scope = await findScope(pool, accountId, asked);
  return longAnswer(reader, asked, () =>
    ratePieces(selectRates(reads, accountId, scope, asked.window), reader),
  );
}

async function* ratePieces(rows: AsyncIterable<ValueRow[]>, { numbers }: Reader) {
  yield '[{"values":[';
  yield* valueList(rows, numbers);
  yield ']}]';
}

/** The rows of a group that has values. */
const valuesOf = (groupId: number, rows: { week: Week | null; value: number | null }[]): ValueRow[] =>
  rows.flatMap(({ week, value }) => (week === null ? [] : [{ groupId, week, value }]));

export type ResultsWanted = {
  questionIds: number[] | undefined;
  comments: boolean;
  granular: boolean;
  language: string | undefined;
};

/** The results of questions. Throws a Fault when the account has no such group. */
export async function tellResults(
  { pool, reads }: Pools,
  reader: Reader,
  asked: Asked,
  wanted: ResultsWanted,
): Promise<Told> {
  const { accountId } = reader;
  const { questionIds, language, comments, granular } = wanted;
  const window = asked.window ?? lastWeeks(dayIn(reader.timezone, asked.now));
  if (!asked.beneath && !comments && !granular) {
    const [rows, words] = await Promise.all([
      selectGroupResults(pool, accountId, idIn(asked.groupId), window, questionIds),
      wordedQuestions(pool, accountId, language),
    ]);
    if (!rows) throw await groupNotFound(pool, accountId, asked.groupId);
    return textOf(resultPieces(inOneBatch(rows), undefined, words, wanted));
  }
  const [scope, questions] = await Promise.all([
    findScope(pool, accountId, asked),
    wordedQuestions(pool, accountId, language),
  ]);
  return longAnswer(reader, asked, () =>
    resultPieces(
      selectResults(reads, accountId, scope, window, questionIds),
      comments ? selectComments(reads, accountId, scope, window, questionIds) : undefined,
      questions,
      wanted,
    ),
  );
}

async function* resultPieces(
  results: AsyncIterable<ResultRow[]>,
  comments: AsyncIterable<CommentRow[]> | undefined,
  questions: ReadonlyMap<number, WordedQuestion>,
  { granular }: ResultsWanted,
) {
  const met = new Map<number, WordedQuestion>();
  yield '[{"values":[';
  // With single answers a row may be as long as many people: not too many are written in one turn.
  const atOnce = granular ? 20 : undefined;
  yield* nested(
    leavesOf(results, atOnce, (row) => {
      const question = questions.get(row.questionId);
      if (!question) return []; // new since we began: the next answer has it, under another version
      met.set(row.questionId, question);
      const keys = [String(row.questionId), String(row.groupId), weekKey(row.week)];
      return [{ keys, text: answerData(question, row, granular) }];
    }),
  );
  yield ']';
  if (comments) {
    yield ',"comments":[';
    yield* nested(commentLeaves(comments));
    yield ']';
  }
  yield `,"questions":${questionList(met.values())}}]`;
}

/** Which questions were asked of which groups. Throws a Fault when the account has no such group. */
export async function tellAsked(
  { pool, reads }: Pools,
  reader: Reader,
  asked: Asked,
  language: string | undefined,
): Promise<Told> {
  const { accountId } = reader;
  const window = asked.window ?? lastWeeks(dayIn(reader.timezone, asked.now));
  const words = wordedQuestions(pool, accountId, language);
  if (!asked.beneath) {
    const groupId = idIn(asked.groupId);
    const [rows, questions] = await Promise.all([selectGroupAsked(pool, accountId, groupId, window), words]);
    if (!rows) throw await groupNotFound(pool, accountId, asked.groupId);
    return textOf(askedPieces(inOneBatch(rows), questions));
  }
  const [scope, questions] = await Promise.all([findScope(pool, accountId, asked), words]);
  return longAnswer(reader, asked, () =>
    askedPieces(selectAsked(reads, accountId, scope, window), questions),
  );
}

async function* askedPieces(rows: AsyncIterable<AskedRow[]>, questions: ReadonlyMap<number, WordedQuestion>) {
  const met = new Set<string>(); // most groups are asked the same
  yield '[{"askedquestions":[';
  yield* nested(
    leavesOf(rows, undefined, ({ groupId, week, questionIds }) => {
      met.add(questionIds);
      return [{ keys: [String(groupId), weekKey(week)], text: `[${questionIds}]` }];
    }),
  );
  const ids = new Set([...met].flatMap((list) => list.split(',').map(Number)));
  const known = [...ids].toSorted((a, b) => a - b).flatMap((id) => questions.get(id) ?? []);
  yield `],"questions":${questionList(known)}}]`;
}

/** `atOnce`: so many rows are turned into text before others get a turn; all of a batch unless it is given. */
async function* leavesOf<T>(
  batches: AsyncIterable<T[]>,
  atOnce: number | undefined,
  leavesOfRow: (row: T) => Leaf[],
): AsyncGenerator<Leaf[]> {
  for await (const rows of batches) {
    for (let i = 0; i < rows.length; i += atOnce ?? rows.length) {
      yield rows.slice(i, i + (atOnce ?? rows.length)).flatMap(leavesOfRow);
      // oxlint-disable-next-line no-await-in-loop -- that is the turn of the others
      if (atOnce !== undefined) await nextTurn();
    }
  }
}

/** The comments of a question, group and week as one leaf, also where a batch ends among them. */
async function* commentLeaves(batches: AsyncIterable<CommentRow[]>): AsyncGenerator<Leaf[]> {
  let keys: string[] = [];
  let texts: string[] = [];
  const leaf = () => ({ keys, text: JSON.stringify(texts) });
  for await (const rows of batches) {
    const leaves: Leaf[] = [];
    for (const { questionId, groupId, week, text } of rows) {
      const next = [String(questionId), String(groupId), weekKey(week)];
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

async function wordedQuestions(
  pool: Pool,
  accountId: AccountId,
  language: string | undefined,
): Promise<Map<number, WordedQuestion>> {
  const questions = await questionsOf(pool, accountId);
  return new Map(questions.map((question) => [question.id, worded(question, language)]));
}

/** The scope, once it is sure that its group is there; all groups when none is asked for. */
export async function findScope(
  pool: Pool,
  accountId: AccountId,
  { groupId, beneath }: { groupId: string | undefined; beneath: boolean },
): Promise<Scope> {
  if (groupId === undefined) return { groupId, beneath };
  const scope = { groupId: idIn(groupId), beneath };
  const groups = await selectScope(pool, accountId, { ...scope, beneath: false });
  if (groups.length === 0) throw await groupNotFound(pool, accountId, groupId);
  return scope;
}

/** The id of a group; of what is none, one that no group has. */
const idIn = (groupId: string): number =>
  /^[1-9]\d{0,9}$/.test(groupId) && Number(groupId) < 2 ** 31 ? Number(groupId) : 0;

/** In the same words for what never was, was removed, or is another account's; an own externalId is answered with the id. */
async function groupNotFound(pool: Pool, accountId: AccountId, groupId: string): Promise<Fault> {
  const id = await selectGroupIdOf(pool, accountId, groupId);
  const hint =
    id === undefined ? '' : ` ${quote(groupId)} is the externalId of group ${id}. Use groupId=${id}.`;
  return new Fault('not_found', 'group not found', `There is no such group.${hint}`);
}

const kpiNotFound = () => new Fault('not_found', 'kpi not found', 'There is no such KPI.');

async function* inOneBatch<T>(rows: T[]): AsyncGenerator<T[]> {
  yield rows;
}

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

export const longAnswer = (
  reader: Reader,
  asked: Pick<Asked, 'window' | 'now'>,
  tell: () => AsyncIterable<string>,
) => new LongAnswer(tagOf(reader, asked), () => gathered(tell()));

/** Changes with every write of the account, and from week to week where the weeks asked for do. */
function tagOf(
  { version, timezone, numbers }: Reader,
  { window, now }: Pick<Asked, 'window' | 'now'>,
): string {
  const tag = numbers === 'plain' ? version : `${version}-${numbers}`;
  return window ? tag : `${tag}-${lastWeeks(dayIn(timezone, now)).last}`;
}
