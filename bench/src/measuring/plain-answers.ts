// The floor of submitting answers: plain inserts of the same rows, one statement each, without links, checks or encryption.
import type { Pool } from '@soundings/server/src/db/db.ts';

/** Creates the table of the floor, empty. */
export async function openPlainTable(pool: Pool): Promise<void> {
  await pool`drop table if exists bench_floor`;
  await pool`
    create table bench_floor (account_id integer, week date, question_id integer, respondent bigint, value smallint,
                              choices text[], comment text, skipped boolean,
                              primary key (account_id, week, question_id, respondent))`;
}

/** Inserts the answer number `i`. Returns the status of a response to it. */
export async function insertPlainly(pool: Pool, i: number): Promise<number> {
  await pool`
    insert into bench_floor (account_id, week, question_id, respondent, value, choices, comment, skipped)
    values (1, '2026-11-16', ${Math.floor(i / 20_000)}, ${(i * 2_654_435_761) % 2 ** 40}, ${1 + (i % 5)}, null, null, false)
    on conflict do nothing`;
  return 204;
}
