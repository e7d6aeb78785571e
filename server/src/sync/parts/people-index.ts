// An index of the people in a list: for each person a digest of the text that was sent, a fingerprint without groups, the groups by their
// position in a list of names, and how long the texts are. With it, a commit compares a part without parsing it, and parses only people who may
// have changed. A later list is read with the index of an earlier one, and only texts that are new are parsed. Pure.
import type { User } from '@soundings/contract/organization.ts';
import { membershipKinds } from '@soundings/contract/people/memberships.ts';
import { Digest } from '../../base/crypto/digest.ts';
import { addGroups, ownDigest } from '../repeated/fingerprints.ts';
import { digestText, type Seed } from '../texts/text-digest.ts';
import { Bytes, ReadBytes } from './index-bytes.ts';

/**
 * Change it with the format, with what `ownDigest` and `addGroups` digest, and with what makes a user invalid or causes a warning: the texts of
 * an index are not checked again. Indexes of another version are not read.
 */
const version = 2;

/** A person of an index. `externalId` and `fingerprint`: digests of 64 bits. `from`, `to`: where the person's JSON is in that of the part, in bytes. */
export type IndexedPerson = {
  externalId: readonly [number, number];
  fingerprint: readonly [number, number];
  isEmailSent: boolean;
  from: number;
  to: number;
};

/** The texts of an index that were sent without any fault or warning. */
export type KnownTexts = {
  /** The index. */
  bytes: Buffer;
  seed: Seed;
  /** For each person the length of the text that was sent; 0 if it can't be recognized. Four numbers of its digest. */
  lengths: Int32Array;
  digests: Uint32Array;
  /** For each person the length of the JSON as the service writes it, and how many JSON values it has. */
  canonical: Int32Array;
  values: Int32Array;
  /** Whether the user differs from what the text says. If so, the JSON as the service writes it is stored. */
  isChanged: Uint8Array;
  /** Where the entry of each person begins in `bytes`, and where the last one ends. */
  at: Int32Array;
  start: number;
  names: string[];
};

/** Returns the digest of an externalId in an index. */
export const externalIdDigest = (externalId: string): [number, number] =>
  new Digest().add(externalId).halves();

/** Where the text of a user is in what was sent. */
export type SentText = { view: DataView; from: number; to: number };

/** A user as a list gives it. `canonical`: how many bytes its JSON has. `isChanged`: whether this is another user than the text says. */
export type IndexedUser = { user: User; text: SentText | undefined; canonical: number; isChanged: boolean };

/** Writes an index. Texts that were known before can be added as they are. */
export class PeopleWriter {
  readonly #seed: Seed;
  readonly #known: KnownTexts | undefined;
  readonly #names: Map<string, number>;
  readonly #people: Bytes;
  readonly #digest = new Uint32Array(4);
  #count = 0;

  constructor(known: KnownTexts | undefined, count: number, seed: Seed) {
    this.#known = known;
    this.#seed = known?.seed ?? seed;
    this.#names = new Map(known?.names.map((name, i) => [name, i]));
    this.#people = new Bytes(count * 56);
  }

  /** Adds the people of the known texts from one position to another. */
  addKnown(from: number, to: number): void {
    const { bytes, at } = this.#known as KnownTexts;
    this.#people.addBytes(bytes.subarray(at[from], at[to]));
    this.#count += to - from;
  }

