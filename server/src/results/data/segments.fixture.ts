// For tests of reading segments: writes breakdowns, segments and their figures as closing a week does.
import { raiseVersion } from '../../accounts/accounts.sql.ts';
import { inTransaction, type Pool } from '../../db/db.ts';

/** A figure of a question: the mean and the number of answers; null: withheld. */
export type GivenFigure = {
  questionId: number;
  week: string;
  value: number | null;
  answers: number | null;
  distribution?: Record<string, number>;
  handedOut?: boolean;
};

export type GivenSegment = {
  results?: GivenFigure[];
  rates?: { week: string; value: number | null; asked?: number; answered?: number; handedOut?: boolean }[];
  kpis?: { kpiId: string; week: string; value: number | null }[];
};

/** Opens a breakdown with segments that have figures. Returns its id, and the ids of the segments by value. */
export async function writeSegments(
  pool: Pool,
  accountId: number,
  breakdown: { name: string; attribute: string },
  segments: Record<string, GivenSegment>,
): Promise<{ breakdownId: number; ids: Record<string, number> }> {
  return inTransaction(pool, async (tx) => {
    const [row] = await tx<{ breakdownId: number }[]>`
      insert into breakdowns (account_id, name, attribute, position)
      select ${accountId}, ${breakdown.name}, ${breakdown.attribute}, count(*) from breakdowns where account_id = ${accountId}
      returning breakdown_id as "breakdownId"`;
    const { breakdownId } = row!;
    const ids: Record<string, number> = {};
    for (const [value, { results = [], rates = [], kpis = [] }] of Object.entries(segments)) {
      const [created] = await tx<{ id: number }[]>`
        insert into segments (account_id, segment_id, breakdown_id, value)
        values (${accountId}, nextval(pg_get_serial_sequence('groups', 'group_id')), ${breakdownId}, ${value})
        returning segment_id as "id"`;
      const id = created!.id;
      ids[value] = id;
      for (const { questionId, week, value: mean, answers, distribution, handedOut = false } of results) {
        const counts = distribution ? JSON.stringify(distribution) : null;
        await tx`
          insert into results (account_id, group_id, week, question_id, value, answers, distribution, handed_out)
          values (${accountId}, ${id}, ${week}, ${questionId}, ${mean}, ${answers}, ${counts}, ${handedOut})`;
      }
      for (const { week, value: rate, asked = null, answered = null, handedOut = false } of rates) {
        await tx`
          insert into response_rates (account_id, group_id, week, value, asked, answered, handed_out)
          values (${accountId}, ${id}, ${week}, ${rate}, ${asked}, ${answered}, ${handedOut})`;
      }
      for (const { kpiId, week, value: mean } of kpis) {
        await tx`
          insert into kpi_values (account_id, kpi_id, group_id, week, value)
          values (${accountId}, ${kpiId}, ${id}, ${week}, ${mean})`;
      }
    }
    // These weeks have closed before, so they may be in fragments and packs.
    await tx`delete from fragment_weeks where account_id = ${accountId}`;
    await tx`delete from pack_weeks where account_id = ${accountId}`;
    await raiseVersion(tx, accountId);
    return { breakdownId, ids };
  });
}

/** Removes a breakdown with its segments and figures. */
export async function eraseBreakdown(pool: Pool, accountId: number, breakdownId: number): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx`delete from segments where account_id = ${accountId} and breakdown_id = ${breakdownId}`;
    await tx`delete from breakdowns where account_id = ${accountId} and breakdown_id = ${breakdownId}`;
    await raiseVersion(tx, accountId);
  });
}
