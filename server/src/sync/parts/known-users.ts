// The current users of an account by the digests of their externalIds, with their fingerprints: about 50 bytes for each of a million. Pure.
import type { IndexedPerson } from './people-index.ts';

export type KnownUsers = {
  /** Returns the id of the user with this externalId and this fingerprint; undefined if there is none. */
  unchanged(person: Pick<IndexedPerson, 'externalId' | 'fingerprint'>): number | undefined;
};

/** Two numbers of 32 bits, as `halves` of a Digest returns them. */
type Halves = readonly [number, number];

/** Returns a collection of users. `count`: about how many there are; any number works. `externalId`: its digest. */
export function newKnownUsers(
  count: number,
): KnownUsers & { add(id: number, externalId: Halves, fingerprint: Halves): void } {
  let table = newTable(count);
  let size = 0;
  return {
    add(id, [a, b], [c, d]) {
      if (++size * 2 > table.places) table = enlarged(table);
      put(table, id, [a, b, c, d]);
    },
    unchanged({ externalId: [a, b], fingerprint: [c, d] }) {
      const { entries, ids, places } = table;
      for (let at = a & (places - 1); ids[at] !== 0; at = (at + 1) & (places - 1)) {
        const from = at * 4;
        if (
          entries[from] === a &&
          entries[from + 1] === b &&
          entries[from + 2] === c &&
          entries[from + 3] === d
        )
          return ids[at];
      }
      return undefined;
    },
  };
}

/** A hash table with open addressing: four numbers and an id for each place. An id of 0 is an empty place. The number of places is a power of 2. */
type Table = { places: number; entries: Uint32Array; ids: Int32Array };

function newTable(count: number): Table {
  let places = 64;
  while (places < 2 * count) places *= 2;
  return { places, entries: new Uint32Array(4 * places), ids: new Int32Array(places) };
}

function put({ places, entries, ids }: Table, id: number, entry: readonly number[]): void {
  let at = (entry[0] as number) & (places - 1);
  while (ids[at] !== 0) at = (at + 1) & (places - 1);
  ids[at] = id;
  for (let i = 0; i < 4; i++) entries[at * 4 + i] = entry[i] as number;
}

function enlarged(table: Table): Table {
  const larger = newTable(table.places);
  for (let at = 0; at < table.places; at++) {
    const id = table.ids[at] as number;
    if (id !== 0) put(larger, id, [...table.entries.subarray(at * 4, at * 4 + 4)]);
  }
  return larger;
}
