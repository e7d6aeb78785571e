// SQL for the last requests of directories, which the console shows. Writers: request-log.ts.
import type { AccountId, Db } from '../db/db.ts';

export type LoggedRequest = {
  accountId: AccountId;
  at: Date;
  tokenId: number;
  request: string;
  status: number;
  message: string | null;
};

/** Stores requests, and deletes older ones than the last `kept` of their accounts. */
export async function insertScimRequests(
  db: Db,
  requests: readonly LoggedRequest[],
  kept: number,
): Promise<void> {
  if (requests.length === 0) return;
  await db`
    with added as (
      insert into scim_requests (account_id, at, token_id, request, status, message)
      select r."accountId", r.at, r."tokenId", r.request, r.status, r.message
      from   jsonb_to_recordset(${db.json(requests as never)})
             as r("accountId" integer, at timestamptz, "tokenId" integer, request text, status smallint, message text)
    )
    delete from scim_requests r
    using  (select account_id, position, row_number() over (partition by account_id order by position desc) as place
            from   scim_requests
            where  account_id = any(${[...new Set(requests.map(({ accountId }) => accountId))]})) old
    where  r.account_id = old.account_id and r.position = old.position and old.place > ${kept}`;
}

export type ShownRequest = Omit<LoggedRequest, 'accountId' | 'tokenId'> & { token: string | null };

/** Returns the last requests of an account, newest first. */
export async function selectScimRequests(
  db: Db,
  accountId: AccountId,
  limit: number,
): Promise<ShownRequest[]> {
  return db<ShownRequest[]>`
    select r.at as "at", t.name as "token", r.request as "request", r.status as "status", r.message as "message"
    from   scim_requests r
    left   join tokens t on t.account_id = r.account_id and t.token_id = r.token_id
    where  r.account_id = ${accountId}
    order  by r.position desc
    limit  ${limit}`;
}
