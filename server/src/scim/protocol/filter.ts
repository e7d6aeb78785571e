// Filters (RFC 7644 §3.4.2.2): reads them into a tree, within limits of length, depth and number of comparisons. Also accepts values
// without quotes, as Microsoft's tests send them. Pure.
import { maxScimComparisons, maxScimFilterDepth, maxScimFilterLength } from '@soundings/contract/limits.ts';
import { faultAtField, type Fault } from '../../base/errors.ts';
import { parseText } from '../../base/json/json.ts';
import { quote } from '../../base/text.ts';
import { type AttributePath, attributePathOf } from './attribute-paths.ts';
import type { ResourceKind } from './schemas.ts';

const operators = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type Operator = (typeof operators)[number];
export type FilterValue = string | number | boolean | null;

export type Filter =
  | { op: 'and' | 'or'; parts: Filter[] }
  | { op: 'not'; of: Filter }
  | { op: 'pr'; path: AttributePath }
  | { op: Operator; path: AttributePath; value: FilterValue }
  /** `emails[type eq "work"]`: the paths in `of` are those of the attribute's parts, which are in `part`. */
  | { op: 'some'; path: AttributePath; of: Filter };

/** Returns the fault of a filter. */
export const filterFault = (message: string): Fault =>
  faultAtField('invalid', 'invalid filter', 'filter', message);

type Token = { kind: 'word' | 'text' | '(' | ')' | '[' | ']'; text: string; at: number };
type Scan = {
  kind: ResourceKind;
  tokens: Token[];
  next: number;
  depth: number;
  comparisons: number;
  /** Within brackets: the attribute whose parts are compared. */
  within: AttributePath | undefined;
};

/** Reads a filter on a type of resource. Throws a Fault (invalid filter) that says where it can't be read. */
export function readFilter(kind: ResourceKind, text: string): Filter {
  if (text.length > maxScimFilterLength)
    throw filterFault(`The filter is longer than ${maxScimFilterLength} characters.`);
  const scan: Scan = { kind, tokens: tokensOf(text), next: 0, depth: 0, comparisons: 0, within: undefined };
  const filter = readOr(scan);
  if (scan.next < scan.tokens.length) throw unexpected(scan, 'the end, "and" or "or"');
  return filter;
}

/** Reads the filter in the brackets of a path, such as type eq "work". */
export function readValueFilter(kind: ResourceKind, within: AttributePath, text: string): Filter {
  if (text.length > maxScimFilterLength) throw filterFault('The filter in the path is too long.');
  const scan: Scan = { kind, tokens: tokensOf(text), next: 0, depth: 0, comparisons: 0, within };
  const filter = readOr(scan);
  if (scan.next < scan.tokens.length) throw unexpected(scan, 'the end, "and" or "or"');
  return filter;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+))/gy;
  let end = 0;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const [, bracket, quoted, word] = found;
    const at = pattern.lastIndex - (bracket ?? quoted ?? word ?? '').length;
    tokens.push({
      kind: (bracket as Token['kind'] | undefined) ?? (quoted ? 'text' : 'word'),
      text: bracket ?? quoted ?? word ?? '',
      at,
    });
    end = pattern.lastIndex;
  }
  if (text.slice(end).trim() !== '')
    throw filterFault(`The filter can't be read at position ${end + 1}: a closing quote is missing.`);
  return tokens;
}

function unexpected({ tokens, next }: Scan, expected: string): Fault {
  const token = tokens[next];
  const found = token ? `${quote(token.text)} at position ${token.at + 1}` : 'the end';
  return filterFault(`The filter can't be read: expected ${expected}, found ${found}.`);
}

const isWord = ({ tokens, next }: Scan, word: string): boolean =>
  tokens[next]?.kind === 'word' && tokens[next].text.toLowerCase() === word;

function readOr(scan: Scan): Filter {
  const parts = [readAnd(scan)];
  while (isWord(scan, 'or')) {
    scan.next++;
    parts.push(readAnd(scan));
  }
  return parts.length === 1 ? (parts[0] as Filter) : { op: 'or', parts };
}

function readAnd(scan: Scan): Filter {
  const parts = [readTerm(scan)];
  while (isWord(scan, 'and')) {
    scan.next++;
    parts.push(readTerm(scan));
  }
  return parts.length === 1 ? (parts[0] as Filter) : { op: 'and', parts };
}

