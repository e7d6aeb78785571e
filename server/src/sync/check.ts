// Whether a request is an organization request at all: its shape, its types, and the form of each value (§2.2,
// decisions B2 to B5, B10, B11). Pure. What depends on the account is in match.ts.
import {
  isEmail,
  isExternalId,
  isLanguage,
  isTimeZone,
  normalisePhone,
} from '@soundings/contract/formats.ts';
import { maxDescriptionLength, maxFaultsListed, maxNameLength } from '@soundings/contract/limits.ts';
import {
  AccessInfo,
  Data,
  fieldsOf,
  Organization,
  OrganizationGroup,
  Settings,
  User,
} from '@soundings/contract/organization.ts';
import type { DetailType } from '@soundings/contract/problem.ts';
import type { TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings as Checks } from 'typebox/system';
import type { JsonValue } from '../base/json.ts';
import { quote } from '../base/text.ts';
import { type Findings, standIn } from './findings.ts';

// Of one value, such as a list of groups, as many faults are found as can be listed; the default is 8.
Checks.Set({ maxErrors: 3 * maxFaultsListed });

const userCheck = Compile(User);
const groupCheck = Compile(OrganizationGroup);
const settingsFields = fieldChecks(Settings);
const userFields = fieldChecks(User);
const groupFields = fieldChecks(OrganizationGroup);
const accessFields = fieldChecks(AccessInfo);

type JsonObject = { [key: string]: JsonValue };

/** A request that was read, and where in its lists each externalId is. */
export type SentOrganization = Organization & {
  places: Record<'users' | 'groups', ReadonlyMap<string, number>>;
  /** Lists that only add and update: whom they leave out stays. No request has such; files may. */
  partial?: readonly ('users' | 'groups')[];
};

/**
 * Reads a parsed body as an organization request: all faults and warnings go to `findings`. With a fault, what it
 * returns may be matched, so that other faults are found too, but not planned; it is undefined when not even the
 * lists are there. Phone numbers come out in E.164; everything else exactly as sent.
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
    organization.settings = readFields(settings, settingsFields, { path: '/settings' }, findings);
  }
  if (!isObject(data, '/data', findings)) return undefined;
  refuseUnknown(data, fieldsOf(Data), '/data', findings);
  const { groups, users } = data;
  const isGroups = groups === undefined || isArray(groups, '/data/groups', findings);
  const isUsers = users === undefined || isArray(users, '/data/users', findings);
  if (!isGroups || !isUsers) return undefined;
  if (groups) {
    organization.data.groups = readList(groups, '/data/groups', groupCheck, readGroup, findings);
    organization.places.groups = placesOf(organization.data.groups, '/data/groups', findings);
  }
  if (users) {
    organization.data.users = readList(users, '/data/users', userCheck, readUser, findings);
    organization.places.users = placesOf(organization.data.users, '/data/users', findings);
  }
  return organization;
}

function readList<T extends { externalId: string }>(
  list: JsonValue[],
  path: string,
  check: SchemaCheck,
  read: (value: JsonObject, path: string, findings: Findings) => T,
  findings: Findings,
): T[] {
  return list.map((value, i) => {
    if (onlyCount(check, value, findings)) return nobody as T;
    const place = `${path}/${i}`;
    const entry = isObject(value, place, findings) ? read(value, place, findings) : ({} as T);
    // What has no externalId still holds its place in the list, under one that nobody can have.
    return entry.externalId === undefined ? { ...entry, externalId: standIn(i) } : entry;
  });
}

const nobody = { externalId: standIn(0) };

/** Counts a value that is not as it should be when no more can be listed: the words would take half a minute. */
function onlyCount(check: SchemaCheck, value: JsonValue, findings: Findings): boolean {
  if (!findings.isFull() || check.Check(value)) return false;
  findings.fault({ type: 'wrong type', message: '' });
  return true;
}

function readGroup(value: JsonObject, path: string, findings: Findings): OrganizationGroup {
  const group = (
    groupCheck.Check(value) ? value : readFields(value, groupFields, { path, ...idOf(value) }, findings)
  ) as OrganizationGroup;
  const { externalId, name, description } = group;
  const fault = faultAdder(findings, path, externalId);
  warnUnknown(value, groupFields, path, findings);
  if (externalId !== undefined) checkExternalId(externalId, fault);
  if (name !== undefined) checkLength(name, maxNameLength, 'name', fault);
  if (typeof description === 'string') checkLength(description, maxDescriptionLength, 'description', fault);
  return group;
}

