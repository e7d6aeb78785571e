// What a check finds: faults, which stop a request, and warnings, which do not. A request can have as many as it
// has values, so only the first are kept, and the rest are counted (decision B2).
import { maxFaultsListed } from '@soundings/contract/limits.ts';
import type { Warning } from '@soundings/contract/organization.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';

type Found = { type: DetailType; message: string };

export type Findings = {
  fault(detail: Detail & Found): void;
  warn(warning: Warning & Found): void;
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
    faultCount: faults.count,
    faults: () => faults.listed('faults'),
    warnings: () => warnings.listed('warnings'),
  };
}

function boundedList<T>() {
  const list: T[] = [];
  let count = 0;
  return {
    add(one: T): void {
      if (++count <= maxFaultsListed) list.push(one);
    },
    count: () => count,
    listed(what: string): (T | Found)[] & T[] {
      if (count <= maxFaultsListed) return list;
      const rest = {
        type: 'more' as const,
        message: `${count - maxFaultsListed} more ${what} are not listed.`,
      };
      return [...list, rest as T & Found];
    },
  };
}

/** A sent text as it may be repeated in a message: quoted, and cut where it is long. */
export function quote(text: string): string {
  return JSON.stringify(text.length <= 100 ? text : `${text.slice(0, 100).toWellFormed()}…`);
}
