// How many have answered in an open week, so that no one can watch a person answer (privacy.md P18): counted once a day, over
// people who have been active users for a week, and in steps whose places no one knows.
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

/** Between two counts, in ms: by another time zone the next day may have begun already. */
const leastApart = 20 * hour;

/** Counts the open weeks of all accounts that were not counted today, by the day of each account. `now`: ms since 1970. */
export async function countParticipation(pool: Pool, keys: AnswerKeys, now: number): Promise<void> {
  for (const one of await selectWeeksToCount(pool)) {
    const today = dayIn(one.timezone, now);
    if (one.countedAt !== null && now - one.countedAt.getTime() < leastApart) continue;
    // In the hours after opening it would say who was first: the first count comes on the day after.
    if (one.countedOn === null ? today <= one.openedOn(one.timezone) : today <= one.countedOn) continue;
    // oxlint-disable-next-line no-await-in-loop -- each is a transaction of its own
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
  const among = new Set(respondents);
  return (await selectWhoAnswered(db, accountId, wanted)).filter((one) => among.has(one)).length;
}

/**
 * At least this many of the eligible people have answered; null when these are fewer than a step. The steps begin at a secret
 * offset (0 to step − 1), another one each day: whoever answers for invented people does not know when the next real answer makes
 * a step, and cannot find out in some days to use it on the next. Never everyone.
 */
export function coarse(
  answered: number,
  { eligible, step, offset }: { eligible: number; step: number; offset: number },
): number | null {
  if (eligible < step) return null;
  const counted = Math.min(answered, eligible - 1) - offset;
  return counted <= 0 ? 0 : counted - (counted % step);
}
