// SQL of the console's results pages. It reads only weeks. Figures and comments come only from results/read-results.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';

export type WeekOfResults = {
  week: Week;
  state: 'final' | 'live' | 'open';
  thresholds: { figures: number; distribution: number; comments: number };
};

/** Returns the weeks in which the account asks or has asked questions, oldest first. */
export async function selectWeeks(db: Db, accountId: AccountId): Promise<WeekOfResults[]> {
  return db<WeekOfResults[]>`
    select week as "week",
           case when closed_at is not null then 'final' when shown_at is not null then 'live' else 'open' end as "state",
           json_build_object('figures', threshold, 'distribution', distribution_threshold, 'comments', comment_threshold)
             as "thresholds"
    from   weeks
    where  account_id = ${accountId}
    order  by week`;
}
