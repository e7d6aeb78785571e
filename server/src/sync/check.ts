// Whether a request is an organization request at all: its shape, its types, and the form of each value (§2.2,
// decisions B2 to B5, B10, B11). Pure. What depends on the account is in match.ts.
import {
  isEmail,
  isExternalId,
  isLanguage,
  isTimeZone,
  normalisePhone,
} from '@soundings/contract/formats.ts';
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
import type { DetailType } from '@soundings/contract/problem.ts';
import { Compile } from 'typebox/compile';
import type { JsonValue } from '../base/json.ts';
import { type Findings, quote } from './findings.ts';

const settingsCheck = Compile(Settings);
const userCheck = Compile(User);
const groupCheck = Compile(OrganizationGroup);
const userFields = new Set(fieldsOf(User));
const groupFields = new Set(fieldsOf(OrganizationGroup));
const accessFields = new Set(fieldsOf(AccessInfo));

type JsonObject = { [key: string]: JsonValue };

/**
 * Reads a parsed body as an organization request: all faults and warnings go to `findings`. What it returns may be
 * used only when there is no fault. Phone numbers come out in E.164; everything else exactly as sent.
 */
export function readOrganization(body: JsonValue, findings: Findings): Organization {
  const organization: Organization = { settings: {}, data: {} };
  if (!isObject(body, '', findings)) return organization;
  refuseUnknown(body, fieldsOf(Organization), '', findings);
  const { settings, data } = body;
  if (settings !== undefined) {
    if (settingsCheck.Check(settings)) organization.settings = settings;
    else explain(settingsCheck, settings, { path: '/settings' }, findings);
  }
  if (data === undefined) return organization;
  if (!isObject(data, '/data', findings)) return organization;
  refuseUnknown(data, fieldsOf(Data), '/data', findings);
  if (data['groups'] !== undefined && isArray(data['groups'], '/data/groups', findings)) {
    organization.data.groups = data['groups'].map((group, i) =>
      readGroup(group, `/data/groups/${i}`, findings),
    );
    refuseDuplicates(organization.data.groups, '/data/groups', findings);
  }
  if (data['users'] !== undefined && isArray(data['users'], '/data/users', findings)) {
    organization.data.users = data['users'].map((user, i) => readUser(user, `/data/users/${i}`, findings));
    refuseDuplicates(organization.data.users, '/data/users', findings);
  }
  return organization;
}

function readGroup(value: JsonValue, path: string, findings: Findings): OrganizationGroup {
  const group = value as OrganizationGroup;
  if (!groupCheck.Check(value)) {
    explain(groupCheck, value, { path, ...idOf(value) }, findings);
    return group;
  }
  const fault = faultAdder(findings, path, group.externalId);
  warnUnknown(value as JsonObject, groupFields, path, findings);
  checkExternalId(group.externalId, fault);
  checkLength(group.name, maxNameLength, 'name', fault);
  if (typeof group.description === 'string') {
    checkLength(group.description, maxDescriptionLength, 'description', fault);
  }
  return group;
}

function readUser(value: JsonValue, path: string, findings: Findings): User {
  const user = value as User;
  if (!userCheck.Check(value)) {
    explain(userCheck, value, { path, ...idOf(value) }, findings);
    return user;
  }
  const fault = faultAdder(findings, path, user.externalId);
  warnUnknown(value as JsonObject, userFields, path, findings);
  if (user.accessInfo)
    warnUnknown(user.accessInfo as JsonObject, accessFields, `${path}/accessInfo`, findings);
  checkExternalId(user.externalId, fault);
  checkLength(user.firstName, maxNameLength, 'firstName', fault);
  checkLength(user.lastName, maxNameLength, 'lastName', fault);
  if (typeof user.email === 'string' && !isEmail(user.email)) {
    fault(
      'invalid email',
      'email',
      `${quote(user.email)} is not an e-mail address such as anna@example.com.`,
    );
  }
  if (user.timezone !== undefined && !isTimeZone(user.timezone)) {
    const message = `${quote(user.timezone)} is not a name of the tz database, such as Europe/Stockholm.`;
    fault('invalid timezone', 'timezone', message);
  }
  if (user.language !== undefined && !isLanguage(user.language)) {
    const message = `${quote(user.language)} is not an ISO 639-1 code (two lower-case letters, such as sv).`;
    fault('invalid language', 'language', message);
  }
  if (typeof user.phone !== 'string') return user;
  const phone = normalisePhone(user.phone);
  if (phone !== undefined) return phone === user.phone ? user : { ...user, phone };
  fault(
    'invalid phone',
    'phone',
    `${quote(user.phone)} is not a number with country prefix, such as +46701234567.`,
  );
  return user;
}

