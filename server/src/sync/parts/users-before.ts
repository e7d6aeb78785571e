// What a commit has to know of all users of an account: who was last sent with what, and who can be removed. They are read as texts of many users,
// because the driver would take longer to make rows of a million than PostgreSQL takes to read them. Pure.
import { Digest } from '../../base/crypto/digest.ts';
import { type KnownUsers, newKnownUsers } from './known-users.ts';

/** `managed`: the ids of the users that pushes manage, in ascending order. */
export type UsersBefore = { known: KnownUsers | undefined; managed: Int32Array };

/** ASCII codes: " ", "0", "a", and what `selectUsersBefore` writes for a user that pushes manage and for a missing fingerprint. */
const [space, zero, lowerA, managedMark, unknownMark] = [0x20, 0x30, 0x61, 0x6d, 0x2d] as const;

/**
 * Reads users as `selectUsersBefore` yields them. `count`: about how many there are; any number works. Undefined: only those that pushes manage
 * are needed, and no one is known. Throws if a text can't be read.
 */
export async function readUsersBefore(
  texts: AsyncIterable<Buffer>,
  count: number | undefined,
): Promise<UsersBefore> {
  const known = count === undefined ? undefined : newKnownUsers(count);
  const managed: number[] = [];
  for await (const text of texts) {
    for (let at = 0; at < text.length;) {
      let id = 0;
      for (; isDigit(text[at]); at++) id = id * 10 + (text[at] as number) - zero;
      if (text[at++] === managedMark) managed.push(id);
      const fingerprint = text[at] === unknownMark ? undefined : halvesAt(text, at);
      at += fingerprint ? 14 : 1;
      let length = 0;
      for (; isDigit(text[at]); at++) length = length * 10 + (text[at] as number) - zero;
      const from = at + 1;
      if (id === 0 || text[at] !== space || from + length > text.length)
        throw new Error('The users of an account could not be read.');
      at = from + length;
      if (fingerprint) known?.add(id, new Digest().addUtf8(text, from, at).halves(), fingerprint);
    }
  }
  return { known, managed: Int32Array.from(managed).toSorted() };
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= zero && byte < zero + 10;

/** Returns both halves of a fingerprint, like `halvesOf`. */
const halvesAt = (text: Buffer, at: number): [number, number] => [halfAt(text, at), halfAt(text, at + 7)];

function halfAt(text: Buffer, at: number): number {
  let half = 0;
  for (let i = at; i < at + 7; i++) {
    const byte = text[i] as number;
    half = half * 36 + byte - (byte >= lowerA ? lowerA - 10 : zero);
  }
  return half;
}
