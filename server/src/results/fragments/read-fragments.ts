// Responses from fragments: their frames are checked and copied into the JSON that the rows of figures would become. If they can't be used, or
// one is damaged, the response comes from the rows.
import { isChoice } from '@soundings/contract/question-types.ts';
import { fourDigits } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';
import { type Chunk, chunksAfter } from '../../db/replica/reads.ts';
import type { GroupScope } from '../data/results.sql.ts';
import { optionTexts, type TranslatedQuestion } from '../data/shape.ts';
import type { Window } from '../data/window.ts';
import { DamagedFrames, type FrameOwner, Frames, weekIndex } from './frames.ts';
import {
  type WantedFigures,
  type FrameBlock,
  hasVersion,
  fragmentKinds,
  selectFrames,
  selectFramesOfOne,
} from './fragments.sql.ts';
import { NestedOutput, Output } from './output.ts';

/** Thrown before anything else if fragments, or packs, can't be used. */
export class NotInFragments extends Error {}

export type ResponseChunks = AsyncIterable<Chunk>;

/** What to read. */
export type FramesWanted = {
  accountId: AccountId;
  scope: GroupScope;
  window: Window;
  questionIds?: number[] | undefined;
};

/** A block of frames that were checked, with the weeks to choose. */
type CheckedBlock = { questionId: number; frames: Frames; first: number; last: number; open: string };

/** Yields the blocks. Throws NotInFragments or DamagedFrames. */
async function* blocksOf(
  db: Db,
  { accountId, scope, window }: FramesWanted,
  figures: WantedFigures,
): AsyncGenerator<CheckedBlock> {
  const [first, last] = [weekIndex(window.first), weekIndex(window.last)];
  let previous: FrameBlock | undefined;
  const { groupId, withSubgroups, kind } = scope;
  const blocks =
    groupId === undefined || withSubgroups
      ? selectFrames(db, accountId, scope, figures, window)
      : await selectFramesOfOne(db, accountId, { groupId, kind }, figures, window);
  for await (const block of blocks) {
    if (!previous !== (block.questionId === -1) || block.questionId < (previous?.questionId ?? -1))
      throw previous ? new DamagedFrames('Fragments are out of order') : new NotInFragments();
    previous = block;
    if (block.questionId === -1) continue;
    const { questionId, open } = block;
    const owner: FrameOwner = { accountId, kind: figures.kind, kpiId: figures.kpiId ?? '', questionId };
    yield { questionId, frames: new Frames(block.frames, owner), first, last, open };
  }
  if (!previous) throw new NotInFragments();
}

/** Yields KPI values or response rates as the inside of a JSON array, with plain numbers. */
export async function* valuesFromFragments(
  db: Db,
  wanted: FramesWanted,
  figures: WantedFigures,
): AsyncGenerator<Buffer> {
  const output = new Output();
  let skipped = 1; // the first comma
  for await (const { frames, first, last } of blocksOf(db, wanted, figures)) {
    while (frames.next()) {
      if (!frames.choose(first, last)) continue;
      output.copy(frames.bytes, frames.from + skipped, frames.to);
      skipped = 0;
      if (output.isFull()) yield output.rest();
    }
  }
  yield output.rest();
}

/** Yields results as a JSON object of questions, groups and weeks. Adds the questions that have any to `included`. */
export async function* resultsFromFragments(
  db: Db,
  wanted: FramesWanted,
  questions: ReadonlyMap<number, TranslatedQuestion>,
  included: Map<number, TranslatedQuestion>,
): AsyncGenerator<Buffer> {
  const output = new NestedOutput();
  const figures = { kind: fragmentKinds.results, questionIds: wanted.questionIds };
  for await (const { questionId, frames, first, last } of blocksOf(db, wanted, figures)) {
    const question = questions.get(questionId);
    if (!question) continue; // created after the version whose names are known: then this text is not used
    const inserted = isChoice(question.type) ? Buffer.from(optionTexts(question.options)) : undefined;
    while (frames.next()) {
      if (!frames.choose(first, last)) continue;
      included.set(questionId, question);
      const skipped = output.enter(questionId, frames.groupId);
      if (inserted) copyWith(output, frames, skipped, inserted);
      else output.copy(frames.bytes, frames.from + skipped, frames.to);
      if (output.isFull()) yield output.rest();
    }
  }
  yield output.ended();
}

