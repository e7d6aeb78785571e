// SQL for API tokens that expire soon. Writers: expiring-tokens.ts.
import type { Db, Transaction } from '../db/db.ts';

export type ExpiringToken = {
  accountId: number;
  account: string;
  language: string;
  timezone: string;
  notify: string[];
  tokenId: number;
  name: string;
  expiresAt: Date;
};

/**
 * Returns the tokens of every account that expire within `days` and for which this reminder was not sent yet, and marks it as
 * sent. Each reminder is returned only once, even if several processes call this.
 */
export async function updateExpiryNotified(db: Db, days: number): Promise<ExpiringToken[]> {
  return db<ExpiringToken[]>`
    update tokens t
    set    expiry_notified_days = ${days}
    from   accounts a
    where  a.account_id = t.account_id and a.notify_addresses <> '{}' and a.kind = 'company'
      and  t.revoked_at is null
      and  t.expires_at > now() and t.expires_at < now() + make_interval(days => ${days})
      and  coalesce(t.expiry_notified_days, 999) > ${days}
    returning t.account_id       as "accountId",
              a.name             as "account",
              a.language         as "language",
              a.timezone         as "timezone",
              a.notify_addresses as "notify",
              t.token_id         as "tokenId",
              t.name             as "name",
              t.expires_at       as "expiresAt"`;
}

/**
 * Returns the tokens of every account (account_id) that expire within `days` and for which there was no such event yet, and marks them. Locks
 * them until the transaction ends.
 */
export async function updateExpiryEvents(
  tx: Transaction,
  days: number,
): Promise<Pick<ExpiringToken, 'accountId' | 'tokenId' | 'expiresAt'>[]> {
  return tx`
    update tokens
    set    expiry_event_days = ${days}
    where  revoked_at is null
      and  expires_at > now() and expires_at < now() + make_interval(days => ${days})
      and  coalesce(expiry_event_days, 999) > ${days}
    returning account_id as "accountId", token_id as "tokenId", expires_at as "expiresAt"`;
}