type FaultAdder = (type: DetailType, field: string, message: string) => void;

function faultAdder(findings: Findings, path: string, externalId: string): FaultAdder {
  return (type, field, message) => findings.fault({ type, message, path: `${path}/${field}`, externalId });
}

function checkExternalId(externalId: string, fault: FaultAdder): void {
  if (isExternalId(externalId)) return;
  const rule = '1 to 255 characters, no white space at its ends, no control characters';
  fault('invalid externalId', 'externalId', `${quote(externalId)} cannot be an externalId: ${rule}.`);
}

function checkLength(text: string, most: number, field: string, fault: FaultAdder): void {
  if (text.length <= most) return;
  fault('too long', field, `${field} has ${text.length} characters; at most ${most} are kept.`);
}

function refuseDuplicates(list: { externalId: string }[], path: string, findings: Findings): void {
  const places = new Map<string, number>();
  for (const [i, value] of list.entries()) {
    const externalId = idOf(value as JsonValue).externalId;
    if (externalId === undefined) continue;
    const first = places.get(externalId);
    if (first === undefined) {
      places.set(externalId, i);
      continue;
    }
    const message = `The externalId ${quote(externalId)} is at ${path}/${first} already. Send each one once.`;
    findings.fault({ type: 'duplicate externalId', message, path: `${path}/${i}/externalId`, externalId });
  }
}

/** Nothing unknown may stand at the top or in the settings: a misspelt brake must not fail open (decision B4). */
function refuseUnknown(object: JsonObject, allowed: string[], path: string, findings: Findings): void {
  for (const key of Object.keys(object)) {
    if (allowed.includes(key)) continue;
    const message = `There is no ${quote(key)} here. Known: ${allowed.join(', ')}.`;
    findings.fault({ type: 'unknown field', message, path: `${path}/${pointer(key)}` });
  }
}

function warnUnknown(object: JsonObject, known: Set<string>, path: string, findings: Findings): void {
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
  check: { Errors(value: unknown): SchemaError[] },
  value: JsonValue,
  { path, externalId }: { path: string; externalId?: string },
  findings: Findings,
): void {
  const about = externalId !== undefined ? { externalId } : {};
  for (const { keyword, schemaPath, instancePath, params } of check.Errors(value)) {
    if (/\/anyOf\/|\/additionalProperties$/.test(schemaPath)) continue; // said again, better, by its parent
    const place = path + instancePath;
    const fault = (type: DetailType, message: string, at = place) =>
      findings.fault({ type, message, path: at, ...about });
    const found = kindOf(valueAt(value, instancePath));
    if (keyword === 'required') {
      for (const name of params['requiredProperties'] as string[]) {
        fault('missing field', `${name} is missing.`, `${place}/${pointer(name)}`);
      }
    } else if (keyword === 'additionalProperties') {
      for (const name of params['additionalProperties'] as string[]) {
        const known = fieldsOf(Settings).join(', ');
        fault(
          'unknown field',
          `There is no setting ${quote(name)}. Known: ${known}.`,
          `${place}/${pointer(name)}`,
        );
      }
    } else if (keyword === 'enum') {
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

type SchemaError = {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  params: Record<string, unknown>;
};

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
