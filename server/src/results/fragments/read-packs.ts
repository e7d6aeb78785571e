// Responses about many groups from packs: these are checked, decompressed and put together to the JSON that the rows of figures would become. If they
// can't be used, or one is damaged, the response comes from fragments or rows.
import { isChoice } from '@soundings/contract/question-types.ts';
import { addWeeks } from '@soundings/contract/weeks.ts';
import type { Db } from '../../db/db.ts';
import { optionTexts, type TranslatedQuestion } from '../data/shape.ts';
import { DamagedFrames } from './frames.ts';
import { fragmentKinds, type WantedFigures } from './fragments.sql.ts';
import { NestedOutput, Output } from './output.ts';
import { type PackRow, type PackScope, selectPacks } from './packs.sql.ts';
import {
  blockOfGroup,
  checkedPack,
  freePacks,
  openPacks,
  type Pack,
  placeInBlock,
  type StoredPack,
} from './packs.ts';
import { type FramesWanted, questionListsIn, NotInFragments, openAsked } from './read-fragments.ts';

/** The packs of a question and a block, ordered by week, and the groups of the block that are wanted. */
type WantedPacks = { questionId: number; groupIds: readonly number[]; packs: Pack[] };

/** How many bytes are decompressed together at least. */
const bytesTogether = 1_000_000;

/**
 * How many groups can be read for each one that is wanted, because packs have whole blocks. Otherwise, reading rows, or, in many weeks, the
 * fragments of each group, is faster.
 */
const mostGroups = (wanted: FramesWanted): number =>
  addWeeks(wanted.window.first, 12) <= wanted.window.last ? 6 : 64;

/** Yields the packs. `onScope`: gets the groups before. Throws NotInFragments or DamagedFrames. */
async function* packsOf(
  db: Db,
  wanted: FramesWanted,
  figures: WantedFigures,
  onScope: (scope: PackScope) => void,
): AsyncGenerator<WantedPacks> {
  const { accountId, scope, window } = wanted;
  let groups: Map<number, number[]> | undefined;
  let next: Promise<Pack[]> | undefined;
  const owner = { accountId, kpiId: figures.kpiId ?? '' };
  function* inBlocks(packs: Pack[]): Generator<WantedPacks> {
    for (const [first, same] of byPlace(packs))
      yield { questionId: first.questionId, groupIds: groups?.get(first.block) ?? [], packs: same };
    freePacks(packs);
  }
  const batches = selectPacks(db, accountId, { scope, window, most: mostGroups(wanted) }, figures);
  for await (const stored of together(batches, owner, (found) => {
    groups = Map.groupBy(found.groupIds, blockOfGroup);
    onScope(found);
  })) {
    const ready = next;
    next = openPacks(stored);
    next.catch(() => {}); // the reader may have stopped
    if (ready) yield* inBlocks(await ready);
  }
  if (!groups) throw new NotInFragments();
  if (next) yield* inBlocks(await next);
}

type Place = Pick<PackRow, 'questionId' | 'block'>;

function byPlace(packs: Pack[]): [Place, Pack[]][] {
  const places: [Place, Pack[]][] = [];
  for (const pack of packs) {
    const { questionId, block } = pack.owner;
    const latest = places.at(-1);
    if (latest && latest[0].questionId === questionId && latest[0].block === block) latest[1].push(pack);
    else places.push([{ questionId, block }, [pack]]);
  }
  return places;
}

/** Checks packs, and yields those that are decompressed together. Those of a question and a block are never divided. */
async function* together(
  batches: AsyncIterable<PackScope | PackRow[]>,
  owner: { accountId: number; kpiId: string },
  onScope: (scope: PackScope) => void,
): AsyncGenerator<StoredPack[]> {
  let ready: StoredPack[] = [];
  let [bytes, latest]: [number, PackRow | undefined] = [0, undefined];
  for await (const rows of batches) {
    if (!Array.isArray(rows)) {
      onScope(rows);
      continue;
    }
    for (const row of rows) {
      const isOther = row.questionId !== latest?.questionId || row.block !== latest.block;
      if (latest && !isAfter(row, latest)) throw new DamagedFrames('Packs are out of order');
      if (isOther && bytes >= bytesTogether) {
        yield ready;
        [ready, bytes] = [[], 0];
      }
      const { pack, ...about } = (latest = row);
      const stored = checkedPack(pack, { ...owner, ...about });
      ready.push(stored);
      bytes += stored.bytes;
    }
  }
  if (ready.length > 0) yield ready;
}

