// Recognizes the header row of a sheet: whether it lists users or groups, and what each header means. Pure.
import { maxNameLength } from '@soundings/contract/limits.ts';
import { membershipKinds } from '@soundings/contract/people/memberships.ts';
import type { Cell, Sheet } from '../sheets/sheet.ts';
import {
  type HeaderMeaning,
  keyOf,
  type Kind,
  type Meaning,
  newMeaning,
  vocabularies,
} from './header-aliases.ts';
import { textOf } from './values.ts';

/** What the columns of sheets with certain headers mean, as an administrator has mapped them. */
export type HeaderMapping = {
  kind: Kind;
  /** `meaning` is a field, `attribute:` and a name, or `ignore`. */
  columns: readonly { header: string; meaning: string }[];
};

/** The mappings of an account, by `headersKey`. */
export type Mappings = ReadonlyMap<string, HeaderMapping>;

/** Returns a key that is equal for sheets with the same headers, in any order. */
export const headersKey = (headers: readonly string[]): string => JSON.stringify(headers.toSorted());

/** The attributes of an account, by name and by the key of the name. A key that several attributes share has null. */
export type Attributes = { exact: ReadonlySet<string>; byKey: ReadonlyMap<string, string | null> };

export function attributesBy(names: readonly string[]): Attributes {
  const byKey = new Map<string, string | null>();
  for (const name of names) byKey.set(keyOf(name), byKey.has(keyOf(name)) ? null : name);
  byKey.delete('');
  return { exact: new Set(names), byKey };
}

/**
 * Returns what a header means: first a field by its exact name, then an attribute, then the usual names. Headers of lists may be
 * numbered: Department 1, Department 2.
 */
function meaningOf(header: string, kind: Kind, attributes: Attributes): Meaning | undefined {
  const key = keyOf(header);
  const { own, usual } = vocabularies[kind];
  const field = own.get(key);
  if (field) return field;
  const attribute = attributes.exact.has(header) ? header : attributes.byKey.get(key);
  if (kind === 'users' && attribute) return { ...newMeaning('attribute'), attribute };
  const [number] = /\d+/.exec(key) ?? [];
  if (kind === 'groups' || usual.has(key) || number === undefined) return usual.get(key);
  const plain = key.replace(number, '');
  const numbered = own.get(plain) ?? usual.get(plain);
  return numbered && listMeanings.includes(numbered.name)
    ? { ...numbered, number: String(Number(number)) }
    : undefined;
}

/** The meanings that several columns may share. */
const listMeanings: HeaderMeaning[] = ['group', 'groupId', 'groupName', ...membershipKinds];

type Header = { index: number; text: string; meaning: Meaning | undefined };

/** Returns the texts of a row that can be headers, with their column indexes. */
export const headerTexts = (row: Cell[]): { index: number; text: string }[] =>
  row.flatMap((cell, index) => {
    const text = typeof cell === 'string' && cell.length <= maxHeaderLength ? textOf(cell) : '';
    return text === '' ? [] : [{ index, text }];
  });

export const headersOf = (row: Cell[], kind: Kind, attributes: Attributes): Header[] =>
  headerTexts(row).map((header) => ({ ...header, meaning: meaningOf(header.text, kind, attributes) }));

/** Longer texts are not headers. Leaves room for the longest attribute name. */
const maxHeaderLength = 2 * maxNameLength;

const hasAny = (headers: Header[], ...meanings: HeaderMeaning[]) =>
  headers.some(({ meaning }) => meaning && meanings.includes(meaning.name));

const groupIds: HeaderMeaning[] = ['externalId', 'id', 'groupId', 'name', 'groupName', 'group'];
export const userIds: HeaderMeaning[] = ['externalId', 'employeeId', 'id'];

/** Meanings that belong to people. Lists of other things may have such headers too, so an id column must be present as well. */
const personal: HeaderMeaning[] = [
  ...(['email', 'phone', 'timezone', 'language', 'role', 'isManager'] as const),
  ...membershipKinds,
];

