// The console: the people of an account as a CSV file.
import { audit } from '../../accounts/audit.ts';
import type { Pool } from '../../db/db.ts';
import type { Reads } from '../../db/replica/reads.ts';
import { attributesOf } from '../../people/attributes.changes.ts';
import { actorOf, type Console, Download } from '../core/console.ts';
import { peopleCsv } from './csv.ts';
import { countPeople, selectSheet, sortingOf } from './people.sql.ts';

/** `reads`: where the people are read. `pool`: where it is recorded that they were exported. */
export function servePeopleTable(
  console: Console,
  { pool, reads }: { pool: Promise<Pool>; reads: Promise<Reads> },
): void {
  console.serve('GET /users.csv', async (who, { query }) => {
    const [filters, sorting] = sortingOf(query);
    const { accountId } = who;
    const [count, attributes] = await Promise.all([
      countPeople(await pool, accountId, filters),
      attributesOf(await pool, accountId),
    ]);
    await audit(await pool, accountId, actorOf(who), 'people exported', { details: { count } });
    const names = [...attributes.keys()];
    // Filters read opt-outs, refused addresses and passwords, which change without the version of the account.
    const { primary } = await reads;
    const table = () =>
      primary.stream((rows) => peopleCsv(selectSheet(rows, accountId, filters, sorting), names));
    return new Download('people.csv', 'text/csv; charset=utf-8', table);
  });
}
