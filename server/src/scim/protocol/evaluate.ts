// Whether a resource matches a filter (RFC 7644 §3.4.2.2). Pure.
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts';
import type { AttributePath } from './attribute-paths.ts';
import { comparedType, type Filter, type FilterValue, type Operator } from './filter.ts';

/** Returns a text as it is compared when case does not matter. */
export const caseless = (text: string): string => text.normalize('NFC').toLowerCase();

/** Texts of a resource that are stored as they are compared when case does not matter, by attribute. */
export type StoredKeys = { readonly [attribute: string]: string | undefined };

/** Returns the values of an attribute; folded, if they are compared without case. */
type Read = (path: AttributePath, isFolded: boolean) => JsonValue[];
type Test = (read: Read, resource: JsonObject | undefined) => boolean;

/**
 * Returns a function that says whether a whole resource, as a response contains it, matches. What depends only on the filter is computed
 * once. `keys`: of the resource, so that its texts need not be folded.
 */
export function matcherOf(filter: Filter): (resource: JsonObject, keys?: StoredKeys) => boolean {
  const test = testOf(filter);
  return (resource, keys) => {
    const read: Read = (path, isFolded) => {
      const { attribute, part, extension } = path;
      const key = isFolded && !part && extension === undefined ? keys?.[attribute.name] : undefined;
      if (key !== undefined) return [key];
      return isFolded ? valuesAt(resource, path).map(folded) : valuesAt(resource, path);
    };
    return test(read, resource);
  };
}

/** Returns a function that says whether one value of a multi-valued attribute matches the filter in brackets. */
export function valueMatcherOf(filter: Filter): (value: JsonValue) => boolean {
  const test = testOf(filter);
  return (value) => {
    const read: Read = ({ part }, isFolded) => {
      const found = !part
        ? value
        : isJsonObject(value)
          ? value[part.name]
          : part.name === 'value'
            ? value
            : undefined;
      if (found === undefined) return [];
      return [isFolded ? folded(found) : found];
    };
    return test(read, undefined);
  };
}

/** Returns a value as it is compared when case does not matter. Of an object, that is its `value`. */
function folded(value: JsonValue): JsonValue {
  const plain = plainOf(value);
  return typeof plain === 'string' ? caseless(plain) : plain;
}

const plainOf = (value: JsonValue): JsonValue => (isJsonObject(value) ? (value['value'] ?? null) : value);

function testOf(filter: Filter): Test {
  switch (filter.op) {
    case 'and': {
      const parts = filter.parts.map(testOf);
      return (...of) => parts.every((part) => part(...of));
    }
    case 'or': {
      const parts = filter.parts.map(testOf);
      return (...of) => parts.some((part) => part(...of));
    }
    case 'not': {
      const test = testOf(filter.of);
      return (...of) => !test(...of);
    }
    case 'pr':
      return (read) => read(filter.path, false).some(isPresent);
    case 'some': {
      const test = valueMatcherOf(filter.of);
      return (_, resource) => listAt(resource, filter.path).some(test);
    }
    default:
      return comparisonOf(filter.op, filter.path, filter.value);
  }
}

const isPresent = (value: JsonValue): boolean =>
  value !== null &&
  value !== '' &&
  !(Array.isArray(value) && value.length === 0) &&
  !(isJsonObject(value) && Object.keys(value).length === 0);

/** Returns the values of an attribute, each on its own. */
function listAt(resource: JsonObject | undefined, { extension, attribute }: AttributePath): JsonValue[] {
  const holder = extension === undefined ? resource : resource?.[extension];
  const found = isJsonObject(holder) ? holder[attribute.name] : undefined;
  if (found === undefined || found === null) return [];
  return Array.isArray(found) ? found : [found];
}

function valuesAt(resource: JsonObject, path: AttributePath): JsonValue[] {
  const { part } = path;
  const values = listAt(resource, path);
  if (!part) return values;
  return values.flatMap((value) => {
    const found = isJsonObject(value) ? value[part.name] : undefined;
    return found === undefined ? [] : [found];
  });
}

function comparisonOf(op: Operator, path: AttributePath, wanted: FilterValue): Test {
  const { type, caseExact } = comparedType(path.attribute, path.part);
  if (wanted === null)
    return (read) => {
      const isThere = read(path, false).some((value) => isPresent(plainOf(value)));
      return op === 'eq' ? !isThere : op === 'ne' && isThere;
    };
  const isTime = type === 'dateTime' && !['co', 'sw', 'ew'].includes(op);
  const isFolded = !caseExact && !isTime;
  const right = isTime ? Date.parse(String(wanted)) : isFolded ? caseless(String(wanted)) : String(wanted);
  const boolean = booleanOf(wanted);
  const asked = op === 'ne' ? 'eq' : op;
  const isOne = (found: JsonValue): boolean => {
    const value = plainOf(found);
    if (typeof value === 'boolean') return asked === 'eq' && value === boolean;
    if (typeof value !== 'string' && typeof value !== 'number') return false;
    if (typeof right === 'number') return isOrdered(asked, Date.parse(String(value)), right);
    return isText(asked, String(value), right);
  };
  return op === 'ne'
    ? (read) => !read(path, isFolded).some(isOne)
    : (read) => read(path, isFolded).some(isOne);
}

function isText(op: Operator, left: string, right: string): boolean {
  if (op === 'co') return left.includes(right);
  if (op === 'sw') return left.startsWith(right);
  if (op === 'ew') return left.endsWith(right);
  return isOrdered(op, left, right);
}

const booleanOf = (wanted: FilterValue): FilterValue =>
  typeof wanted === 'string' && /^(true|false)$/i.test(wanted) ? wanted.toLowerCase() === 'true' : wanted;

function isOrdered<T extends string | number>(op: Operator, left: T, right: T): boolean {
  if (op === 'eq') return left === right;
  if (op === 'gt') return left > right;
  if (op === 'ge') return left >= right;
  if (op === 'lt') return left < right;
  return op === 'le' && left <= right;
}
