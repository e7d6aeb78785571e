// Which current users a list names, and where: eight bytes for each, because a list can name a million. Pure.

export type SeenUsers = {
  /** Adds a user that is listed at a position. `isEmailSent`: whether the list gives an address, or null. */
  add(id: number, place: number, isEmailSent: boolean): void;
  /** Returns where a user is listed, or undefined. */
  find(id: number): { place: number; isEmailSent: boolean } | undefined;
  /** Returns the ids of users who are listed more than once. */
  repeated(): number[];
  /** Returns which of these users are not listed. `ids`: in ascending order. */
  missing(ids: Int32Array): number[];
};

/** The place and whether an address is sent fit in the lower bits; ids have 31 bits, so that all is below 2⁵³. */
const perId = 2 ** 22;

/** `most`: how many users can be added. No more can be added once they are read. */
export function newSeenUsers(most: number): SeenUsers {
  const entries = new Float64Array(most);
  let count = 0;
  let sorted: Float64Array | undefined;
  const inOrder = () => (sorted ??= entries.subarray(0, count).toSorted());
  const idOf = (entry: number) => Math.floor(entry / perId);

  return {
    add(id, place, isEmailSent) {
      entries[count++] = id * perId + place * 2 + (isEmailSent ? 1 : 0);
    },
    find(id) {
      const list = inOrder();
      let [from, to] = [0, list.length];
      while (from < to) {
        const middle = (from + to) >>> 1;
        if ((list[middle] as number) < id * perId) from = middle + 1;
        else to = middle;
      }
      const entry = list[from];
      if (entry === undefined || idOf(entry) !== id) return undefined;
      const rest = entry - id * perId;
      return { place: Math.floor(rest / 2), isEmailSent: rest % 2 === 1 };
    },
    repeated() {
      const list = inOrder();
      const ids = new Set<number>();
      for (let i = 1; i < list.length; i++) {
        const id = idOf(list[i] as number);
        if (id === idOf(list[i - 1] as number)) ids.add(id);
      }
      return [...ids];
    },
    missing(ids) {
      const list = inOrder();
      const missing: number[] = [];
      let at = 0;
      for (const id of ids) {
        while (at < list.length && (list[at] as number) < id * perId) at++;
        if (at === list.length || idOf(list[at] as number) !== id) missing.push(id);
      }
      return missing;
    },
  };
}