const isAfter = (a: PackRow, b: PackRow): boolean =>
  a.questionId - b.questionId > 0 ||
  (a.questionId === b.questionId && (a.block > b.block || (a.block === b.block && a.week > b.week)));

/** Yields KPI values or response rates as the inside of a JSON array, with plain numbers. */
export async function* valuesFromPacks(
  db: Db,
  wanted: FramesWanted,
  figures: WantedFigures,
): AsyncGenerator<Buffer> {
  const output = new Output();
  let skipped = 1; // the first comma
  for await (const { groupIds, packs } of packsOf(db, wanted, figures, () => {})) {
    for (const groupId of groupIds) {
      const place = placeInBlock(groupId);
      for (const pack of packs) {
        for (let isFound = pack.find(place); isFound; isFound = pack.findMore()) {
          output.copy(pack.bytes, pack.from + skipped, pack.to);
          skipped = 0;
        }
      }
      if (output.isFull()) yield output.rest();
    }
  }
  yield output.rest();
}

/** Yields results as a JSON object of questions, groups and weeks. Adds the questions that have any to `included`. */
export async function* resultsFromPacks(
  db: Db,
  wanted: FramesWanted,
  questions: ReadonlyMap<number, TranslatedQuestion>,
  included: Map<number, TranslatedQuestion>,
): AsyncGenerator<Buffer> {
  const output = new NestedOutput();
  const figures = { kind: fragmentKinds.results, questionIds: wanted.questionIds };
  for await (const { questionId, groupIds, packs } of packsOf(db, wanted, figures, () => {})) {
    const question = questions.get(questionId);
    if (!question) continue; // can't be: names and figures are of one state
    const inserted = isChoice(question.type) ? Buffer.from(optionTexts(question.options)) : undefined;
    for (const groupId of groupIds) {
      const place = placeInBlock(groupId);
      let isFirst = true;
      for (const pack of packs) {
        for (let isFound = pack.find(place); isFound; isFound = pack.findMore()) {
          const from = pack.from + (isFirst ? output.enter(questionId, groupId) : 0);
          isFirst = false;
          if (inserted && pack.at > 0) copyWith(output, pack, from, inserted);
          else output.copy(pack.bytes, from, pack.to);
        }
      }
      if (!isFirst) included.set(questionId, question);
      if (output.isFull()) yield output.rest();
    }
  }
  yield output.ended();
}

/** Copies the current entry of a pack, with what is inserted. */
function copyWith(output: Output, { bytes, at, to }: Pack, from: number, inserted: Buffer): void {
  output.copy(bytes, from, at);
  output.copy(inserted, 0, inserted.length);
  output.copy(bytes, at, to);
}

/** Yields asked questions as a JSON object of groups and weeks. Adds the lists of question ids to `lists`. */
export async function* askedFromPacks(
  db: Db,
  wanted: FramesWanted,
  lists: Set<string>,
): AsyncGenerator<Buffer> {
  const output = new NestedOutput();
  let writeOpen: (before: number) => void = () => {};
  const onScope = ({ open }: PackScope) => void (writeOpen = openAsked(output, open, lists));
  for await (const { groupIds, packs } of packsOf(db, wanted, { kind: fragmentKinds.asked }, onScope)) {
    for (const groupId of groupIds) {
      const place = placeInBlock(groupId);
      writeOpen(groupId);
      for (const pack of packs) {
        for (let isFound = pack.find(place); isFound; isFound = pack.findMore()) {
          output.copy(pack.bytes, pack.from + output.enter(0, groupId), pack.to);
          if (pack.isNew()) for (const list of questionListsIn(pack)) lists.add(list);
        }
      }
      if (output.isFull()) yield output.rest();
    }
  }
  writeOpen(Infinity);
  yield output.ended();
}
