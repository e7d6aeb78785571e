// SQL that begins to send messages, and records that they were sent: several in one statement. Writers: deliver.ts.
import { isOnCitus } from '../../db/citus/distribution.ts';
import type { Db } from '../../db/db.ts';
import { isKey, isUnwanted, messageKeyOf, type MessageKey } from './messages.sql.ts';

/** A message with the person's number in the week, and the person's answers at the time of the decision to send it. */
export type Decided = { key: MessageKey; respondent: string; sealed: Buffer[] };

/**
 * Records that messages are now being sent. Returns for each message whether it may be sent. It may not
 * if it should no longer be sent, if it was already being sent, or if the person's answers have changed since
 * the decision to send it. In the last case, the message is checked again later, as is one that another process is changing. The messages must
 * belong to different people, because a person gets one reminder a week.
 */
export async function beginSending(db: Db, messages: Decided[]): Promise<boolean[]> {
  const items = messages.map(({ key, respondent, sealed }, place) => ({
    ...messageKeyOf(key),
    place,
    respondent,
    sealed: sealed.map((one) => one.toString('hex')),
  }));
  const { locks, join, isOnly } = (await isOnCitus(db)) ? withoutLocks(db) : locksOf(db);
  const rows = await db<{ place: number }[]>`
    with n as materialized (select * from ${rowsOf(db, items)}) ${locks}
    update messages m
    set    state = 'sending', attempts = attempts + 1, begun_at = now()
    from   n ${join}
    where  ${isRow(db)} and m.account_id = n."accountId" and m.state = 'waiting'
      and  not ${isUnwanted(db, db`m`, db`m.account_id`)} and ${isOnly}
      and  n.sealed = array(select encode(a.sealed, 'hex')
                            from   answers a
                            where  a.account_id = m.account_id and a.week = m.week and a.respondent = n.respondent
                            order  by a.import_batch)
      and  exists (select 1 from users u
                   where  u.account_id = m.account_id and u.user_id = m.user_id and u.active)
      and  exists (select 1 from weeks w
                   where  w.account_id = m.account_id and w.week = m.week and w.closed_at is null)
    returning n.place as "place"`;
  const begun = new Set(rows.map(({ place }) => place));
  return messages.map((_, place) => begun.has(place));
}

/** The parts of `beginSending` that lock messages. `isOnly`: no other process may just be sending another reminder to the person. */
const locksOf = (db: Db) => ({
  locks: db`
    , mine as (${lockedOf(db)}),
    -- All reminders of these people, as they are after locking them. One that is missing here may just be sent by another process.
    reminders as (select m.account_id, m.user_id, m.week, m.schedule_id, m.state
                  from   n
                  join   messages m on m.account_id = n."accountId" and m.user_id = n."userId" and m.week = n.week
                                   and m.kind = n.kind
                  where  n.kind = 'reminder'
                  for    update of m skip locked)`,
  join: db`join mine on mine.place = n.place`,
  isOnly: db`
    (m.kind = 'invitation'
     or not exists (select 1 from messages o
                    left   join reminders r on r.account_id = o.account_id and r.user_id = o.user_id
                                           and r.week = o.week and r.schedule_id = o.schedule_id
                    where  o.account_id = m.account_id and o.user_id = m.user_id and o.week = m.week and o.kind = m.kind
                      and  coalesce(r.state in ('sending', 'sent', 'unknown'), true)))`,
});
const withoutLocks = (db: Db): ReturnType<typeof locksOf> => ({ locks: db``, join: db``, isOnly: db`true` });

/** The messages of a statement, as rows `n`. */
const rowsOf = (
  db: Db,
  items: (MessageKey & Partial<Record<'place' | 'respondent' | 'sealed', unknown>>)[],
) => db`
  jsonb_to_recordset(${db.json(items as never)})
    as n("accountId" integer, "userId" integer, week date, "scheduleId" integer, kind text,
         place integer, respondent uuid, sealed text[])`;

/**
 * Locks the messages of rows n that no other process is changing, and selects their places. The removal of people and the closing of a week lock
 * the same messages in another order, so a statement that waited for one of several would end in a deadlock.
 */
const lockedOf = (db: Db) => db`
  select n.place
  from   n
  join   messages m on m.account_id = n."accountId" and ${isRow(db)}
  for    update of m skip locked`;

/** Condition: m is the message of row n. The account is checked separately. */
const isRow = (db: Db) => db`
  m.user_id = n."userId" and m.week = n.week and m.schedule_id = n."scheduleId" and m.kind = n.kind`;

/**
 * Records that the receiver accepted messages. An accepted invitation deletes the person's recorded rejection, except that of an email
 * address to which this one didn't go: otherwise the next one would go there again. The outcome of a reminder is never recorded for a
 * person, because only people who have not answered get one.
 */
export async function recordSent(db: Db, sent: { key: MessageKey; address: string }[]): Promise<void> {
  const items = sent.map(({ key }, place) => ({ ...messageKeyOf(key), place }));
  const [mine, join] = (await isOnCitus(db))
    ? [db``, db``]
    : [db`, mine as (${lockedOf(db)})`, db`join mine on mine.place = n.place`];
  const rows = await db<{ place: number }[]>`
    with n as materialized (select * from ${rowsOf(db, items)}) ${mine}
    update messages m
    set    state = 'sent'
    from   n ${join}
    where  m.account_id = n."accountId" and ${isRow(db)}
      and  not exists (select 1 from mail_refusals f
                       where  f.account_id = m.account_id and f.user_id = m.user_id)
    returning n.place as "place"`;
  const recorded = new Set(rows.map(({ place }) => place));
  // One after another, and each in two statements, so that none locks anything while it waits.
  for (const { key, address } of sent.filter((_, place) => !recorded.has(place))) {
    await db`
      update messages m set state = 'sent' where m.account_id = ${key.accountId} and ${isKey(db, key)}`;
    if (key.kind === 'invitation') await deleteRefusal(db, key, address);
  }
}

/** Deletes the recorded rejection of a person whose invitation was accepted at an address. */
async function deleteRefusal(db: Db, { accountId, userId }: MessageKey, address: string): Promise<void> {
  await db`
    delete from mail_refusals f
    using  users u
    where  f.account_id = ${accountId} and f.user_id = ${userId} and u.account_id = f.account_id and u.user_id = f.user_id
      and  not coalesce(lower(f.address) = lower(u.email) and lower(${address}) <> lower(u.email), false)`;
}
