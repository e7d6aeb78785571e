// For tests of reading segments: writes kinds, segments and their figures as closing a week does.
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

/** Opens a kind with segments that have figures. Returns its id, and the ids of the segments by value. */
export async function writeSegments(
  pool: Pool,
  accountId: number,
  kind: { name: string; attribute: string },
  segments: Record<string, GivenSegment>,
): Promise<{ kindId: number; ids: Record<string, number> }> {
  return inTransaction(pool, async (tx) => {
    const [row] = await tx<{ kindId: number }[]>`
      insert into segment_kinds (account_id, name, attribute, position)
      select ${accountId}, ${kind.name}, ${kind.attribute}, count(*) from segment_kinds where account_id = ${accountId}
      returning kind_id as "kindId"`;
    const { kindId } = row!;
    const ids: Record<string, number> = {};
    for (const [value, { results = [], rates = [], kpis = [] }] of Object.entries(segments)) {
      const [created] = await tx<{ id: number }[]>`
        insert into segments (account_id, segment_id, kind_id, value)
        values (${accountId}, nextval(pg_get_serial_sequence('groups', 'group_id')), ${kindId}, ${value})
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
    await raiseVersion(tx, accountId);
    return { kindId, ids };
  });
}

/** Removes a kind with its segments and figures. */
export async function eraseKind(pool: Pool, accountId: number, kindId: number): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx`delete from segments where account_id = ${accountId} and kind_id = ${kindId}`;
    await tx`delete from segment_kinds where account_id = ${accountId} and kind_id = ${kindId}`;
    await raiseVersion(tx, accountId);
  });
}
