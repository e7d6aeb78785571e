// Reads lists of people, mostly without parsing them: a text that was sent before without a fault or a warning is neither parsed nor checked
// again, because its index entry depends on nothing else. Pure.
import { normalisePhone } from '@soundings/contract/formats.ts';
import { maxJsonValues } from '@soundings/contract/limits.ts';
import type { User } from '@soundings/contract/organization.ts';
import { readJson } from '../../base/json/escaped-keys.ts';
import { isJsonObject, type JsonValue, parseJson } from '../../base/json/json.ts';
import type { SentOrganization } from '../check.ts';
import { type Findings, newFindings } from '../findings.ts';
import { externalIdDigest, idDigestAt, type KnownTexts, PeopleWriter } from '../parts/people-index.ts';
import type { Seed } from './text-digest.ts';
import { splitUsers, type SplitUsers, withoutKnown } from './split-users.ts';

type Read = (value: JsonValue, findings: Findings) => SentOrganization | undefined;

/**
 * Lists that were read. `organization`: without the users whose texts are known. `known`: undefined if all were parsed. `split`: where the texts
 * are; undefined if that is not known. `isParsed`: whether a user, by the position in `organization`, is as its text says.
 */
export type ReadLists = {
  json: Uint8Array;
  organization: SentOrganization;
  split: SplitUsers | undefined;
  known: KnownTexts | undefined;
  isParsed: (i: number) => boolean;
};

/** Reads lists with the known texts. Returns undefined if none is known, or if there is any fault or warning: then parse everything. */
export function readByTexts(
  json: Uint8Array,
  known: KnownTexts | undefined,
  read: Read,
): ReadLists | undefined {
  if (!known) return undefined;
  const split = splitUsers(json, known);
  if (!split?.known.some((place) => place >= 0)) return undefined;
  const reduced = withoutKnown(json, split);
  const places = split.known.filter((place) => place >= 0);
  const values = places.reduce((sum, place) => sum + (known.values[place] as number), 0);
  // Each of the other values takes a byte or more.
  if (values + reduced.length > maxJsonValues) return undefined;
  const parsed = parseJson(reduced);
  const users = 'value' in parsed ? usersIn(parsed.value) : undefined;
  if (!users || users.length !== split.known.length) return undefined;
  if (!split.known.every((place, i) => place < 0 || users[i] === 0)) return undefined;
  const others = users.filter((_, i) => (split.known[i] as number) < 0);
  const value = (parsed as { value: { data: object } }).value;
  const findings = newFindings();
  const organization = read({ ...value, data: { ...value.data, users: others } } as JsonValue, findings);
  if (!organization || findings.faultCount() > 0 || findings.warnings().length > 0) return undefined;
  const lists = { json, organization, split, known, isParsed: isParsedIn(organization, others) };
  return isSameList(lists) || hasDifferentIds(lists) ? lists : undefined;
}

/** Whether all texts are known, in the same order, and no others. */
const isSameList = ({ known, split }: ReadLists): boolean =>
  known?.lengths.length === split?.known.length && split?.known.every((place, i) => place === i) === true;

/**
 * Returns whether all users have different externalIds, by their digests. Those of the known list are different, and so are those of the users who
 * were parsed, because both were checked.
 */
function hasDifferentIds({ organization, known, split }: ReadLists): boolean {
  const { lengths } = known as KnownTexts;
  // 53 bits are enough: if two are the same by chance, everything is parsed.
  const numberOf = ([a, b]: [number, number]) => (b & 0x1f_ffff) * 2 ** 32 + a;
  const parsed = new Set(
    organization.data.users?.map(({ externalId }) => numberOf(externalIdDigest(externalId))),
  );
  const isUsed = new Uint8Array(lengths.length);
  for (const place of split?.known ?? []) {
    if (place < 0) continue;
    if (isUsed[place] === 1) return false;
    isUsed[place] = 1;
    if (parsed.size > 0 && parsed.has(numberOf(idDigestAt(known as KnownTexts, place)))) return false;
  }
  return true;
}

/** Parses lists and checks everything. Returns undefined if they can't be read. */
export function readParsed(json: Uint8Array, read: Read, findings: Findings): ReadLists | undefined {
  const parsed = parseJson(json);
  if ('fault' in parsed) {
    findings.fault(parsed.fault);
    return undefined;
  }
  const organization = read(parsed.value, findings);
  if (!organization) return undefined;
  const users = usersIn(parsed.value) ?? [];
  const isClean = findings.faultCount() === 0 && findings.warnings().length === 0;
  const found = isClean ? splitUsers(json) : undefined;
  const split = found?.from.length === users.length ? found : undefined;
  return { json, organization, split, known: undefined, isParsed: isParsedIn(organization, users) };
}

/** Returns the list of users in a request; undefined if it has none. */
function usersIn(value: JsonValue): JsonValue[] | undefined {
  const data = isJsonObject(value) ? value['data'] : undefined;
  const users = isJsonObject(data) ? data['users'] : undefined;
  return Array.isArray(users) ? users : undefined;
}