export type RecognizedHeaders = { index: number; kind: Kind; headers: Header[]; hasId: boolean };

/** Recognizes a header row. At least two headers must be known, and they must show whether the sheet lists users or groups. */
function recognize(row: Cell[], index: number, attributes: Attributes): RecognizedHeaders | undefined {
  const read = (kind: Kind, ids: HeaderMeaning[]): RecognizedHeaders | undefined => {
    const headers = headersOf(row, kind, attributes);
    const isEnough = headers.filter(({ meaning }) => meaning).length > 1;
    return isEnough ? { index, kind, headers, hasId: hasAny(headers, ...ids) } : undefined;
  };
  const users = read('users', userIds);
  const groups = read('groups', groupIds);
  const { headers: ofUsers = [] } = users ?? {};
  const { headers: ofGroups = [] } = groups ?? {};
  if (hasAny(ofUsers, 'employeeId', 'firstName', 'lastName', 'fullName')) return users;
  if (hasAny(ofGroups, 'parent', 'parentName')) return groups;
  if (users?.hasId && hasAny(ofUsers, ...personal)) return users;
  const isOurs = hasAny(ofGroups, 'externalId') && hasAny(ofGroups, 'name');
  return isOurs || hasAny(ofGroups, 'groupId', 'groupName') ? groups : undefined;
}

/** Recognizes a header row that the account has mapped. */
function recognizeMapped(
  row: Cell[],
  index: number,
  attributes: Attributes,
  mappings: Mappings,
): RecognizedHeaders | undefined {
  const texts = headerTexts(row);
  const mapping = mappings.get(headersKey(texts.map(({ text }) => text)));
  if (!mapping) return undefined;
  const left = Map.groupBy(mapping.columns, ({ header }) => header);
  const headers = texts.flatMap((header) => {
    const meaning = left.get(header.text)?.shift()?.meaning ?? 'ignore';
    return meaning === 'ignore' ? [] : [{ ...header, meaning: meaningBy(meaning, attributes) }];
  });
  return { index, kind: mapping.kind, headers, hasId: true };
}

/** Returns undefined for an attribute that is no longer defined. */
function meaningBy(mapped: string, { exact }: Attributes): Meaning | undefined {
  if (!mapped.startsWith('attribute:')) return newMeaning(mapped as HeaderMeaning);
  const attribute = mapped.slice('attribute:'.length);
  return exact.has(attribute) ? { ...newMeaning('attribute'), attribute } : undefined;
}

/** The header row must be within this many rows. A title and blank rows may come first. */
export const rowsToHeaders = 50;

/**
 * Returns the header row of a sheet: a mapped one, or else the first recognized row with an id column, or else the first
 * recognized row.
 */
export function headersIn(
  { rows }: Sheet,
  attributes: Attributes,
  mappings: Mappings,
): RecognizedHeaders | undefined {
  const count = Math.min(rows.length, rowsToHeaders);
  for (let index = 0; mappings.size > 0 && index < count; index++) {
    const mapped = recognizeMapped(rows[index] as Cell[], index, attributes, mappings);
    if (mapped) return mapped;
  }
  let first: RecognizedHeaders | undefined;
  for (let index = 0; index < count; index++) {
    const recognized = recognize(rows[index] as Cell[], index, attributes);
    if (recognized?.hasId) return recognized;
    first ??= recognized;
  }
  return first;
}

/** Returns the index of the first row of data. Some programs write two header rows: field names, then their labels. */
export function startOf({ rows }: Sheet, index: number, kind: Kind): number {
  const meaningsIn = (row: Cell[] = []) =>
    new Map(headersOf(row, kind, attributesBy([])).map(({ index: at, meaning }) => [at, meaning?.name]));
  const labels = meaningsIn(rows[index + 1]);
  const known = [...meaningsIn(rows[index])].filter(([, name]) => name !== undefined);
  const same = known.filter(([at, name]) => labels.get(at) === name);
  return same.length > 2 && same.length > known.length / 2 ? index + 2 : index + 1;
}