/** Copies the chosen weeks, with `inserted` where something is to be inserted. */
function copyWith(output: Output, frames: Frames, skipped: number, inserted: Buffer): void {
  let done = frames.from + skipped;
  frames.each((_from, at) => {
    if (at === 0) return;
    output.copy(frames.bytes, done, at);
    output.copy(inserted, 0, inserted.length);
    done = at;
  });
  output.copy(frames.bytes, done, frames.to);
}

/** Yields asked questions as a JSON object of groups and weeks. Adds the lists of question ids to `lists`. */
export async function* askedFromFragments(
  db: Db,
  wanted: FramesWanted,
  lists: Set<string>,
): AsyncGenerator<Buffer> {
  const output = new NestedOutput();
  const noteLists = listsIn(lists);
  for await (const { frames, first, last, open } of blocksOf(db, wanted, { kind: fragmentKinds.asked })) {
    const writeOpen = openAsked(output, open, lists);
    while (frames.next()) {
      writeOpen(frames.groupId);
      if (!frames.choose(first, last)) continue;
      output.copy(frames.bytes, frames.from + output.enter(0, frames.groupId), frames.to);
      noteLists(frames);
      if (output.isFull()) yield output.rest();
    }
    writeOpen(Infinity);
  }
  yield output.ended();
}

/** Returns a function that writes the entries of open weeks of groups with smaller ids than the one that is given, each once. */
export function openAsked(output: NestedOutput, open: string, lists: Set<string>): (before: number) => void {
  const lines = open === '' ? [] : open.split('\n');
  // The last one first.
  const later = lines.toReversed().map((line) => {
    const [groupId, week, questionIds] = line.split(' ') as [string, string, string];
    lists.add(questionIds);
    return { groupId: Number(groupId), text: `,"${fourDigits(week)}":[${questionIds}]` };
  });
  return (before) => {
    for (let next = later.at(-1); next && next.groupId < before; next = later.at(-1)) {
      output.text(next.text.slice(output.enter(0, next.groupId)));
      later.pop();
    }
  };
}

/** Returns the lists of question ids in entries of asked questions. */
export const questionListsIn = ({ bytes, from, to }: { bytes: Buffer; from: number; to: number }): string[] =>
  [...bytes.toString('latin1', from, to).matchAll(/\[([^\]]*)\]/g)].map(([, ids]) => ids as string);

/** Returns a function that adds the lists of a frame. Most groups are asked the same in a period, which takes no time. */
function listsIn(lists: Set<string>): (frames: Frames) => void {
  const known: Buffer[] = [];
  return (frames) => {
    const json = frames.bytes.subarray(frames.from, frames.to);
    if (known.some((one) => one.equals(json))) return;
    if (known.unshift(json) > 8) known.pop();
    for (const list of questionListsIn(frames)) lists.add(list);
  };
}

/** Returns the text of chunks from fragments, or undefined if it has to be read from rows. */
export async function textFromFragments(
  { accountId, onDamage }: { accountId: AccountId; onDamage: OnDamage },
  chunks: ResponseChunks,
): Promise<string | undefined> {
  let text = '';
  try {
    // A chunk ends with a frame, so no character is divided.
    for await (const chunk of chunks)
      text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    return text;
  } catch (error) {
    if (error instanceof DamagedFrames) onDamage(accountId, error);
    else if (!(error instanceof NotInFragments)) throw error;
    return undefined;
  }
}

/** Reports that fragments of an account are damaged, so that they are built again. */
export type OnDamage = (accountId: AccountId, error: Error) => void;

/**
 * Yields a response from the first of `stored` that can be used, packs or fragments, or else from rows. If one is damaged, the rest comes from
 * rows, if the account still has its version, because both are the same text then. `db`: for a statement while rows are read.
 */
export async function* preferFragments(
  db: Db,
  { accountId, version, onDamage }: { accountId: AccountId; version: string; onDamage: OnDamage },
  { stored, rows }: { stored: (() => ResponseChunks)[]; rows: () => ResponseChunks },
): AsyncGenerator<Chunk> {
  let sent = 0;
  let failure: Error | undefined;
  for (const chunks of stored) {
    try {
      // What does not depend on figures may have been sent already.
      for await (const chunk of chunksAfter(sent, chunks())) {
        sent += Buffer.byteLength(chunk);
        yield chunk;
      }
      return;
    } catch (error) {
      if (error instanceof NotInFragments) continue;
      if (!(error instanceof DamagedFrames)) throw error;
      onDamage(accountId, (failure = error));
      break;
    }
  }
  for await (const chunk of chunksAfter(sent, rows())) {
    if (failure && sent > 0 && !(await hasVersion(db, accountId, version))) throw failure;
    failure = undefined;
    yield chunk;
  }
}
