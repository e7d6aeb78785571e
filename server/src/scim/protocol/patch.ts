// PATCH operations (RFC 7644 §3.5.2), in the form of the standard and as Entra ID and Okta send them: op in any case, paths with filters,
// values without a path whose keys are paths themselves. Pure.
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts';
import { quote } from '../../base/text.ts';
import { type AttributePath, attributePathOf, type ExtensionPath } from './attribute-paths.ts';
import { valueMatcherOf } from './evaluate.ts';
import { type Filter, readValueFilter } from './filter.ts';
import { readAttribute, readSingle, refuseIncomplete, refuseManyValues, scimFault } from './read-resource.ts';
import { attributeNamed, type ResourceKind } from './schemas.ts';

export type PatchOperation = {
  op: 'add' | 'replace' | 'remove';
  path: PatchPath | undefined;
  value: JsonValue | undefined;
};

/** What an operation applies to. `of`: which values of a multi-valued attribute; undefined for all. */
export type PatchPath = (AttributePath | ExtensionPath) & { of: Filter | undefined };

/** The most operations of one request, after values without a path are split. Each may search all values of an attribute. */
const maxOperations = 1_000;

/** Reads the body of a PATCH request. A value without a path becomes one operation for each of its keys. */
export function readPatch(kind: ResourceKind, body: JsonValue): PatchOperation[] {
  const list = isJsonObject(body) ? valueOf(body, 'Operations') : undefined;
  if (!Array.isArray(list) || list.length === 0)
    throw scimFault(
      'invalid syntax',
      'The body must have a list "Operations" with at least one operation.',
      'Operations',
    );
  refuseManyOperations(list.length);
  const operations = list.flatMap((one, i) => readOperation(kind, one, `Operations[${i}]`));
  refuseManyOperations(operations.length);
  refuseLargeValues(operations);
  return operations;
}

/** The most characters of all values of lists in one request, apart from members: each operation may compare all of them. */
const maxListLength = 64 * 1024;

function refuseLargeValues(operations: readonly PatchOperation[]): void {
  const ofLists = operations.filter(
    ({ path }) => path?.attribute?.multiValued && path.attribute.name !== 'members',
  );
  if (JSON.stringify(ofLists.map(({ path, value }) => [path?.of, value])).length <= maxListLength) return;
  const message = `The values of lists such as "emails" have more than ${maxListLength / 1024} kB in one request.`;
  throw scimFault('invalid value', message, 'Operations');
}

function refuseManyOperations(count: number): void {
  if (count <= maxOperations) return;
  const message = `A request can have at most ${maxOperations} operations. Each key of a value without a path is one.`;
  throw scimFault('invalid syntax', message, 'Operations');
}

