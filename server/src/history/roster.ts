// Records which questions each person has answered in an imported week. It uses one bit per person and question, as a file can have millions of
// answers. Pure.

/** The respondents of a round or a week: the first 64 bits of their numbers, ascending. */
export type Respondents = BigUint64Array;

const prefixOf = (respondent: string): bigint =>
  BigInt(`0x${respondent.slice(0, 8)}${respondent.slice(9, 13)}${respondent.slice(14, 18)}`);

export const respondentsOf = (numbers: readonly string[]): Respondents =>
  BigUint64Array.from(numbers, prefixOf).toSorted();

/** Returns the index of a respondent, or undefined if it is not in the list. */
function placeIn(sorted: Respondents, prefix: bigint): number | undefined {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as bigint) < prefix) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === prefix ? low : undefined;
}

export const isAmong = (respondents: Respondents, respondent: string): boolean =>
  placeIn(respondents, prefixOf(respondent)) !== undefined;

export class Roster {
  readonly #respondents: Respondents;
  readonly #places: ReadonlyMap<number, number>;
  readonly #bits: Uint8Array;

  /** `rounds`: the respondents of each round of the week. */
  constructor(rounds: readonly Respondents[], questionIds: Iterable<number>) {
    const all = new Set(rounds.flatMap((one) => [...one]));
    this.#respondents = BigUint64Array.from(all).toSorted();
    this.#places = new Map([...new Set(questionIds)].map((id, place) => [id, place]));
    this.#bits = new Uint8Array(Math.ceil((this.#respondents.length * this.#places.size) / 8));
  }

  /** Records an answer. Returns false if the respondent has already answered the question. */
  note(respondent: string, questionId: number): boolean {
    const [person, question] = [
      placeIn(this.#respondents, prefixOf(respondent)),
      this.#places.get(questionId),
    ];
    if (person === undefined || question === undefined) return true; // of a round that is not part of the import
    const at = person * this.#places.size + question;
    const [byte, bit] = [at >>> 3, 1 << (at & 7)];
    const isNew = ((this.#bits[byte] as number) & bit) === 0;
    this.#bits[byte] = (this.#bits[byte] as number) | bit;
    return isNew;
  }
}
