// What a check finds: faults, which stop a request, and warnings, which do not. A request can have as many as it
// has values, so only the first are kept, and the rest are counted (decision B2).
import { maxFaultsListed } from '@soundings/contract/limits.ts';
import type { Warning } from '@soundings/contract/organization.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';

type Found = { type: DetailType; message: string };
type Lazy<T> = T | (() => T);

/** Returns what was found, described. */
export const described = <T extends object>(found: Lazy<T>): T =>
  typeof found === 'function' ? found() : found;

export type Findings = {
  /** Either takes what was found or a function that describes it, which is called only if it will be listed. */
  fault(detail: Lazy<Detail & { type: DetailType }>): void;
  warn(warning: Lazy<Warning & { type: DetailType }>): void;
  /** Whether more faults would only be counted. */
  isFull(): boolean;
  /** How many faults there are, listed or not. */
  faultCount(): number;
  /** The faults to list, the last of them saying how many more there are. */
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
    // Describing two million faults took half a minute: those beyond the list are only counted.
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

/** Returns an externalId that no entry can have, for the i-th entry of a list, which has none. */
export const standIn = (i: number) => `\0${i}`;
export const isStandIn = (externalId: string) => externalId.startsWith('\0');

/** The longest place, externalId and message that are sent back: a thousand faults may carry each. */
const maxShown = 1_000;
const maxMessage = 4_000;

/** Without the externalId that is none, and without what is too long to be sent back a thousand times. */
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