const isParsedIn =
  ({ data }: SentOrganization, parsed: readonly unknown[]) =>
  (i: number): boolean =>
    data.users?.[i] === parsed[i];

/** Returns how many users the lists have, with those whose texts are known. */
export const userCountOf = ({ organization, known, split }: ReadLists): number =>
  known ? (split as SplitUsers).known.length : (organization.data.users?.length ?? 0);

/** Returns what gives each user of the lists, by the position in them. Those whose texts are known are parsed. */
export function usersOf({ json, organization, known, split }: ReadLists): (i: number) => User {
  const users = organization.data.users ?? [];
  if (!known || !split) return (i) => users[i] as User;
  let next = 0;
  const places = split.known.map((place) => (place < 0 ? next++ : -1));
  const text = new TextDecoder();
  return (i) => {
    if ((places[i] as number) >= 0) return users[places[i] as number] as User;
    const user = readJson(text.decode(json.subarray(split.from[i], split.to[i]))) as User;
    // The only value that is read as another one. The number is valid, because the text has been checked.
    return typeof user.phone === 'string' && known.isChanged[split.known[i] as number] === 1
      ? { ...user, phone: normalisePhone(user.phone) ?? user.phone }
      : user;
  };
}

/** The users of lists as a part stores them: their JSON, and how long it would be if the service had written all of it. */
type StoredUsers = { chunks: Uint8Array[]; canonical: number };

/**
 * Returns the index of the people in lists, and their JSON if they are to be stored. `seed`: of the digests, if no texts are known. `start`: where
 * the first one is in the stored JSON.
 */
export function indexOfLists(
  lists: ReadLists,
  { isStored, seed, start }: { isStored: boolean; seed: Seed; start: number },
): { index: Buffer; stored: StoredUsers } {
  const { json, organization, split, known, isParsed } = lists;
  const users = organization.data.users ?? [];
  const view = new DataView(json.buffer, json.byteOffset, json.byteLength);
  const count = userCountOf(lists);
  // The index of the same list is the known one.
  const isSame = known !== undefined && start === known.start && isSameList(lists);
  const writer = isSame ? undefined : new PeopleWriter(known, count, seed);
  const userOf = usersOf(lists);
  const content = new Joined(json);
  let canonicalSum = Math.max(0, count - 1);
  let added = 0; // the position up to which known texts are in the index
  for (let [i, parsed] = [0, 0]; i < count; i++) {
    const place = split?.known[i] ?? -1;
    const [from, to] = [split?.from[i] ?? -1, split?.to[i] ?? -1];
    if (known && place >= 0) {
      if (writer && i >= added) {
        added = endOfRun(split as SplitUsers, i);
        writer.addKnown(place, place + added - i);
      }
      canonicalSum += known.canonical[place] as number;
      if (isStored && known.isChanged[place] === 1) content.addJson(JSON.stringify(userOf(i)));
      else if (isStored) content.addText(from, to);
      continue;
    }
    const isChanged = !isParsed(parsed);
    const user = users[parsed++] as User;
    const written = isStored ? JSON.stringify(user) : '';
    const canonical = Buffer.byteLength(written);
    writer?.add({ user, text: split && { view, from, to }, canonical, isChanged });
    canonicalSum += canonical;
    if (isStored && (isChanged || !split)) content.addJson(written);
    else if (isStored) content.addText(from, to);
  }
  return {
    index: writer ? writer.written(start) : (known as KnownTexts).bytes,
    stored: { chunks: content.joined(), canonical: canonicalSum },
  };
}

/** Returns the position up to which texts follow one another as in the known list. */
function endOfRun({ known }: SplitUsers, start: number): number {
  let end = start + 1;
  while (known[end] === (known[end - 1] as number) + 1) end++;
  return end;
}

/** Joins texts with commas. Those that follow one another in `json`, with nothing but a comma between them, are copied together. */
class Joined {
  readonly #json: Uint8Array;
  readonly #chunks: Uint8Array[] = [];
  #from = 0;
  #to = -1;

  constructor(json: Uint8Array) {
    this.#json = json;
  }

  addText(from: number, to: number): void {
    if (from !== this.#to + 1 || this.#json[this.#to] !== 0x2c) {
      this.#end();
      this.#from = from;
    }
    this.#to = to;
  }

  addJson(json: string): void {
    this.#end();
    this.#push(Buffer.from(json));
  }

  joined(): Uint8Array[] {
    this.#end();
    return this.#chunks;
  }

  #end(): void {
    if (this.#to >= 0) this.#push(this.#json.subarray(this.#from, this.#to));
    this.#to = -1;
  }

  #push(chunk: Uint8Array): void {
    if (this.#chunks.length > 0) this.#chunks.push(separator);
    this.#chunks.push(chunk);
  }
}

const separator = Buffer.from(',');