  add({ user, text, canonical, isChanged }: IndexedUser): void {
    const { externalId, email, accessInfo } = user;
    const people = this.#people;
    this.#digest.fill(0);
    if (text) digestText(text.view, text, this.#seed, { digest: this.#digest, at: 0 });
    for (const word of this.#digest) people.addWord(word);
    for (const word of externalIdDigest(externalId)) people.addWord(word);
    for (const word of ownDigest(user, false).state()) people.addWord(word);
    people.addNumber(text ? text.to - text.from : 0);
    people.addNumber(canonical * 4 + (email === undefined ? 0 : 1) + (isChanged || !text ? 2 : 0));
    people.addNumber(valuesOf(user));
    for (const kind of membershipKinds) {
      const listed = accessInfo?.[kind];
      people.addNumber(listed ? listed.length + 1 : 0);
      if (!listed) continue;
      for (const name of listed) {
        let known = this.#names.get(name);
        if (known === undefined) this.#names.set(name, (known = this.#names.size));
        people.addNumber(known);
      }
    }
    this.#count++;
  }

  /** Returns the index. `start`: where the first person is in the JSON of the part. */
  written(start: number): Buffer {
    const head = new Bytes(64 + this.#names.size * 16);
    head.addNumber(version);
    for (const word of this.#seed) head.addWord(word);
    for (const number of [start, this.#count, this.#names.size]) head.addNumber(number);
    for (const name of this.#names.keys()) head.addText(name);
    return Buffer.concat([head.written(), this.#people.written()]);
  }
}

/** Returns how many values the JSON of a user has, without unknown fields. */
function valuesOf(user: User): number {
  const { accessInfo = {}, externalProperties = {} } = user;
  let count = 1 + keysOf(user) + keysOf(accessInfo) + keysOf(externalProperties);
  for (const kind of membershipKinds) count += accessInfo[kind]?.length ?? 0;
  return count;
}

const keysOf = (object: object) => Object.keys(object).length;

/** What an index begins with. */
function headOf(bytes: ReadBytes): { seed: Seed; start: number; count: number; names: string[] } | undefined {
  if (bytes.number() !== version) return undefined;
  const seed: Seed = [bytes.word(), bytes.word(), bytes.word(), bytes.word()];
  const [start, count] = [bytes.number(), bytes.number()];
  return { seed, start, count, names: Array.from({ length: bytes.number() }, () => bytes.text()) };
}

/** Returns the texts of an index; undefined if it has another version, or many names of groups that no longer occur. */
export function knownTextsOf(index: Buffer): KnownTexts | undefined {
  const read = new ReadBytes(index);
  const head = headOf(read);
  if (!head || head.names.length > 4 * head.count + 1_000) return undefined;
  const { seed, start, count, names } = head;
  const numbers = () => new Int32Array(count);
  const [lengths, canonical, values, at] = [numbers(), numbers(), numbers(), new Int32Array(count + 1)];
  const [digests, isChanged] = [new Uint32Array(4 * count), new Uint8Array(count)];
  for (let i = 0; i < count; i++) {
    at[i] = read.position();
    for (let word = 0; word < 4; word++) digests[4 * i + word] = read.word();
    for (let word = 0; word < 4; word++) read.word();
    lengths[i] = read.number();
    const flagged = read.number();
    canonical[i] = flagged >>> 2;
    isChanged[i] = (flagged >>> 1) & 1;
    values[i] = read.number();
    for (const _ of membershipKinds) for (let left = read.number(); left > 1; left--) read.number();
  }
  at[count] = read.position();
  return { bytes: index, seed, lengths, digests, canonical, values, isChanged, at, start, names };
}

/** Returns the digest of the externalId of the person at a position of known texts. */
export function idDigestAt({ bytes, at }: KnownTexts, place: number): [number, number] {
  const from = (at[place] as number) + 16;
  return [bytes.readUInt32LE(from), bytes.readUInt32LE(from + 4)];
}

/**
 * Returns the people of an index, in their order; undefined if it has another version. `idOf`
 * returns the id of a group by its name; null if it has none yet.
 */
export function peopleOfIndex(
  index: Uint8Array,
  idOf: (name: string) => number | null,
): { count: number; next(): IndexedPerson } | undefined {
  const bytes = new ReadBytes(index);
  const head = headOf(bytes);
  if (!head) return undefined;
  let from = head.start;
  const ids = head.names.map(idOf);
  const next = (): IndexedPerson => {
    for (let word = 0; word < 4; word++) bytes.word();
    const externalId = [bytes.word(), bytes.word()] as const;
    const digest = Digest.from(bytes.word(), bytes.word());
    const [length, flagged] = [bytes.number(), bytes.number()];
    bytes.number();
    for (const kind of membershipKinds) {
      const listed = bytes.number();
      if (listed === 0) continue;
      const groups: (number | null)[] = [];
      for (let i = 1; i < listed; i++) groups.push(ids[bytes.number()] ?? null);
      addGroups(digest, kind, groups);
    }
    const to = from + ((flagged & 2) === 0 ? length : flagged >>> 2);
    const person = {
      externalId,
      fingerprint: digest.halves(),
      isEmailSent: (flagged & 1) === 1,
      from,
      to,
    };
    from = to + 1; // a comma
    return person;
  };
  return { count: head.count, next };
}
