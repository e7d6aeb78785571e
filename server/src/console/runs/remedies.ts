// What the pages of runs and files share: windows of lists, and what to do about a fault. Pure.
import type { RunFault } from '@soundings/contract/console/runs.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { remedyOf } from '../../files/catalogue.ts';
import type { RowWindow } from './runs.sql.ts';

/** Returns the requested window, with at most a hundred rows. */
export const rowWindowOf = ({
  offset = '0',
  limit = '100',
}: {
  offset?: string;
  limit?: string;
}): RowWindow => ({
  offset: Number(offset),
  limit: Math.min(Number(limit), 100),
});

/** Returns each fault with what to do about it. */
export const withRemedies = (details: Detail[] | null, language: string): RunFault[] =>
  (details ?? []).map((detail) => {
    const { type, message, row } = detail;
    return { ...detail, remedy: remedyOf({ type, message, ...(row !== undefined && { row }) }, language) };
  });
