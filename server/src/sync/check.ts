// Checks what can be checked without the account: the shape of an organization request, its types and the format of each
// value (§2.2, decisions B2 to B5, B10, B11). Pure. Checks that depend on the account are in match.ts.
import { hasTrunkZero, normalisePhone } from '@soundings/contract/formats.ts';
import { maxDescriptionLength, maxNameLength } from '@soundings/contract/limits.ts';
import {
  AccessInfo,
  Data,
  fieldsOf,
  Organization,
  OrganizationGroup,
  Settings,
  User,
} from '@soundings/contract/organization.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import {
  emailFault,
  externalIdFault,
  fieldNameAt,
  type FieldFault,
  languageFault,
  lengthFault,
  missing,
  notOneOf,
  phoneFault,
  timeZoneFault,
} from '../base/field-faults.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts';
import { didYouMean, quote } from '../base/text.ts';
import { type Findings, standIn } from './findings.ts';

const settingsShape = splitSchema(Settings);
const userShape = splitSchema(User);
const groupShape = splitSchema(OrganizationGroup);
const accessFields = splitSchema(AccessInfo).fields;

/** A request that was read, with the position of each externalId in its list. */
export type SentOrganization = Organization & {
  places: Record<'users' | 'groups', ReadonlyMap<string, number>>;
  /** Lists that only add and update: users and groups that are not listed stay. Only files can have such lists. */
  partial?: readonly ('users' | 'groups')[];
  /** The position of a user of this list in the whole one, if this is only a part of it (`positionOf`). */
  positions?: (i: number) => number;
  /** The ids of further users who are listed and whose data is as last sent. They are not in `data`. */
  unchanged?: ReadonlySet<number>;
  /** Whether the directory that provisions the account over SCIM sends it. It changes only its own people and groups. */
  isDirectory?: boolean;
  /** The externalIds that are removed although the lists are partial. Only the directory sends them. */
  removes?: Record<'users' | 'groups', readonly string[]>;
};

/** Returns the position in the whole list of users of the one at this position. */
export const positionOf = ({ positions }: SentOrganization, i: number): number => positions?.(i) ?? i;

/**
 * Reads a parsed body as an organization request and adds all faults and warnings to `findings`. If there are faults, the
 * result can still be matched, to find further faults, but not planned. Returns undefined if the lists cannot be read. Phone
 * numbers are returned in E.164; everything else exactly as sent.
 */
export function readOrganization(body: JsonValue, findings: Findings): SentOrganization | undefined {
  if (!isObject(body, '', findings)) return undefined;
  refuseUnknown(body, fieldsOf(Organization), '', findings);
  const { settings = {}, data = {} } = body;
  const organization: SentOrganization = {
    settings: {},
    data: {},
    places: { users: new Map(), groups: new Map() },
  };
  if (isObject(settings, '/settings', findings)) {
    refuseUnknown(settings, fieldsOf(Settings), '/settings', findings);
    organization.settings = readFields(settings, settingsShape, { path: '/settings' }, findings);
  }
  if (!isObject(data, '/data', findings)) return undefined;
  refuseUnknown(data, fieldsOf(Data), '/data', findings);
  const { groups, users } = data;
  const isGroups = groups === undefined || isArray(groups, '/data/groups', findings);
  const isUsers = users === undefined || isArray(users, '/data/users', findings);
  if (groups && isGroups) {
    organization.data.groups = readList(groups, '/data/groups', groupShape, readGroup, findings);
    organization.places.groups = placesOf(organization.data.groups, '/data/groups', findings);
  }
  if (users && isUsers) {
    organization.data.users = readList(users, '/data/users', userShape, readUser, findings);
    organization.places.users = placesOf(organization.data.users, '/data/users', findings);
  }
  return isGroups && isUsers ? organization : undefined;
}

