// Decides which people the figures of segments are based on, after the disclosure procedure has chosen the cells of all groups
// (disclosure.ts). Pure. It knows which people count in which cells and segments, but never what anyone answered (P3).
import type { Cells } from '../disclosure/disclosure.ts';
import { areAllExchangeable, cellsWithoutExchange, inverseVariation } from './exchanges.ts';
import { dividedBy, type Division, undivided } from './parts.ts';
import { emptyInverse, type Inverse } from './positive-matrix.ts';
import { hasRemainder } from './remainders.ts';

/** The people who count in a segment, each once. A segment of a breakdown can have several sets, one for each question of a class. */
export type SegmentSet = { segment: number; people: readonly number[] };

/** The cells of the groups' figures. */
type GroupCells = Pick<Cells, 'cellOf'>;

/** After this number of attempts, all cells that fail are left out together; after twice as many, the breakdown is withheld. */
const maxAttempts = 12;

/**
 * Returns for each segment whose figure is published the people it is based on. Figures of all others are withheld.
 *
 * In every combination of these figures and those of groups, no one has more than 1/`threshold` of the total weight of all people
 * (exchanges.ts). The figures of groups stay as they are. Breakdowns are added one after another, and each leaves those before it as they
 * are: a cell with a person who could be separated is left out of the new breakdown, with all its people, until no one can be separated any more.
 * People who are in no cell count in no segment. A breakdown with which whole-number answers would reveal a remainder is withheld.
 */
export function chooseSegments(
  { cellOf }: GroupCells,
  breakdowns: readonly (readonly SegmentSet[])[],
  threshold: number,
): Map<number, number[]> {
  const lists = breakdowns.map((breakdown) => breakdown.map(copyOf));
  if (threshold === 1) return new Map(lists.flat());
  const context = { cellOf, threshold };
  const none: Chosen = { division: undivided(cellOf), inverse: emptyInverse, shown: [] };
  const all = withBreakdowns(context, none, lists);
  if (!hasRemainder(all.division, all.inverse.rank, threshold)) return new Map(all.shown);
  // Remainders don't occur by chance, only with attributes that were chosen for it. So each breakdown is checked only if all together
  // reveal one.
  const checked = lists.reduce((before, breakdown) => {
    const after = withBreakdown(context, before, breakdown);
    return hasRemainder(after.division, after.inverse.rank, threshold) ? before : after;
  }, none);
  return new Map(checked.shown);
}

type Context = { cellOf: Int32Array; threshold: number };
/** A segment and its people. */
type Shown = [segment: number, people: number[]];
/** The segments that were chosen so far, the people by their sets, and the inverse of the variation of these sets. */
type Chosen = { division: Division; inverse: Inverse; shown: Shown[] };

const copyOf = ({ segment, people }: SegmentSet): Shown => [segment, [...people]];

/** Adds the segments of breakdowns one breakdown after another. If no cell has to be left out, all are added together, with the same result. */
function withBreakdowns(context: Context, before: Chosen, breakdowns: readonly Shown[][]): Chosen {
  const { threshold } = context;
  if (breakdowns.length === 1) return withBreakdown(context, before, breakdowns[0] as Shown[]);
  const all = withSets(before, enough(breakdowns.flat(), context, new Set([0])));
  if (areAllExchangeable(all.division, all.inverse, 1 / threshold)) return all;
  const half = breakdowns.length >> 1;
  return withBreakdowns(
    context,
    withBreakdowns(context, before, breakdowns.slice(0, half)),
    breakdowns.slice(half),
  );
}

/** Adds the segments of one breakdown that can be published in addition to those before it. */
function withBreakdown(context: Context, before: Chosen, breakdown: readonly Shown[]): Chosen {
  const { cellOf, threshold } = context;
  const left = new Set([0]);
  let sets = [...breakdown];
  for (let attempt = 1; ; attempt++) {
    sets = enough(sets, context, left);
    if (sets.length === 0 || attempt > 2 * maxAttempts) return before;
    const added = withSets(before, sets);
    const failing = cellsWithoutExchange(added.division, added.inverse, 1 / threshold);
    if (failing.size === 0) return added;
    const worst = Math.max(...failing.values());
    const size = left.size;
    const counted = new Set(sets.flatMap(([, people]) => people.map((person) => cellOf[person])));
    for (const [cell, weight] of failing) {
      if (counted.has(cell) && (weight >= worst / 2 || attempt >= maxAttempts)) left.add(cell);
    }
    // The cells that fail worst are not in this breakdown. Its other cells use up their exchanges.
    if (left.size === size)
      sets = sets.toSorted((a, b) => b[1].length - a[1].length || a[0] - b[0]).slice(0, -1);
  }
}

/** Returns the sets without the people of the cells that are left out, if enough people remain. */
const enough = (sets: readonly Shown[], { cellOf, threshold }: Context, left: ReadonlySet<number>): Shown[] =>
  sets
    .map(([segment, people]): Shown => [
      segment,
      people.filter((person) => !left.has(cellOf[person] as number)),
    ])
    .filter(([, people]) => people.length >= threshold);

function withSets({ division, inverse, shown }: Chosen, sets: readonly Shown[]): Chosen {
  const after = dividedBy(
    division,
    sets.map(([, people]) => people),
  );
  return { division: after, inverse: inverseVariation(after, inverse), shown: [...shown, ...sets] };
}

/**
 * Returns the segments whose figure is based on handed-out links (P14): someone who knows every answer that was given through such a
 * link could separate the others in one of its cells. Always empty with a threshold of 1, as for groups (tooFewOwnLinks).
 */
export function segmentsHandedOut(
  { cellOf }: Pick<Cells, 'cellOf'>,
  shown: ReadonlyMap<number, readonly number[]>,
  usedOwnLink: readonly boolean[],
  threshold: number,
): Set<number> {
  if (threshold === 1 || usedOwnLink.every(Boolean)) return new Set();
  const ownCellOf = cellOf.map((cell, person) => (usedOwnLink[person] ? cell : 0));
  const ownSizes = new Map<number, number>();
  for (const cell of ownCellOf) ownSizes.set(cell, (ownSizes.get(cell) ?? 0) + 1);
  const division = dividedBy(undivided(ownCellOf), [...shown.values()]);
  const failing = cellsWithoutExchange(division, inverseVariation(division, emptyInverse), 1 / threshold);
  const isUnsafe = (person: number) => {
    const cell = cellOf[person] as number;
    return failing.has(cell) || (ownSizes.get(cell) ?? 0) < threshold;
  };
  return new Set([...shown].filter(([, people]) => people.some(isUnsafe)).map(([segment]) => segment));
}
