// The console: key drivers, for administrators and managers, computed over the groups that the caller may see.
import type { Reads } from '../../db/replica/reads.ts';
import type { ComputeDrivers } from '../../results/statistics/drivers-thread.ts';
import { type Console, Download, type Who } from '../core/console.ts';
import { readDrivers } from './drivers.ts';
import { driverTable, driverTexts } from './drivers-table.ts';

type Query = { outcome?: string; weeks?: string; language?: string };

export function serveDrivers(console: Console, reads: Promise<Reads>, compute: ComputeDrivers): void {
  const read = async (who: Who, { outcome, weeks = '13', language = 'en' }: Query) =>
    (await reads)
      .of(who)
      .once((db) => readDrivers(db, compute, who, { outcome, weeks: Number(weeks), language }));
  console.serve('GET /results/drivers', (who, { query }) => read(who, query));
  console.serve('GET /results/drivers/csv', async (who, { query }) => {
    const text = driverTable(await read(who, query), driverTexts.in(query.language ?? 'en'));
    return new Download('drivers.csv', 'text/csv; charset=utf-8', text);
  });
}
