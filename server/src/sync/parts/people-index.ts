// An index of the people in a part: for each person a fingerprint without groups, the groups by their position in a list of names, and how long
// the person's JSON is. With it, a commit compares a part without parsing it, and parses only people who may have changed. Pure.
import type { User } from '@soundings/contract/organization.ts';
import { membershipKinds } from '@soundings/contract/people/memberships.ts';
import { Digest } from '../../base/crypto/digest.ts';
import { addGroups, ownDigest } from '../repeated/fingerprints.ts';

/** Change it with the format, and with what `ownDigest` and `addGroups` digest. Indexes of another version are not read. */
const version = 1;

/** A person of an index. `externalId` and `fingerprint`: digests of 64 bits. `from`, `to`: where the person's JSON is in that of the part. */
export type IndexedPerson = {
  externalId: readonly [number, number];
  fingerprint: readonly [number, number];
  isEmailSent: boolean;
  from: number;
  to: number;
};

/** Returns the digest of an externalId in an index. */
export const externalIdDigest = (externalId: string): [number, number] =>
  new Digest().add(externalId).halves();

/** Returns the JSON of the lists of a part, and a function that returns the index of its people; null if it lists none. */
export function indexedJson({ users, groups }: { users?: User[]; groups?: unknown[] }): {
  json: string;
  index: () => Buffer | null;
} {
  if (!users) return { json: JSON.stringify({ groups }), index: () => null };
  const texts = users.map((user) => JSON.stringify(user));
  const start = groups ? `{"groups":${JSON.stringify(groups)},"users":[` : '{"users":[';
  return { json: `${start}${texts.join()}]}`, index: () => indexOf(users, texts, start.length) };
}

function indexOf(users: User[], texts: string[], start: number): Buffer {
  const names = new Map<string, number>();
  const people = new Bytes(users.length * 40);
  for (let i = 0; i < users.length; i++) {
    const { externalId, email, accessInfo } = users[i] as User;
    const [a, b] = externalIdDigest(externalId);
    const [c, d] = ownDigest(users[i] as User, false).state();
    people.addWord(a);
    people.addWord(b);
    people.addWord(c);
    people.addWord(d);
    people.addNumber((texts[i] as string).length * 2 + (email === undefined ? 0 : 1));
    for (const kind of membershipKinds) {
      const listed = accessInfo?.[kind];
      people.addNumber(listed ? listed.length + 1 : 0);
      if (!listed) continue;
      for (const name of listed) {
        let known = names.get(name);
        if (known === undefined) names.set(name, (known = names.size));
        people.addNumber(known);
      }
    }
  }
  const head = new Bytes(64 + names.size * 16);
  for (const number of [version, start, users.length, names.size]) head.addNumber(number);
  for (const name of names.keys()) head.addText(name);
  return Buffer.concat([head.written(), people.written()]);
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
  if (bytes.number() !== version) return undefined;
  let from = bytes.number();
  const count = bytes.number();
  const ids = Array.from({ length: bytes.number() }, () => idOf(bytes.text()));
  const next = (): IndexedPerson => {
    const externalId = [bytes.word(), bytes.word()] as const;
    const digest = Digest.from(bytes.word(), bytes.word());
    const lengthAndFlag = bytes.number();
    for (const kind of membershipKinds) {
      const length = bytes.number();
      if (length === 0) continue;
      const groups: (number | null)[] = [];
      for (let i = 1; i < length; i++) groups.push(ids[bytes.number()] ?? null);
      addGroups(digest, kind, groups);
    }
    const to = from + Math.floor(lengthAndFlag / 2);
    const person = {
      externalId,
      fingerprint: digest.halves(),
      isEmailSent: lengthAndFlag % 2 === 1,
      from,
      to,
    };
    from = to + 1; // a comma
    return person;
  };
  return { count, next };
}

/** Writes numbers and texts one after another. */
class Bytes {
  #bytes: Buffer;
  #length = 0;

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  /** Adds 32 bits. */
  addWord(word: number): void {
    const bytes = this.#room(4);
    const at = this.#length;
    bytes[at] = word & 255;
    bytes[at + 1] = (word >>> 8) & 255;
    bytes[at + 2] = (word >>> 16) & 255;
    bytes[at + 3] = word >>> 24;
    this.#length = at + 4;
  }

  /** Adds a number from 0 to 2³¹ − 1, in as many bytes as it needs. */
  addNumber(number: number): void {
    const bytes = this.#room(5);
    let at = this.#length;
    let rest = number;
    for (; rest > 127; rest >>>= 7) bytes[at++] = (rest & 127) | 128;
    bytes[at++] = rest;
    this.#length = at;
  }

  addText(text: string): void {
    const bytes = Buffer.from(text);
    this.addNumber(bytes.length);
    this.#length += bytes.copy(this.#room(bytes.length), this.#length);
  }

  written(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #room(more: number): Buffer {
    if (this.#length + more <= this.#bytes.length) return this.#bytes;
    const larger = Buffer.allocUnsafe(2 * this.#bytes.length + more);
    this.#bytes.copy(larger);
    this.#bytes = larger;
    return larger;
  }
}

/** Reads what `Bytes` has written. */
class ReadBytes {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  word(): number {
    this.#at += 4;
    return this.#bytes.readUInt32LE(this.#at - 4);
  }

  number(): number {
    let [number, factor] = [0, 1];
    for (;;) {
      const byte = this.#bytes[this.#at++] as number;
      number += (byte & 127) * factor;
      if (byte < 128) return number;
      factor *= 128;
    }
  }

  text(): string {
    const length = this.number();
    this.#at += length;
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }
}
