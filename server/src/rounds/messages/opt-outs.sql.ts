// SQL of turning survey messages and digests off. Writers: the pages on which people do this (answers/answering.routes.ts), their
// profile, and administrators, who can turn survey messages on again.
import type { AccountId, Db } from '../../db/db.ts';

/** Which emails a person gets: all, no reminders, or none. For digests, only `all` and `none` are possible. */
export type WantedEmails = 'all' | 'invitations' | 'none';

/**
 * Returns the signing key, and stores `fresh` if there is none yet. Processes that start at the same time can each create one. The
 * older key is then used for signing, and signatures by the other one stay valid (selectOptOut).
 */
export async function takeOptOutKey(db: Db, fresh: Buffer): Promise<Buffer> {
  const [row] = await db<{ key: Buffer }[]>`
    with created as (insert into opt_out_keys (key)
                     select ${fresh}::bytea
                  where  not exists (select 1 from opt_out_keys)
                  on conflict do nothing
                  returning key, created_at)
    select key     as "key",
           created_at as "createdAt"
    from   created
    union  all
    select key, created_at from opt_out_keys
    order  by "createdAt", "key"
    limit  1`;
  return row!.key;
}

/** Returns all signing keys. */
export async function selectOptOutKeys(db: Db): Promise<Buffer[]> {
  const rows = await db<{ key: Buffer }[]>`select key from opt_out_keys`;
  return rows.map(({ key }) => key);
}

/** Returns all signing keys, and the person if they exist. */
export async function selectOptOut(
  db: Db,
  kind: 'reminders' | 'digests',
  { accountId, userId }: { accountId: AccountId; userId: number },
): Promise<{
  keys: Buffer[];
  person: { company: string; language: string; wanted: WantedEmails } | undefined;
}> {
  const [row] = await db<
    { keys: string[]; company: string | null; language: string | null; wanted: WantedEmails }[]
  >`
    select array(select encode(key, 'hex') from opt_out_keys) as "keys",
           a.name                                          as "company",
           coalesce(u.language, a.language)                as "language",
           case when ${kind === 'digests'}::boolean then case when d.user_id is null then 'all' else 'none' end
                when r.user_id is null then 'all'
                when r.all_emails then 'none'
                else 'invitations' end                     as "wanted"
    from   (values (1)) one
    left   join users u on u.account_id = ${accountId} and u.user_id = ${userId}
    left   join accounts a on a.account_id = u.account_id
    left   join reminder_opt_outs r on r.account_id = u.account_id and r.user_id = u.user_id
    left   join digest_opt_outs d on d.account_id = u.account_id and d.user_id = u.user_id`;
  const { keys, company, language, wanted } = row!;
  return {
    keys: keys.map((key) => Buffer.from(key, 'hex')),
    person: company === null || language === null ? undefined : { company, language, wanted },
  };
}

/** Sets which survey messages a person gets. Returns false if the person no longer exists. */
export async function setSurveyEmails(
  db: Db,
  accountId: AccountId,
  userId: number,
  wanted: WantedEmails,
): Promise<boolean> {
  const [row] = await db<{ isThere: boolean }[]>`
    with person  as (select account_id, user_id
                     from   users
                     where  account_id = ${accountId} and user_id = ${userId}
                     for    key share),
         stopped as (insert into reminder_opt_outs (account_id, user_id, all_emails)
                     select account_id, user_id, ${wanted === 'none'} from person where ${wanted !== 'all'}::boolean
                     on conflict (account_id, user_id) do update set all_emails = excluded.all_emails),
         resumed as (delete from reminder_opt_outs r
                     using  person p
                     where  r.account_id = ${accountId} and r.user_id = p.user_id and ${wanted === 'all'}::boolean)
    select exists (select 1 from person) as "isThere"`;
  return row!.isThere;
}

/** Turns a person's digests on or off. Returns whether this changed anything; undefined if the person no longer exists. */
export async function setDigests(
  db: Db,
  accountId: AccountId,
  userId: number,
  wanted: boolean,
): Promise<boolean | undefined> {
  const [row] = await db<{ isThere: boolean; changed: number }[]>`
    with person  as (select account_id, user_id
                     from   users
                     where  account_id = ${accountId} and user_id = ${userId}
                     for    key share),
         stopped as (insert into digest_opt_outs (account_id, user_id)
                     select account_id, user_id from person where not ${wanted}::boolean
                     on conflict do nothing
                     returning 1),
         resumed as (delete from digest_opt_outs d
                     using  person p
                     where  d.account_id = ${accountId} and d.user_id = p.user_id and ${wanted}::boolean
                     returning 1)
    select exists (select 1 from person)                                          as "isThere",
           ((select count(*) from stopped) + (select count(*) from resumed))::int as "changed"`;
  return row!.isThere ? row!.changed > 0 : undefined;
}
