// Collects what checks find: faults, which reject a request, and warnings, which don't. A request can have one per value, so
// only the first are stored and the rest are counted (decision B2).
import { maxFaultsListed } from '@soundings/contract/limits.ts';
import type { Warning } from '@soundings/contract/organization.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';

type Found = { type: DetailType; message: string };
type Lazy<T> = T | (() => T);

/** Returns the finding itself, calling the function that describes it if it is one. */
export const described = <T extends object>(found: Lazy<T>): T =>
  typeof found === 'function' ? found() : found;

export type Findings = {
  /** Both accept a finding or a function that describes it, which is called only if the finding will be listed. */
  fault(detail: Lazy<Detail & { type: DetailType }>): void;
  warn(warning: Lazy<Warning & { type: DetailType }>): void;
  /** Returns whether further faults are only counted. */
  isFull(): boolean;
  /** Returns the number of faults, listed or not. */
  faultCount(): number;
  /** Returns the listed faults; the last entry says how many more there are. */
  faults(): Detail[];
  warnings(): Warning[];
};

export function newFindings(): Findings {
  const faults = boundedList<Detail>();
  const warnings = boundedList<Warning>();
  return {
    fault: faults.add,
    warn: warnings.add,
    isFull: () => faults.count() > maxFaultsListed,
    faultCount: faults.count,
    faults: () => faults.listed('faults'),
    warnings: () => warnings.listed('warnings'),
  };
}

function boundedList<T extends Found | Detail | Warning>() {
  const list: T[] = [];
  let count = 0;
  return {
    // Describing two million faults took half a minute, so faults beyond the list are only counted.
    add(one: Lazy<T>): void {
      if (++count <= maxFaultsListed) list.push(bounded(described(one)));
    },
    count: () => count,
    listed(what: string): (T | Found)[] {
      const rest = count - maxFaultsListed;
      return rest <= 0
        ? list
        : [...list, { type: 'more', message: `There are at least ${rest} more ${what}.` }];
    },
  };
}

/** Returns a stand-in externalId for the i-th entry of a list, which has none. No real externalId can be the same. */
export const standIn = (i: number) => `\0${i}`;
export const isStandIn = (externalId: string) => externalId.startsWith('\0');

/** The maximum lengths of paths and externalIds, and of messages, in a response: a thousand faults may each have one. */
const maxShown = 1_000;
const maxMessage = 4_000;

/** Removes stand-in externalIds, and anything too long to be returned a thousand times. */
function bounded<T extends { message: string; path?: string; externalId?: string }>(found: T): T {
  const { message, path, externalId, ...rest } = found;
  const isShown = externalId !== undefined && externalId.length <= maxShown && !isStandIn(externalId);
  return {
    ...rest,
    message: message.length <= maxMessage ? message : `${message.slice(0, maxMessage).toWellFormed()}…`,
    ...(path !== undefined && path.length <= maxShown && { path }),
    ...(isShown && { externalId }),
  } as T;
}