function readUser(value: JsonObject, path: string, findings: Findings): User {
  const user = (
    userCheck.Check(value) ? value : readFields(value, userFields, { path, ...idOf(value) }, findings)
  ) as User;
  const { externalId, firstName, lastName, email, timezone, language, phone, accessInfo } = user;
  const fault = faultAdder(findings, path, externalId);
  warnUnknown(value, userFields, path, findings);
  if (accessInfo) warnUnknown(accessInfo as JsonObject, accessFields, `${path}/accessInfo`, findings);
  if (externalId !== undefined) checkExternalId(externalId, fault);
  if (firstName !== undefined) checkLength(firstName, maxNameLength, 'firstName', fault);
  if (lastName !== undefined) checkLength(lastName, maxNameLength, 'lastName', fault);
  const isWrongEmail = typeof email === 'string' && !isEmail(email);
  if (isWrongEmail) {
    fault('invalid email', 'email', `${quote(email)} is not an e-mail address such as anna@example.com.`);
  }
  if (timezone !== undefined && !isTimeZone(timezone)) {
    const message = `${quote(timezone)} is not a name of the tz database, such as Europe/Stockholm.`;
    fault('invalid timezone', 'timezone', message);
  }
  if (language !== undefined && !isLanguage(language)) {
    const message = `${quote(language)} is not an ISO 639-1 code (two lower-case letters, such as sv).`;
    fault('invalid language', 'language', message);
  }
  const normal = typeof phone === 'string' ? normalisePhone(phone) : phone;
  if (typeof phone === 'string' && normal === undefined) {
    const message = `${quote(phone)} is not a number with country prefix, such as +46701234567.`;
    fault('invalid phone', 'phone', message);
  }
  if (normal === phone && !isWrongEmail) return user;
  const { email: _, ...others } = user; // a wrong address is not compared with others
  return { ...(isWrongEmail ? others : user), ...(normal !== undefined && { phone: normal }) };
}

type FieldChecks = Map<string, { check: SchemaCheck; required: boolean }>;
type SchemaCheck = { Check(value: unknown): boolean; Errors(value: unknown): SchemaError[] };
type SchemaError = {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  params: Record<string, unknown>;
};

function fieldChecks({ properties, required }: TObject): FieldChecks {
  return new Map(
    Object.entries(properties).map(([name, schema]) => [
      name,
      {
        check: Compile(schema as TSchema),
        required: (required as string[] | undefined)?.includes(name) ?? false,
      },
    ]),
  );
}

/** The fields of an object that are as they should be; each of the others is a fault. */
function readFields(
  value: JsonObject,
  fields: FieldChecks,
  about: { path: string; externalId?: string },
  findings: Findings,
): JsonObject {
  const read: JsonObject = {};
  const { path, ...id } = about;
  for (const [name, { required }] of fields) {
    if (!required || Object.hasOwn(value, name)) continue;
    findings.fault({ type: 'missing field', message: `${name} is missing.`, path: `${path}/${name}`, ...id });
  }
  for (const [name, { check }] of fields) {
    const field = Object.hasOwn(value, name) ? value[name] : undefined;
    if (field === undefined) continue;
    if (check.Check(field)) read[name] = field;
    else explain(check, field, { ...about, path: `${path}/${name}` }, findings);
  }
  return read;
}

type FaultAdder = (type: DetailType, field: string, message: string) => void;

function faultAdder(findings: Findings, path: string, externalId: string | undefined): FaultAdder {
  const about = externalId === undefined ? {} : { externalId };
  return (type, field, message) => findings.fault({ type, message, path: `${path}/${field}`, ...about });
}

function checkExternalId(externalId: string, fault: FaultAdder): void {
  if (isExternalId(externalId)) return;
  const rule = '1 to 255 characters, no white space at its ends, no control characters';
  fault('invalid externalId', 'externalId', `${quote(externalId)} cannot be an externalId: ${rule}.`);
}

