// Reads users and groups as directories send them into one form: names of attributes as the standard writes them, values of the right
// type, nothing unknown (RFC 7643 §2). Directories write "True", "Primary" and a manager as a plain text; all of that is accepted. Pure.
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts';
import { faultAtField, type Fault } from '../../base/errors.ts';
import { quote } from '../../base/text.ts';
import {
  attributeNamed,
  commonAttributes,
  type ResourceKind,
  type ScimAttribute,
  schemasOf,
} from './schemas.ts';

/** The longest text of an attribute in characters, and the most values of one attribute. Members have no limit but that of the body. */
const maxTextLength = 5_000;
const maxValues = 200;

/** The longest address or number. They are compared and searched. */
const maxAddressLength = 500;

const maxLengthOf = (path: string): number =>
  /^(emails|phoneNumbers)(\.value)?$/.test(path) ? maxAddressLength : maxTextLength;

export const scimFault = (
  type:
    | 'invalid syntax'
    | 'invalid value'
    | 'invalid path'
    | 'no target'
    | 'read-only attribute'
    | 'missing field',
  message: string,
  path?: string,
): Fault => faultAtField('invalid', type, path, message);

/**
 * Returns the attributes of a sent resource that can be written. Unknown and read-only ones are left out, as the standard asks. Throws a
 * Fault for a value of the wrong type, or if a required attribute is missing.
 */
export function readResource(kind: ResourceKind, body: JsonValue): JsonObject {
  if (!isJsonObject(body)) throw scimFault('invalid syntax', 'The body must be a JSON object.');
  const resource = readObject(kind, body);
  refuseIncomplete(kind, resource);
  return resource;
}

/** Throws a Fault if a resource lacks a required attribute. */
export function refuseIncomplete(kind: ResourceKind, resource: JsonObject): void {
  const [core] = schemasOf[kind];
  for (const { name, required } of core.attributes) {
    const value = resource[name];
    if (required && (typeof value !== 'string' || value.trim() === ''))
      throw scimFault('missing field', `${quote(name)} is required.`, name);
  }
}

/** Like `readResource`, for an object that may have only some attributes. */
export function readObject(kind: ResourceKind, body: JsonObject): JsonObject {
  const [core, ...extensions] = schemasOf[kind];
  const read: JsonObject = {};
  const attributes = [...core.attributes, ...commonAttributes.filter(({ name }) => name === 'externalId')];
  readInto(read, body, attributes);
  for (const { id, attributes: own } of extensions) {
    const key = Object.keys(body).find((one) => one.toLowerCase() === id.toLowerCase());
    const sent = key === undefined ? undefined : body[key];
    if (!isJsonObject(sent)) continue;
    const extension: JsonObject = {};
    readInto(extension, sent, own);
    if (Object.keys(extension).length > 0) read[id] = extension;
  }
  return read;
}

function readInto(read: JsonObject, body: JsonObject, attributes: readonly ScimAttribute[]): void {
  for (const [key, sent] of Object.entries(body)) {
    const attribute = attributeNamed(attributes, key);
    if (!attribute || attribute.mutability === 'readOnly') continue;
    const value = readAttribute(attribute, sent);
    if (value !== undefined) read[attribute.name] = value;
  }
}

/** Returns the value of an attribute in our form; undefined if it is empty. Throws a Fault if it has the wrong type. */
export function readAttribute(attribute: ScimAttribute, sent: JsonValue): JsonValue | undefined {
  if (!attribute.multiValued) return readSingle(attribute, sent, attribute.name);
  if (sent === null) return undefined;
  const list = Array.isArray(sent) ? sent : [sent];
  refuseManyValues(attribute, list.length);
  const values = list.flatMap((one) => readSingle(attribute, one, attribute.name) ?? []);
  return values.length > 0 ? withOnePrimary(values) : undefined;
}

/** Throws a Fault if an attribute has too many values. */
export function refuseManyValues({ name }: ScimAttribute, count: number): void {
  if (count > maxValues && name !== 'members')
    throw scimFault('invalid value', `${quote(name)} has more than ${maxValues} values.`, name);
}

/** At most one value is the primary one (RFC 7643 §2.4): the first that says so. */
function withOnePrimary(values: JsonValue[]): JsonValue[] {
  const first = values.findIndex((value) => isJsonObject(value) && value['primary'] === true);
  return values.map((value, i) =>
    isJsonObject(value) && value['primary'] === true && i !== first ? { ...value, primary: false } : value,
  );
}

/** Like `readAttribute`, for a part of an attribute, or for one of its values. */
export function readSingle(attribute: ScimAttribute, sent: JsonValue, path: string): JsonValue | undefined {
  if (sent === null || sent === undefined) return undefined;
  if (attribute.type === 'complex') return readComplex(attribute, sent, path);
  if (attribute.type === 'boolean') return readBoolean(sent, path);
  if (typeof sent === 'number' || typeof sent === 'boolean') return String(sent);
  if (typeof sent !== 'string') throw scimFault('invalid value', `${quote(path)} must be a string.`, path);
  return bounded(sent, path);
}

function readBoolean(sent: JsonValue, path: string): boolean {
  if (typeof sent === 'boolean') return sent;
  if (typeof sent === 'string' && /^(true|false)$/i.test(sent)) return sent.toLowerCase() === 'true';
  throw scimFault('invalid value', `${quote(path)} must be true or false.`, path);
}

function readComplex(
  { subAttributes = [] }: ScimAttribute,
  sent: JsonValue,
  path: string,
): JsonObject | undefined {
  const hasValue = subAttributes.some(({ name }) => name === 'value');
  if (typeof sent === 'string' && hasValue) return sent === '' ? undefined : { value: bounded(sent, path) };
  if (!isJsonObject(sent)) throw scimFault('invalid value', `${quote(path)} must be an object.`, path);
  const read: JsonObject = {};
  for (const [key, one] of Object.entries(sent)) {
    const part = attributeNamed(subAttributes, key);
    if (!part || part.mutability === 'readOnly') continue;
    const value = readSingle(part, one, `${path}.${part.name}`);
    if (value !== undefined) read[part.name] = value;
  }
  return Object.keys(read).length > 0 ? read : undefined;
}

function bounded(text: string, path: string): string {
  const most = maxLengthOf(path);
  if (text.length <= most) return text;
  throw scimFault('invalid value', `${quote(path)} is longer than ${most} characters.`, path);
}
