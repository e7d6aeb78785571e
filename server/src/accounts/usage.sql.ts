// SQL for counting the requests of API tokens. Writer: usage.ts.
import type { AccountId, Db } from '../db/db.ts';

/**
 * Adds requests to a minute of a token and returns the new total. Deletes older minutes except the previous one, because a
 * process whose clock is slow may still add requests to it.
 */
export async function addTokenUsage(
  db: Db,
  accountId: AccountId,
  tokenId: number,
  used: { minute: Date; requests: number },
): Promise<number> {
  const [row] = await db<{ requests: number }[]>`
    with past as (
      delete from token_usage
      where  account_id = ${accountId} and token_id = ${tokenId}
        and  minute < ${used.minute}::timestamptz - interval '1 minute'
    )
    insert into token_usage as u (account_id, token_id, minute, requests)
    values (${accountId}, ${tokenId}, ${used.minute}, ${used.requests})
    on     conflict (account_id, token_id, minute)
    do     update set requests = u.requests + excluded.requests
    returning u.requests as "requests"`;
  return row!.requests;
}
