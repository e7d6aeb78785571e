// Which resources a filter can match, by what the database has indexes for. Pure.
import type { AttributePath } from './attribute-paths.ts';
import { caseless } from './evaluate.ts';
import type { Filter } from './filter.ts';

/** The indexed values that a matching resource has one of. Those of names are in the form in which they are compared. */
export type Candidates = {
  id?: string[];
  userName?: string[];
  externalId?: string[];
  displayName?: string[];
  email?: string[];
  member?: string[];
  active?: boolean;
  /** The times of the last change, in ms, both included. */
  changedFrom?: number;
  changedTo?: number;
  /** Whether every candidate matches, so that the resources need not be read. */
  isExact: boolean;
};

type Indexed = 'id' | 'userName' | 'externalId' | 'displayName' | 'email' | 'member';

/** Returns the candidates of a filter. Without one, everything is a candidate and matches. */
export function candidatesOf(filter: Filter | undefined): Candidates {
  const candidates: Candidates = { isExact: true };
  if (filter)
    for (const part of filter.op === 'and' ? filter.parts.flatMap(conjuncts) : [filter])
      narrow(candidates, part);
  return candidates;
}

const conjuncts = (filter: Filter): Filter[] =>
  filter.op === 'and' ? filter.parts.flatMap(conjuncts) : [filter];

/** The most values of one attribute that are looked up. More are compared one by one. */
const maxValues = 100;

function narrow(candidates: Candidates, part: Filter): void {
  const keys = keysOf(part);
  if (keys && candidates[keys.of] === undefined && keys.values.length <= maxValues) {
    candidates[keys.of] = keys.values;
    if (!keys.isExact) candidates.isExact = false;
  } else if (!narrowByState(candidates, part)) candidates.isExact = false;
}

/** Narrows by whether a user is active, and by the time of the last change. Returns false if the part is about something else. */
function narrowByState(candidates: Candidates, part: Filter): boolean {
  if (!('value' in part) || part.path.extension !== undefined) return false;
  const { attribute, part: sub } = part.path;
  if (
    attribute.name === 'active' &&
    part.op === 'eq' &&
    typeof part.value === 'boolean' &&
    candidates.active === undefined
  ) {
    candidates.active = part.value;
    return true;
  }
  if (attribute.name !== 'meta' || sub?.name !== 'lastModified') return false;
  const { from, to } = msOf(String(part.value));
  if (part.op === 'ge' || part.op === 'gt') {
    const first = part.op === 'ge' ? from : to + 1;
    candidates.changedFrom = Math.max(candidates.changedFrom ?? -Infinity, first);
    return true;
  }
  if (part.op === 'le' || part.op === 'lt') {
    const last = part.op === 'le' ? to : from - 1;
    candidates.changedTo = Math.min(candidates.changedTo ?? Infinity, last);
    return true;
  }
  return false;
}

/** Returns a time in whole milliseconds, rounded up and down: senders write more digits than we keep. */
function msOf(text: string): { from: number; to: number } {
  const to = Date.parse(text);
  const digits = /\.\d{3}(\d+)/.exec(text)?.[1] ?? '';
  return { from: /[1-9]/.test(digits) ? to + 1 : to, to };
}

type Keys = { of: Indexed; values: string[]; isExact: boolean };

/** Returns the indexed attribute that must have one of some values, if the filter says so. */
function keysOf(filter: Filter): Keys | undefined {
  if (filter.op === 'or') {
    const [first, ...others] = filter.parts.map(keysOf);
    if (!first || others.some((one) => one?.of !== first.of)) return undefined;
    const all = [first, ...(others as Keys[])];
    return {
      of: first.of,
      values: all.flatMap(({ values }) => values),
      isExact: all.every(({ isExact }) => isExact),
    };
  }
  if (filter.op === 'some') return keysOfSome(filter);
  if (filter.op !== 'eq' || typeof filter.value !== 'string') return undefined;
  const of = indexedBy(filter.path);
  if (!of) return undefined;
  const values = [isCaseExact(of) ? filter.value : caseless(filter.value)];
  return { of, values, isExact: of !== 'email' };
}

function keysOfSome({ path, of }: Extract<Filter, { op: 'some' }>): Keys | undefined {
  const parts = conjuncts(of);
  for (const part of parts) {
    if (part.op !== 'eq' || typeof part.value !== 'string' || part.path.part?.name !== 'value') continue;
    if (path.attribute.name === 'emails')
      return { of: 'email', values: [caseless(part.value)], isExact: false };
    if (path.attribute.name === 'members')
      return { of: 'member', values: [part.value], isExact: parts.length === 1 };
  }
  return undefined;
}

const isCaseExact = (of: Indexed): boolean => of === 'id' || of === 'externalId' || of === 'member';

function indexedBy({ extension, attribute, part }: AttributePath): Indexed | undefined {
  if (extension !== undefined) return undefined;
  const { name } = attribute;
  if (!part && (name === 'id' || name === 'userName' || name === 'externalId' || name === 'displayName'))
    return name;
  if (part && part.name !== 'value') return undefined;
  return name === 'emails' ? 'email' : name === 'members' ? 'member' : undefined;
}

/** Returns whether a filter compares this attribute. */
export function isAbout(filter: Filter, name: string): boolean {
  if ('parts' in filter) return filter.parts.some((part) => isAbout(part, name));
  if (filter.op === 'not') return isAbout(filter.of, name);
  return filter.path.attribute.name === name;
}