function readTerm(scan: Scan): Filter {
  const isNot = isWord(scan, 'not') && scan.tokens[scan.next + 1]?.kind === '(';
  if (isNot) scan.next++;
  if (scan.tokens[scan.next]?.kind === '(') {
    const inner = nested(scan, ')', '")"');
    return isNot ? { op: 'not', of: inner } : inner;
  }
  return readComparison(scan);
}

/** Reads what is in brackets, from the opening to the closing one. */
function nested(scan: Scan, close: Token['kind'], name: string): Filter {
  if (++scan.depth > maxScimFilterDepth)
    throw filterFault(`The filter is nested deeper than ${maxScimFilterDepth} levels.`);
  scan.next++;
  const inner = readOr(scan);
  if (scan.tokens[scan.next]?.kind !== close) throw unexpected(scan, name);
  scan.next++;
  scan.depth--;
  return inner;
}

function readComparison(scan: Scan): Filter {
  const name = scan.tokens[scan.next];
  if (name?.kind !== 'word') throw unexpected(scan, 'an attribute');
  if (++scan.comparisons > maxScimComparisons)
    throw filterFault(`The filter has more than ${maxScimComparisons} comparisons.`);
  const path = pathNamed(scan, name.text);
  scan.next++;
  if (scan.tokens[scan.next]?.kind === '[') return readSome(scan, path);
  const word = scan.tokens[scan.next];
  const operator = word?.kind === 'word' ? word.text.toLowerCase() : '';
  if (operator === 'pr') {
    scan.next++;
    return { op: 'pr', path };
  }
  const op = operators.find((one) => one === operator);
  if (!op) throw unexpected(scan, `an operator (${operators.join(', ')} or pr)`);
  scan.next++;
  const value = readValue(scan);
  refuseSenseless(op, path, value);
  return { op, path, value };
}

function readSome(scan: Scan, path: AttributePath): Filter {
  if (scan.within || path.part || path.attribute.type !== 'complex')
    throw filterFault(`${quote(path.attribute.name)} has no parts to filter in brackets.`);
  scan.within = path;
  const of = nested(scan, ']', '"]"');
  scan.within = undefined;
  return { op: 'some', path, of };
}

function pathNamed({ kind, within }: Scan, name: string): AttributePath {
  const full = within
    ? `${within.extension === undefined ? '' : `${within.extension}:`}${within.attribute.name}.${name}`
    : name;
  const path = attributePathOf(kind, full);
  if (!path?.attribute) throw filterFault(`There is no attribute ${quote(name)} to filter by.`);
  return path;
}

function readValue(scan: Scan): FilterValue {
  const token = scan.tokens[scan.next];
  if (token?.kind !== 'text' && token?.kind !== 'word') throw unexpected(scan, 'a value');
  scan.next++;
  if (token.kind === 'text') {
    const parsed = parseText(token.text);
    if ('fault' in parsed)
      throw filterFault(`The value at position ${token.at + 1} is not a valid JSON string.`);
    return parsed.value as string;
  }
  const word = token.text.toLowerCase();
  if (word === 'true' || word === 'false') return word === 'true';
  if (word === 'null') return null;
  return /^-?\d+(\.\d+)?$/.test(word) ? Number(word) : token.text;
}

const ordering: readonly Operator[] = ['gt', 'ge', 'lt', 'le'];
const ofTexts: readonly Operator[] = ['co', 'sw', 'ew'];

/** Throws a Fault for a comparison that has no meaning (RFC 7644 §3.4.2.2, table 3). */
function refuseSenseless(op: Operator, { attribute, part }: AttributePath, value: FilterValue): void {
  const { type, name } = comparedType(attribute, part);
  const isUnordered = type === 'boolean' || type === 'binary' || value === null || typeof value === 'boolean';
  if (ordering.includes(op) && isUnordered) throw filterFault(`${quote(name)} can't be compared with ${op}.`);
  if (type === 'boolean' && (ofTexts.includes(op) || !['boolean', 'string', 'object'].includes(typeof value)))
    throw filterFault(`${quote(name)} is true or false, so it can't be compared in this way.`);
  if (
    type === 'dateTime' &&
    !ofTexts.includes(op) &&
    value !== null &&
    Number.isNaN(Date.parse(String(value)))
  )
    throw filterFault(`${quote(String(value))} is not a date and time, such as 2026-01-31T12:00:00Z.`);
}

/** Returns the attribute that is compared: the part, or the value of a complex attribute. */
export const comparedType = (
  attribute: ScimAttributeLike,
  part: ScimAttributeLike | undefined,
): ScimAttributeLike => part ?? attribute.subAttributes?.find(({ name }) => name === 'value') ?? attribute;
type ScimAttributeLike = AttributePath['attribute'];