function readList<T extends { externalId: string }>(
  list: JsonValue[],
  path: string,
  { check }: Shape,
  read: (value: JsonObject, path: string, findings: Findings) => T,
  findings: Findings,
): T[] {
  return list.map((value, i) => {
    if (onlyCount(check, value, findings)) return countedEntry as T;
    const place = `${path}/${i}`;
    const entry = isObject(value, place, findings, entryAt(place)) ? read(value, place, findings) : ({} as T);
    // An entry without an externalId keeps its position in the list under a stand-in that no real entry can have.
    return entry.externalId === undefined ? { ...entry, externalId: standIn(i) } : entry;
  });
}

/** Takes the position of an invalid entry that is only counted. */
const countedEntry = { externalId: standIn(0) };

/** Once no more faults can be listed, counts an invalid entry and returns true. */
function onlyCount(check: SchemaCheck, value: JsonValue, findings: Findings): boolean {
  if (!findings.isFull() || check.Check(value)) return false;
  findings.fault({ type: 'wrong type', message: '' });
  return true;
}

function readGroup(value: JsonObject, path: string, findings: Findings): OrganizationGroup {
  const group = (
    groupShape.check.Check(value) ? value : readFields(value, groupShape, { path, ...idOf(value) }, findings)
  ) as OrganizationGroup;
  const { externalId, name, description } = group;
  const report = reporter(findings, path, externalId);
  warnUnknown(value, groupShape.fields, path, findings);
  if (externalId !== undefined) report('externalId', externalIdFault(externalId));
  if (name !== undefined) report('name', lengthFault('name', name, maxNameLength));
  if (typeof description === 'string') {
    report('description', lengthFault('description', description, maxDescriptionLength));
  }
  return group;
}

function readUser(value: JsonObject, path: string, findings: Findings): User {
  const user = userShape.check.Check(value)
    ? (value as unknown as User)
    : withoutGuesses(value, readFields(value, userShape, { path, ...idOf(value) }, findings));
  const { externalId, firstName, lastName, email, timezone, language, phone, accessInfo } = user;
  const report = reporter(findings, path, externalId);
  warnUnknown(value, userShape.fields, path, findings);
  if (accessInfo) warnUnknown(accessInfo as JsonObject, accessFields, `${path}/accessInfo`, findings);
  if (externalId !== undefined) report('externalId', externalIdFault(externalId));
  if (firstName !== undefined) report('firstName', lengthFault('firstName', firstName, maxNameLength));
  if (lastName !== undefined) report('lastName', lengthFault('lastName', lastName, maxNameLength));
  const wrongEmail = typeof email === 'string' ? emailFault(email) : undefined;
  report('email', wrongEmail);
  if (timezone !== undefined) report('timezone', timeZoneFault(timezone));
  if (language !== undefined) report('language', languageFault(language));
  const normal = typeof phone === 'string' ? normalisePhone(phone) : phone;
  if (typeof phone === 'string' && normal === undefined) report('phone', phoneFault(phone));
  if (typeof phone === 'string' && normal !== undefined && hasTrunkZero(phone)) {
    // The number is not quoted: runs keep their warnings, even after the user is removed.
    findings.warn(() => ({
      type: 'trunk zero',
      message: 'The zero in parentheses is only dialled within the country. It was removed from the number.',
      path: `${path}/phone`,
      externalId,
    }));
  }
  if (normal === phone && !wrongEmail) return user;
  return { ...user, ...(wrongEmail && { email: null }), ...(normal !== undefined && { phone: normal }) };
}

/**
 * Returns a user with faults, adjusted so that one fault doesn't cause another. An invalid address counts as null, not as the
 * user's previous address. An invalid role counts as Administrator, so that the check for the last administrator passes.
 */
function withoutGuesses(sent: JsonObject, read: JsonObject): User {
  const user = read as unknown as User;
  const { email, accessInfo } = sent;
  const isRoleSent =
    accessInfo !== undefined &&
    (kindOf(accessInfo) !== 'an object' || Object.hasOwn(accessInfo as object, 'role'));
  return {
    ...user,
    ...(email !== undefined && user.email === undefined && { email: null }),
    ...(isRoleSent && { accessInfo: { role: 'Administrator', ...user.accessInfo } }),
  };
}

