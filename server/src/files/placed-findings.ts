// Faults and warnings about a file, each with its place in the file instead of a JSON pointer. Pure.
import type { Detail } from '@soundings/contract/problem.ts';
import { quote } from '../base/text.ts';
import type { LaidOutFile } from '../layout/layout.ts';
import { described, type Findings, newFindings } from '../sync/findings.ts';

/** Collects findings with their places in the file. The same error in one cell is reported once. */
export function findingsIn(laidOut: () => LaidOutFile | undefined): Findings {
  const findings = newFindings();
  const seen = new Set<string>();
  return {
    ...findings,
    fault(found) {
      if (findings.isFull()) return findings.fault(found); // From here on, findings are only counted.
      const one = described(found);
      const fault = lackIn(one, laidOut()) ?? placed(one, laidOut());
      const key = [fault.type, fault.sheet, fault.row, fault.column, fault.message].join('\0');
      if (fault.row !== undefined && seen.has(key)) return;
      seen.add(key);
      findings.fault(fault);
    },
    warn: (found) => findings.warn(() => placed(described(found), laidOut())),
  };
}

/** Returns the error for a missing column, so that it is reported once and not for every row. */
const lackIn = ({ type, path }: Detail, laidOut: LaidOutFile | undefined) =>
  type === 'missing field' && path !== undefined ? laidOut?.missingColumnOf(path) : undefined;

/** Replaces the JSON pointers in a finding by places in the file. */
function placed<T extends { message: string; path?: string }>(found: T, laidOut: LaidOutFile | undefined): T {
  if (!laidOut) return found;
  const { path, ...rest } = found;
  const place = path === undefined ? undefined : laidOut.placeOf(path);
  const message = found.message.replaceAll(/\/data\/(?:users|groups)\/\d+(?:\/[^\s.,;]+)*/g, (pointer) => {
    const { row, sheet } = laidOut.placeOf(pointer) ?? {};
    return row === undefined ? pointer : `row ${row}${sheet === undefined ? '' : ` of ${quote(sheet)}`}`;
  });
  return { ...rest, ...(place ?? (path !== undefined && { path })), message } as T;
}
