// What the responses of the data interface have in common: who reads what, the scope, and how text is streamed.
import type { Kind } from '@soundings/contract/data.ts';
import type { Numbers } from '@soundings/contract/operation.ts';
import { dayIn } from '@soundings/contract/weeks.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Fault } from '../../base/errors.ts';
import { quote } from '../../base/text.ts';
import type { AccountId, Db } from '../../db/db.ts';
import type { Reading } from '../../db/replica/reads.ts';
import { StreamedResponse } from '../../http/responses/responses.ts';
import { groupNotFound } from '../../people/faults.ts';
import { segmentNotFound } from '../../rounds/segments/breakdowns.ts';
import type { ResponseChunks, OnDamage } from '../fragments/read-fragments.ts';
import { selectVersion } from '../data/comments.sql.ts';
import { type GroupScope, selectGroupIdOf, selectScope } from '../data/results.sql.ts';
import { grouped, type Leaf, translatedQuestion, type TranslatedQuestion } from '../data/shape.ts';
import { lastWeeks, type Window } from '../data/window.ts';
import type { AtOneVersion } from '../data/single-group.sql.ts';
import type { KnownNames } from './known-names.ts';

/** The account that reads, its number format and time zone, and its version, which changes whenever a response could change. */
export type Reader = {
  accountId: AccountId;
  numbers: Numbers;
  timezone: string;
  version: string;
  onDamage: OnDamage;
  names: KnownNames;
};

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
  const scope = { groupId: groupIdIn(groupId), withSubgroups, kind };
  const groups = await selectScope(db, accountId, { ...scope, withSubgroups: false });
  if (groups.length === 0) throw await scopeNotFound(db, accountId, { groupId, kind });
  return scope;
}

/** Returns the id of a group. If the text is not a valid id, returns 0, which no group has. */
export const groupIdIn = (groupId: string): number =>
  /^[1-9]\d{0,9}$/.test(groupId) && Number(groupId) < 2 ** 31 ? Number(groupId) : 0;

/**
 * Returns the Fault for an unknown group. The message is the same whether the group never existed, was deleted or belongs to
 * another account. If the text is the externalId of a group of this account, the message names its id.
 */
export async function scopeNotFound(
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

/**
 * Returns a streamed response that shows one state of the account. `read`: reads what it needs besides figures, and throws a Fault if the group does
 * not exist. `rows`: a transaction that sees one state.
 */
export function streamedInOneState<About>(
  reading: Reading,
  reader: Reader,
  query: ResultsQuery,
  read: (db: Db, reader: Reader) => Promise<About>,
  chunksOf: (about: About, rows: Db, db: Db) => ResponseChunks,
): StreamedResponse {
  async function* chunks(rows: Db, db: Db): ResponseChunks {
    const version = (await selectVersion(rows, reader.accountId)) ?? '';
    yield* chunksOf(await read(rows, { ...reader, version }), rows, db);
  }
  return streamedResponse(reader, query, () => reading.stream(chunks));
}

/**
 * Returns rows that one statement reads, with the texts that questions have in the same version of the account. Undefined if `read` returns it.
 */
export async function withQuestions<Row>(
  db: Db,
  reader: Reader,
  language: string | undefined,
  read: () => Promise<AtOneVersion<Row> | undefined>,
): Promise<{ rows: Row[]; questions: Map<number, TranslatedQuestion> } | undefined> {
  for (let at = reader; ;) {
    // First, so that they are of no later version. Most are known.
    const questions = await translatedQuestions(db, at, language);
    const found = await read();
    if (!found || found.version === at.version) return found && { rows: found.rows, questions };
    at = { ...at, version: found.version }; // the account has changed in the meantime
  }
}

export async function* inOneBatch<T>(rows: T[]): AsyncGenerator<T[]> {
  yield rows;
}

/** Returns a text that is written from rows only, as these are never bytes. */
export async function wholeText(chunks: ResponseChunks): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += chunk as string;
  return text;
}

export const streamedResponse = (
  reader: Reader,
  query: Pick<ResultsQuery, 'window' | 'now'>,
  chunksOf: () => ResponseChunks,
) => new StreamedResponse(tagOf(reader, query), () => grouped(chunksOf()));

/** Returns the ETag. It changes with every write to the account and, if the requested weeks depend on the date, every week. */
function tagOf(
  { version, timezone, numbers }: Reader,
  { window, now }: Pick<ResultsQuery, 'window' | 'now'>,
): string {
  const tag = numbers === 'plain' ? version : `${version}-${numbers}`;
  return window ? tag : `${tag}-${lastWeeks(dayIn(timezone, now)).last}`;
}

/** Yields the leaves of rows. `rowsPerTurn`: how many rows are processed per turn of the event loop; a whole batch by default. */
export async function* leavesOf<T>(
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

export async function translatedQuestions(
  db: Db,
  reader: Reader,
  language: string | undefined,
): Promise<Map<number, TranslatedQuestion>> {
  const questions = await reader.names.questions(db, reader);
  return new Map(questions.map((question) => [question.id, translatedQuestion(question, language)]));
}