/** A schema, split up so that each part of a value can be checked separately. */
type Shape = {
  check: SchemaCheck;
  fields: ReadonlyMap<string, Shape & { isRequired: boolean }>;
  /** For an array: the shape of each entry. */
  items: Shape | undefined;
  /** For an object: the shape of each value whose key is not in `fields`. */
  rest: Shape | undefined;
};
type SchemaCheck = { Check(value: unknown): boolean; Errors(value: unknown): SchemaError[] };
type SchemaError = { keyword: string; schemaPath: string; params: Record<string, unknown> };

/** Splits up a schema. */
export function splitSchema(schema: TSchema): Shape {
  const { properties, required, items, additionalProperties } = schema as {
    properties?: Record<string, TSchema>;
    required?: string[];
    items?: TSchema;
    additionalProperties?: TSchema | boolean;
  };
  const fields = Object.entries(properties ?? {}).map(
    ([name, one]) => [name, { ...splitSchema(one), isRequired: required?.includes(name) ?? false }] as const,
  );
  return {
    check: Compile(schema),
    fields: new Map(fields),
    items: items && splitSchema(items),
    rest: typeof additionalProperties === 'object' ? splitSchema(additionalProperties) : undefined,
  };
}

type About = { path: string; externalId?: string };

/** Returns the valid parts of an object. Adds a fault for each invalid part and for each missing required field. */
export function readFields(object: JsonObject, shape: Shape, about: About, findings: Findings): JsonObject {
  const read: JsonObject = {};
  for (const [name, { isRequired }] of shape.fields) {
    if (!isRequired || Object.hasOwn(object, name)) continue;
    findings.fault({ ...about, ...missing(name), path: `${about.path}/${name}` });
  }
  const names = shape.rest ? Object.keys(object) : shape.fields.keys();
  for (const name of names) {
    const part = shape.fields.get(name) ?? shape.rest;
    if (!part || !Object.hasOwn(object, name)) continue;
    const value = readPart(
      object[name] as JsonValue,
      part,
      { ...about, path: `${about.path}/${pointer(name)}` },
      findings,
    );
    // defineProperty instead of assignment, because the name may be __proto__.
    if (value !== undefined) Object.defineProperty(read, name, { value, enumerable: true });
  }
  return read;
}

/** Returns the valid parts of a value, or undefined if there are none. Invalid array entries leave a gap, so the others keep their positions. */
function readPart(
  value: JsonValue,
  shape: Shape,
  about: About,
  findings: Findings,
  name = nameAt(about.path),
): JsonValue | undefined {
  if (shape.check.Check(value)) return value;
  if (shape.items && Array.isArray(value)) {
    const read: JsonValue[] = Array.from({ length: value.length });
    for (const [i, entry] of value.entries()) {
      const path = `${about.path}/${i}`;
      const part = readPart(entry, shape.items, { ...about, path }, findings, entryAt(path));
      if (part !== undefined) read[i] = part;
    }
    return read;
  }
  const hasParts = shape.fields.size > 0 || shape.rest !== undefined;
  if (hasParts && kindOf(value) === 'an object') {
    return readFields(value as JsonObject, shape, about, findings);
  }
  findings.fault(() => ({ ...about, ...explain(shape.check, value, about.path, name) }));
  return undefined;
}

type Reporter = (field: string, fault: FieldFault | undefined) => void;

/** Returns a function that adds the fault of a field of one entry, if there is one. */
function reporter(findings: Findings, path: string, externalId: string | undefined): Reporter {
  const about = externalId === undefined ? {} : { externalId };
  return (field, fault) => {
    if (fault) findings.fault({ ...fault, path: `${path}/${field}`, ...about });
  };
}