/** Returns the value of a key, ignoring its case. */
function valueOf(object: JsonObject, name: string): JsonValue | undefined {
  const key = Object.keys(object).find((one) => one.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : object[key];
}

function readOperation(kind: ResourceKind, sent: JsonValue, place: string): PatchOperation[] {
  if (!isJsonObject(sent)) throw scimFault('invalid syntax', `${place} must be an object.`, place);
  const name = valueOf(sent, 'op');
  const op = (['add', 'replace', 'remove'] as const).find(
    (one) => typeof name === 'string' && one === name.toLowerCase(),
  );
  if (!op) throw scimFault('invalid syntax', `${place}.op must be add, replace or remove.`, `${place}.op`);
  const [path, value] = [valueOf(sent, 'path'), valueOf(sent, 'value')];
  if (path !== undefined && path !== null && path !== '') {
    if (typeof path !== 'string')
      throw scimFault('invalid path', `${place}.path must be a string.`, `${place}.path`);
    if (op !== 'remove' && value === undefined)
      throw scimFault('invalid value', `${place} needs a value.`, `${place}.value`);
    return [{ op, path: readPath(kind, path), value }];
  }
  if (op === 'remove')
    throw scimFault('no target', `${place} needs a path, because it removes something.`, `${place}.path`);
  if (!isJsonObject(value))
    throw scimFault(
      'invalid value',
      `${place} has no path, so its value must be an object.`,
      `${place}.value`,
    );
  return Object.entries(value).flatMap(([key, one]) => {
    // Directories repeat what can't be changed, such as the id. Without a path, that is ignored.
    const found = pathIn(kind, key);
    return found && !isReadOnly(found) ? [{ op, path: found, value: one }] : [];
  });
}

function readPath(kind: ResourceKind, text: string): PatchPath {
  const path = pathIn(kind, text);
  if (!path) throw scimFault('invalid path', `There is no attribute ${quote(text)}.`, 'path');
  if (isReadOnly(path)) throw scimFault('read-only attribute', `${quote(text)} can only be read.`, 'path');
  return path;
}

/** Returns what a path names; undefined if nothing. Throws a Fault if the filter in it can't be read. */
function pathIn(kind: ResourceKind, text: string): PatchPath | undefined {
  const [, before, filter, after] = /^([^[\]]*)\[(.*)\](?:\.(.*))?$/s.exec(text) ?? [];
  if (before === undefined || filter === undefined) {
    const path = attributePathOf(kind, text);
    return path && { ...path, of: undefined };
  }
  const path = attributePathOf(kind, before);
  if (!path?.attribute || path.part || !path.attribute.multiValued) return undefined;
  const of = readValueFilter(kind, path, filter);
  if (after === undefined) return { ...path, of };
  const part = attributeNamed(path.attribute.subAttributes ?? [], after);
  return part && { ...path, part, of };
}

const isReadOnly = ({ attribute }: PatchPath): boolean => attribute?.mutability === 'readOnly';

/** Returns a resource after the operations. Throws a Fault if one fails; then none counts. */
export function applyPatch(
  kind: ResourceKind,
  resource: JsonObject,
  operations: readonly PatchOperation[],
): JsonObject {
  const after = structuredClone(resource);
  for (const operation of operations) applyOne(kind, after, operation);
  refuseIncomplete(kind, after);
  return after;
}

function applyOne(kind: ResourceKind, resource: JsonObject, { op, path, value }: PatchOperation): void {
  if (!path) return;
  if (!path.attribute) return applyToExtension(kind, resource, { op, urn: path.extension, value });
  const holder = holderOf(resource, path.extension);
  if (path.attribute.multiValued) applyToList(holder, { op, path: path as ListPath, value });
  else if (path.part) applyToPart(holder, { op, path, value });
  else if (op === 'remove') delete holder[path.attribute.name];
  else setSingle(holder, op, path, value as JsonValue);
  if (path.extension !== undefined && Object.keys(holder).length === 0) delete resource[path.extension];
}

/** Returns the object that has the attributes of an extension, or the resource itself. */
function holderOf(resource: JsonObject, extension: string | undefined): JsonObject {
  if (extension === undefined) return resource;
  const found = resource[extension];
  if (isJsonObject(found)) return found;
  return (resource[extension] = {}) as JsonObject;
}

function applyToExtension(
  kind: ResourceKind,
  resource: JsonObject,
  { op, urn, value }: { op: PatchOperation['op']; urn: string; value: JsonValue | undefined },
): void {
  if (op === 'remove') return void delete resource[urn];
  if (!isJsonObject(value))
    throw scimFault('invalid value', `The value of ${quote(urn)} must be an object.`, urn);
  // The keys of the object are paths in the extension.
  const operations = Object.entries(value).flatMap(([key, one]) => {
    const path = pathIn(kind, `${urn}:${key}`);
    return path && !isReadOnly(path) ? [{ op, path, value: one }] : [];
  });
  for (const operation of operations) applyOne(kind, resource, operation);
}

function setSingle(
  holder: JsonObject,
  op: PatchOperation['op'],
  { attribute }: AttributePath,
  value: JsonValue,
): void {
  const read = readAttribute(attribute, value);
  if (read === undefined || (read === '' && attribute.type !== 'complex'))
    return void delete holder[attribute.name];
  const before = holder[attribute.name];
  // Adding to an attribute with parts keeps the other parts (RFC 7644 §3.5.2.1), and so does replacing it (RFC 7644 §3.5.2.3).
  holder[attribute.name] =
    isJsonObject(read) && isJsonObject(before ?? null) && op !== 'remove'
      ? { ...(before as JsonObject), ...read }
      : read;
}

function applyToPart(
  holder: JsonObject,
  { op, path, value }: PatchOperation & { path: AttributePath },
): void {
  const { attribute, part } = path;
  const before = holder[attribute.name];
  const whole: JsonObject = isJsonObject(before ?? null) ? { ...(before as JsonObject) } : {};
  const name = part!.name;
  const read =
    op === 'remove' ? undefined : readSingle(part!, value as JsonValue, `${attribute.name}.${name}`);
  if (read === undefined || read === '') delete whole[name];
  else whole[name] = read;
  if (Object.keys(whole).length === 0) delete holder[attribute.name];
  else holder[attribute.name] = whole;
}

type ListPath = AttributePath & { of: Filter | undefined };
type OnList = { op: PatchOperation['op']; path: ListPath; value: JsonValue | undefined };

function applyToList(holder: JsonObject, { op, path, value }: OnList): void {
  const { attribute, part, of } = path;
  const before = (Array.isArray(holder[attribute.name]) ? holder[attribute.name] : []) as JsonValue[];
  const isChosen = of === undefined ? () => true : valueMatcherOf(of);
  let after: JsonValue[];
  if (op === 'remove') after = removeFrom(before, { path, value }, isChosen);
  else if (of === undefined && !part)
    after = op === 'add' ? added(before, listOf(path, value)) : listOf(path, value);
  else after = setIn(before, { op, path, value }, isChosen);
  refuseManyValues(attribute, after.length);
  if (after.length === 0) delete holder[attribute.name];
  else holder[attribute.name] = after;
}

const listOf = ({ attribute }: ListPath, value: JsonValue | undefined): JsonValue[] =>
  (readAttribute(attribute, value ?? null) as JsonValue[] | undefined) ?? [];

function removeFrom(
  before: JsonValue[],
  { path, value }: Pick<OnList, 'path' | 'value'>,
  isChosen: (one: JsonValue) => boolean,
): JsonValue[] {
  const { part, of } = path;
  if (part) return before.map((one) => (isChosen(one) && isJsonObject(one) ? without(one, part.name) : one));
  // Microsoft Entra lists the values to remove instead of a filter.
  const listed =
    of === undefined && value !== undefined && value !== null
      ? new Set(listOf(path, value).map(keyOf))
      : undefined;
  return before.filter((one) => (listed ? !listed.has(keyOf(one)) : !isChosen(one)));
}

function without(one: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = one;
  return rest;
}

/** Returns what identifies a value in a list: its value if it has one. */
const keyOf = (one: JsonValue): string =>
  JSON.stringify(isJsonObject(one) && one['value'] !== undefined ? one['value'] : one);

/** Returns a list with more values. A value that is there already is changed. A new primary value is the only one. */
function added(before: JsonValue[], more: JsonValue[]): JsonValue[] {
  const hasPrimary = more.some((one) => isJsonObject(one) && one['primary'] === true);
  const after = before.map((one) =>
    hasPrimary && isJsonObject(one) && one['primary'] === true ? { ...one, primary: false } : one,
  );
  const places = new Map<string, number>();
  for (const [i, one] of after.entries()) if (!places.has(typedKeyOf(one))) places.set(typedKeyOf(one), i);
  for (const one of more) {
    const key = typedKeyOf(one);
    const at = places.get(key);
    if (at === undefined) places.set(key, after.push(one) - 1);
    else
      after[at] =
        isJsonObject(one) && isJsonObject(after[at] ?? null) ? { ...(after[at] as JsonObject), ...one } : one;
  }
  return after;
}

/** Like `keyOf`. The same value of another type is another one. */
const typedKeyOf = (one: JsonValue): string =>
  JSON.stringify([keyOf(one), isJsonObject(one) ? (one['type'] ?? null) : null]);

/** Sets a part of the chosen values, or the chosen values themselves. */
function setIn(
  before: JsonValue[],
  { op, path, value }: OnList,
  isChosen: (one: JsonValue) => boolean,
): JsonValue[] {
  const { attribute, part, of } = path;
  const read = part
    ? readSingle(part, value as JsonValue, `${attribute.name}.${part.name}`)
    : readSingle(attribute, value as JsonValue, attribute.name);
  const change = (one: JsonValue): JsonValue => {
    if (!part)
      return op === 'add' && isJsonObject(one) && isJsonObject(read ?? null)
        ? { ...one, ...(read as JsonObject) }
        : (read ?? null);
    const whole = isJsonObject(one) ? one : { value: one };
    return read === undefined ? without(whole, part.name) : { ...whole, [part.name]: read };
  };
  const isPrimary =
    part?.name === 'primary'
      ? read === true
      : isJsonObject(read ?? null) && (read as JsonObject)['primary'] === true;
  if (before.some(isChosen))
    return before
      .map((one) =>
        isChosen(one)
          ? change(one)
          : isPrimary && isJsonObject(one) && one['primary'] === true
            ? { ...one, primary: false }
            : one,
      )
      .filter((one) => one !== null);
  if (op === 'replace' && of !== undefined)
    throw scimFault(
      'no target',
      `No value of ${quote(attribute.name)} matches the filter in the path.`,
      'path',
    );
  // Microsoft Entra adds a part of a value that does not exist yet: the filter says what the value is like.
  return [...before, change(of === undefined ? {} : describedBy(of))];
}

/** Returns the value that a filter such as type eq "work" describes. */
function describedBy(of: Filter): JsonObject {
  if (of.op === 'and') return Object.assign({}, ...of.parts.map(describedBy)) as JsonObject;
  return of.op === 'eq' && of.path.part ? { [of.path.part.name]: of.value } : {};
}
