// The people of each cell, divided by the sets of segments that they are in. People of one part can't be distinguished by published sums, so
// proofs work on parts rather than on people. Pure.

/** People of one cell who are in the same sets. `rows`: the numbers of these sets, in ascending order. */
export type Part = { cell: number; rows: readonly number[]; size: number };

/** A cell whose people are not all in the same sets. `rows`: all their sets, in ascending order. `counts`: how many of its people are in each. `size`: all its people. */
export type MixedCell = {
  cell: number;
  parts: readonly Part[];
  rows: readonly number[];
  counts: readonly number[];
  size: number;
};

/** `partOf`: for each person, the index of their part; −1 if the person is in no cell. `rowCount`: the number of sets. */
export type Division = {
  partOf: Int32Array;
  parts: readonly Part[];
  mixed: readonly MixedCell[];
  rowCount: number;
};

/** Returns the people by cell. `cellOf`: for each person; 0 if in none. */
export const undivided = (cellOf: Int32Array): Division =>
  numbered(cellOf, (cell) => (cell === 0 ? undefined : { cell, rows: [] }), 0);

/** Returns the division in which the people of these sets are parts of their own. The sets get the next numbers. */
export function dividedBy(
  { partOf, parts, rowCount }: Division,
  sets: readonly (readonly number[])[],
): Division {
  const after = Int32Array.from(partOf);
  // A part that is split off gets the next number. These lists say from which part, and by which set.
  const from: number[] = parts.map(() => -1);
  const by: number[] = parts.map(() => -1);
  /** The last part that was split off from each part. */
  const last: number[] = parts.map(() => -1);
  for (const [i, people] of sets.entries()) {
    const row = rowCount + i;
    for (const person of people) {
      const part = after[person] as number;
      if (part === -1) continue;
      let own = last[part] as number;
      if (own === -1 || by[own] !== row) {
        own = last.push(-1) - 1;
        from.push(part);
        by.push(row);
        last[part] = own;
      }
      after[person] = own;
    }
  }
  const partAt = (number: number) => {
    const added: number[] = [];
    let part = number;
    for (; part >= parts.length; part = from[part] as number) added.push(by[part] as number);
    const { cell, rows } = parts[part] as Part;
    return { cell, rows: [...rows, ...added.toReversed()] };
  };
  return numbered(after, partAt, rowCount + sets.length);
}

/** Numbers the parts that have people by their first person. `numberOf`: of each person's part so far. */
function numbered(
  numberOf: Int32Array,
  partAt: (number: number) => Omit<Part, 'size'> | undefined,
  rowCount: number,
): Division {
  const places: number[] = [];
  const parts: Part[] = [];
  const partOf = numberOf.map((number) => {
    let place = places[number];
    if (place === undefined) {
      const one = number === -1 ? undefined : partAt(number);
      place = one ? parts.push({ ...one, size: 0 }) - 1 : -1;
      if (number !== -1) places[number] = place;
    }
    if (place !== -1) (parts[place] as Part).size++;
    return place;
  });
  const cells = [...Map.groupBy(parts, ({ cell }) => cell)].filter(([, list]) => list.length > 1);
  const totals = new Int32Array(rowCount);
  return { partOf, parts, rowCount, mixed: cells.map(([cell, list]) => mixedOf(cell, list, totals)) };
}

/** `totals`: 0 for each set, before and after. */
function mixedOf(cell: number, parts: readonly Part[], totals: Int32Array): MixedCell {
  let size = 0;
  for (const part of parts) {
    size += part.size;
    for (const row of part.rows) totals[row] = (totals[row] as number) + part.size;
  }
  const rows: number[] = [];
  const counts: number[] = [];
  for (let row = 0; row < totals.length; row++) {
    const count = totals[row] as number;
    if (count === 0) continue;
    rows.push(row);
    counts.push(count);
    totals[row] = 0;
  }
  return { cell, parts, rows, counts, size };
}