/** Returns the fault for an externalId that is used at two positions of a list. */
export const duplicateFault = (
  externalId: string,
  path: string,
  first: number,
  second: number,
): Detail & { type: DetailType } => ({
  type: 'duplicate externalId',
  message: `The externalId ${quote(externalId)} is already used at ${path}/${first}. Send each externalId only once.`,
  path: `${path}/${second}/externalId`,
  externalId,
});

/** Returns the position of each externalId in its list. Adds a fault for each duplicate (decision B10). */
function placesOf(list: { externalId: string }[], path: string, findings: Findings): Map<string, number> {
  const places = new Map<string, number>();
  for (let i = 0; i < list.length; i++) {
    const externalId = list[i]!.externalId;
    if (list[i] === countedEntry) continue;
    const first = places.get(externalId);
    if (first === undefined) {
      places.set(externalId, i);
      continue;
    }
    findings.fault(() => duplicateFault(externalId, path, first, i));
  }
  return places;
}

/** Adds a fault for each unknown field at the top level and in the settings, so that a misspelled limit is never ignored (decision B4). */
export function refuseUnknown(object: JsonObject, allowed: string[], path: string, findings: Findings): void {
  for (const key of Object.keys(object)) {
    if (allowed.includes(key)) continue;
    findings.fault(() => ({
      type: 'unknown field',
      message: `Unknown field ${quote(key)}.${didYouMean(key, allowed)} Allowed fields: ${allowed.join(', ')}.`,
      path: `${path}/${pointer(key)}`,
    }));
  }
}

function warnUnknown(object: JsonObject, known: Shape['fields'], path: string, findings: Findings): void {
  for (const key of Object.keys(object)) {
    if (known.has(key)) continue;
    findings.warn(() => ({
      type: 'unknown field',
      message: `Unknown field ${quote(key)} was ignored.${didYouMean(key, known.keys())}`,
      path: `${path}/${pointer(key)}`,
    }));
  }
}

/** Returns whether a value is an object, and adds a fault if it is not. */
export function isObject(
  value: JsonValue,
  path: string,
  findings: Findings,
  name = nameAt(path),
): value is JsonObject {
  if (isJsonObject(value)) return true;
  findings.fault({
    type: 'wrong type',
    message: `${name} must be an object, not ${kindOf(value)}.`,
    path,
  });
  return false;
}

function isArray(value: JsonValue, path: string, findings: Findings): value is JsonValue[] {
  if (Array.isArray(value)) return true;
  findings.fault({
    type: 'wrong type',
    message: `${nameAt(path)} must be an array, not ${kindOf(value)}.`,
    path,
  });
  return false;
}

/** Describes how a value differs from its schema: what it is and what it must be. */
function explain(check: SchemaCheck, value: JsonValue, path: string, name: string): FieldFault {
  const error = check.Errors(value).find(({ schemaPath }) => !schemaPath.includes('/anyOf/'));
  const { keyword, params } = error as SchemaError;
  if (keyword === 'enum') {
    return notOneOf(fieldNameAt(path), params['allowedValues'] as string[]);
  }
  if (keyword === 'minimum' || keyword === 'maximum') {
    return { type: 'out of range', message: `${name} must be ${params['comparison']} ${params['limit']}.` };
  }
  const wanted =
    keyword === 'anyOf' ? 'a string or null' : (article[String(params['type'])] ?? 'another type');
  // 1.5 is a number, too.
  const found = wanted === article['integer'] && typeof value === 'number' ? value : kindOf(value);
  return { type: 'wrong type', message: `${name} must be ${wanted}, not ${found}.` };
}

const article: Record<string, string> = {
  string: 'a string',
  boolean: 'true or false',
  integer: 'a whole number',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const nameAt = (path: string) => (path === '' ? 'The body' : quote(fieldNameAt(path)));
/** An entry of a list has a position instead of a name. */
const entryAt = (path: string) => `The entry at ${path}`;
const pointer = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');

function idOf(value: JsonValue): { externalId?: string } {
  const id = isJsonObject(value) ? value['externalId'] : undefined;
  return typeof id === 'string' ? { externalId: id } : {};
}
