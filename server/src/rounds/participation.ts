// Counts how many people have answered in an open week, in a way that no one can observe when a particular person answers
// (rules.md P18): once a day, only people who have been active users for a week, and in steps with a secret offset.
import { dayIn, type Week } from '@soundings/contract/weeks.ts';
import { type AccountId, type Db, inTransaction, type Pool } from '../db/db.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import {
  selectEligible,
  selectWeeksToCount,
  selectWhoAnswered,
  updateParticipation,
} from './participation.sql.ts';

const [hour, week] = [3_600_000, 7 * 86_400_000];

/** The minimum time between two counts, in ms. After a change of the account's time zone, the next day may begin early. */
const minimumInterval = 20 * hour;

/** Counts the open weeks of all accounts that have not been counted today, in each account's time zone. `now`: ms since 1970. */
export async function countParticipation(pool: Pool, keys: AnswerKeys, now: number): Promise<void> {
  for (const one of await selectWeeksToCount(pool)) {
    const today = dayIn(one.timezone, now);
    if (one.countedAt !== null && now - one.countedAt.getTime() < minimumInterval) continue;
    // The first count is on the day after opening. In the hours after opening, it would reveal who answered first.
    if (one.countedOn === null ? today <= one.openedOn(one.timezone) : today <= one.countedOn) continue;
    // Each week is counted in a separate transaction.
    await countWeek(pool, keys, one, { today, now });
  }
}

async function countWeek(
  pool: Pool,
  keys: AnswerKeys,
  { accountId, week: wanted, step }: { accountId: AccountId; week: Week; step: number },
  { today, now }: { today: string; now: number },
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const key = await keys.of(tx, accountId, wanted);
    if (!key) return;
    const eligible = await selectEligible(tx, accountId, wanted, new Date(now - week));
    const answered = await answeredAmong(
      tx,
      { accountId, week: wanted },
      eligible.map((userId) => key.respondentOf(userId)),
    );
    const count = coarse(answered, { eligible: eligible.length, step, offset: key.below(step, today) });
    await updateParticipation(tx, accountId, wanted, { count, today, now });
  });
}

async function answeredAmong(
  db: Db,
  { accountId, week: wanted }: { accountId: AccountId; week: Week },
  respondents: string[],
): Promise<number> {
  const included = new Set(respondents);
  return (await selectWhoAnswered(db, accountId, wanted)).filter((one) => included.has(one)).length;
}

/**
 * Returns a number of eligible people: at least this many of them have answered. Null if fewer people than one step are
 * eligible. The steps start at a secret offset (0 to step − 1) that changes every day. So someone who answers for invented
 * people can't know which real answer will reach the next step, or find it out over several days. The result is always less
 * than the number of eligible people.
 */
export function coarse(
  answered: number,
  { eligible, step, offset }: { eligible: number; step: number; offset: number },
): number | null {
  if (eligible < step) return null;
  const counted = Math.min(answered, eligible - 1) - offset;
  return counted <= 0 ? 0 : counted - (counted % step);
}