function checkLength(text: string, most: number, field: string, fault: FaultAdder): void {
  // Characters are code points, of which there are at most as many as there are code units.
  if (text.length <= most) return;
  const length = text.length > 2 * most ? text.length : [...text].length;
  if (length > most) fault('too long', field, `${field} has ${length} characters; it may have ${most}.`);
}

/** Where in its list each externalId is. One that is there twice is a fault (decision B10). */
function placesOf(list: { externalId: string }[], path: string, findings: Findings): Map<string, number> {
  const places = new Map<string, number>();
  for (let i = 0; i < list.length; i++) {
    const externalId = list[i]!.externalId;
    if (list[i] === nobody) continue;
    const first = places.get(externalId);
    if (first === undefined) {
      places.set(externalId, i);
      continue;
    }
    const message = `The externalId ${quote(externalId)} is at ${path}/${first} already. Send each one once.`;
    findings.fault({ type: 'duplicate externalId', message, path: `${path}/${i}/externalId`, externalId });
  }
  return places;
}

/** Nothing unknown may stand at the top or in the settings: a misspelt brake must not fail open (decision B4). */
function refuseUnknown(object: JsonObject, allowed: string[], path: string, findings: Findings): void {
  for (const key of Object.keys(object)) {
    if (allowed.includes(key)) continue;
    const message = `There is no ${quote(key)} here. Known: ${allowed.join(', ')}.`;
    findings.fault({ type: 'unknown field', message, path: `${path}/${pointer(key)}` });
  }
}

function warnUnknown(object: JsonObject, known: FieldChecks, path: string, findings: Findings): void {
  for (const key of Object.keys(object)) {
    if (known.has(key)) continue;
    const message = `${quote(key)} is not a field that is known here; it is ignored.`;
    findings.warn({ type: 'unknown field', message, path: `${path}/${pointer(key)}` });
  }
}

function isObject(value: JsonValue, path: string, findings: Findings): value is JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return true;
  findings.fault({
    type: 'wrong type',
    message: `${nameAt(path)} is ${kindOf(value)}; it must be an object.`,
    path,
  });
  return false;
}

function isArray(value: JsonValue, path: string, findings: Findings): value is JsonValue[] {
  if (Array.isArray(value)) return true;
  findings.fault({
    type: 'wrong type',
    message: `${nameAt(path)} is ${kindOf(value)}; it must be an array.`,
    path,
  });
  return false;
}

/** Says of each place where a value departs from its schema what is there and what should be. */
function explain(
  check: SchemaCheck,
  value: JsonValue,
  { path, externalId }: { path: string; externalId?: string },
  findings: Findings,
): void {
  const about = externalId !== undefined ? { externalId } : {};
  for (const { keyword, schemaPath, instancePath, params } of check.Errors(value)) {
    if (schemaPath.includes('/anyOf/') || keyword === 'additionalProperties') continue; // said again, better, by its parent
    const place = path + instancePath;
    const fault = (type: DetailType, message: string, at = place) =>
      findings.fault({ type, message, path: at, ...about });
    const found = kindOf(valueAt(value, instancePath));
    if (keyword === 'enum') {
      const allowed = (params['allowedValues'] as string[]).join(', ');
      fault('out of range', `${nameAt(place)} must be one of ${allowed} (case-sensitive).`);
    } else if (keyword === 'minimum' || keyword === 'maximum') {
      fault('out of range', `${nameAt(place)} must be ${params['comparison']} ${params['limit']}.`);
    } else {
      const wanted =
        keyword === 'anyOf' ? 'a string or null' : `${article[String(params['type'])] ?? 'otherwise'}`;
      fault('wrong type', `${nameAt(place)} is ${found}; it must be ${wanted}.`);
    }
  }
}

const article: Record<string, string> = {
  string: 'a string',
  boolean: 'true or false',
  integer: 'a whole number',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

function kindOf(value: JsonValue | undefined): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function valueAt(value: JsonValue, instancePath: string): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const key of instancePath.split('/').slice(1)) {
    at = (at as JsonObject | undefined)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return at;
}

const nameAt = (path: string) => (path === '' ? 'The body' : quote(path.slice(path.lastIndexOf('/') + 1)));
const pointer = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');

function idOf(value: JsonValue): { externalId?: string } {
  const id =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? value['externalId'] : undefined;
  return typeof id === 'string' ? { externalId: id } : {};
}
