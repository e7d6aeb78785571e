// Splits lists into parts as JSON, and decides whether one request can have them.
import type { components } from './api-types.ts';

type Schemas = components['schemas'];
export type User = Schemas['User'];
export type OrganizationGroup = Schemas['OrganizationGroup'];

/** The entries of a list. What yields them one after another is read once, and never in memory as a whole. */
export type Entries<T> = T[] | AsyncIterable<T>;

/** Complete lists: managed users or groups that are not in their list are removed. Without a list, they stay as they are. */
export type OrganizationList = { users?: Entries<User>; groups?: Entries<OrganizationGroup> };

/** A part of the lists: the entries of a list as JSON, separated by commas. Empty texts are of empty lists. */
export type ListPart = { list: 'users' | 'groups'; json: string; count: number };

/** What is sent: a JSON text for one request, or parts. */
export type Sendable = { whole: string } | { parts: AsyncIterable<ListPart> };

/** The limits of a part: 20,000 entries and 16 MB. A character has at most three bytes. */
const [entriesOfPart, charactersOfPart] = [20_000, 5_000_000];
/**
 * What is sent as one request. The service reads 64 MB and five million values in a request, and keeps all of it in memory: a hundred thousand
 * users have about two million values.
 */
const [entriesOfRequest, bytesOfRequest] = [100_000, 64 * 1024 * 1024 - 4096];

/** Returns lists as one request if they fit, and otherwise in parts. `isLarge`: they are sent in parts in any case. */
export async function sendableOf(list: OrganizationList, isLarge: boolean): Promise<Sendable> {
  const { users, groups } = list;
  // Other lists are errors, which the service describes.
  if (!isList(users) || !isList(groups)) return { whole: JSON.stringify(list) };
  if (!isLarge && Array.isArray(users ?? []) && Array.isArray(groups ?? [])) {
    const count = ((users as User[])?.length ?? 0) + ((groups as OrganizationGroup[])?.length ?? 0);
    const whole = count <= entriesOfPart ? JSON.stringify(list) : '';
    if (whole !== '' && bytesIn(whole) <= bytesOfRequest) return { whole };
  }
  return isLarge ? { parts: partsOf(list) } : gathered(partsOf(list));
}

const isList = (value: unknown): boolean =>
  value === undefined || Array.isArray(value) || Symbol.asyncIterator in Object(value);

const encoder = new TextEncoder();
const bytesIn = (text: string) => encoder.encode(text).length;

/** Reads parts until they no longer fit into one request. */
async function gathered(parts: AsyncGenerator<ListPart, void>): Promise<Sendable> {
  const read: ListPart[] = [];
  let [count, bytes] = [0, 0];
  for (;;) {
    const { value: part } = await parts.next();
    if (!part) return { whole: joined(read) };
    read.push(part);
    count += part.count;
    bytes += bytesIn(part.json);
    if (count > entriesOfRequest || bytes > bytesOfRequest) break;
  }
  return {
    parts: (async function* () {
      yield* read.splice(0);
      yield* parts;
    })(),
  };
}

function joined(parts: ListPart[]): string {
  const lists = (['groups', 'users'] as const).flatMap((list) => {
    const own = parts.filter((part) => part.list === list);
    return own.length === 0 ? [] : [`"${list}":[${own.map(({ json }) => json).join(',')}]`];
  });
  return `{${lists.join(',')}}`;
}

/** Yields the parts of lists, groups first. An empty list is a part, too: it removes all of its kind. */
async function* partsOf({ groups, users }: OrganizationList): AsyncGenerator<ListPart, void> {
  for (const [list, entries] of Object.entries({ groups, users }) as [ListPart['list'], Entries<object>][]) {
    if (entries === undefined) continue;
    let [texts, characters, isFirst] = [[] as string[], 0, true];
    const part = (): ListPart => {
      const ended = { list, json: texts.join(','), count: texts.length };
      [texts, characters, isFirst] = [[], 0, false];
      return ended;
    };
    for await (const entry of entries) {
      const text = JSON.stringify(entry) ?? 'null'; // as in an array
      const isFull = texts.length === entriesOfPart || characters + text.length > charactersOfPart;
      if (isFull && texts.length > 0) yield part();
      texts.push(text);
      characters += text.length + 1;
    }
    if (texts.length > 0 || isFirst) yield part();
  }
}
