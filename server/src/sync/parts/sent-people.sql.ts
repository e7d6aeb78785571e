// SQL for the users of a commit that are new or may have changed. They are in a temporary table, so that a list of a million needs no more
// memory than one part. Also for comparisons with all users of the account.
import { type AccountId, copyInto, type Db, inBatches, type Transaction } from '../../db/db.ts';
import type { CurrentUser } from '../current-state.ts';

/** `place`: the position in the list of users. `userId`: null for a new user. */
export type SentPerson = {
  place: number;
  userId: number | null;
  externalId: string;
  /** The normalized address that the user will have, and whether the list gives it. */
  emailKey: string | null;
  isSent: boolean;
};

export async function createSentPeople(tx: Transaction): Promise<void> {
  await tx`
    create temporary table sent_people (
      account_id        integer not null,
      place             integer not null,
      user_id           integer,
      external_id       text not null,
      email_key         text,
      is_sent           boolean not null
    ) on commit drop`;
}

export async function copySentPeople(
  tx: Transaction,
  accountId: AccountId,
  people: SentPerson[],
): Promise<void> {
  if (people.length === 0) return;
  await copyInto(
    tx`copy sent_people (account_id, place, user_id, external_id, email_key, is_sent) from stdin`,
    people.map(
      ({ place, userId, externalId, emailKey, isSent }) =>
        [accountId, place, userId, externalId, emailKey, isSent] as const,
    ),
  );
}

/** Lets PostgreSQL know how many rows there are: it can't find out by itself before the transaction ends. */
export async function analyzeSentPeople(tx: Transaction): Promise<void> {
  await tx`analyze sent_people`;
}

/** Returns externalIds of new users that are sent more than once, at most `most`. */
export async function selectRepeatedIds(
  tx: Transaction,
  accountId: AccountId,
  most: number,
): Promise<string[]> {
  const rows = await tx<{ externalId: string }[]>`
    select external_id as "externalId"
    from   sent_people
    where  account_id = ${accountId} and user_id is null
    group  by external_id
    having count(*) > 1
    order  by min(place)
    limit  ${most}`;
  return rows.map(({ externalId }) => externalId);
}

export async function selectExternalIds(db: Db, accountId: AccountId, userIds: number[]): Promise<string[]> {
  const rows = await db<{ externalId: string }[]>`
    select external_id as "externalId" from users where account_id = ${accountId} and user_id = any(${userIds})`;
  return rows.map(({ externalId }) => externalId);
}

/** Someone who is sent with an address that others have or are sent with. */
export type WantedEmail = Pick<SentPerson, 'place' | 'externalId' | 'isSent'> & {
  emailKey: string;
  isNew: boolean;
};

/** Yields, in batches, the people who are to have an address that others in the table are to have, too: first those who keep theirs. */
export const selectSharedEmails = (
  tx: Transaction,
  accountId: AccountId,
): AsyncGenerator<WantedEmail[], void> =>
  inBatches(
    tx<WantedEmail[]>`
      select place as "place", external_id as "externalId", user_id is null as "isNew", email_key as "emailKey",
             is_sent as "isSent"
      from   sent_people
      where  account_id = ${accountId}
        and  email_key in (select email_key from sent_people
                           where  account_id = ${accountId} and email_key is not null
                           group  by email_key having count(*) > 1)
      order  by is_sent, place`,
    1_000,
  );

/** Yields, in batches, the people who are to have an address that a user who is not in the table has now, and that user. */
export const selectOwnedEmails = (
  tx: Transaction,
  accountId: AccountId,
): AsyncGenerator<(WantedEmail & { owner: CurrentUser })[], void> =>
  inBatches(
    tx<(WantedEmail & { owner: CurrentUser })[]>`
      select s.place as "place", s.external_id as "externalId", s.user_id is null as "isNew", s.email_key as "emailKey",
             s.is_sent as "isSent",
             json_build_object('id', u.user_id, 'externalId', u.external_id, 'managed', u.managed and not u.by_scim,
                               'isOthers', u.managed and u.by_scim) as "owner"
      from   sent_people s
      join   users u on u.account_id = s.account_id and u.email_key = s.email_key
      left   join sent_people o on o.account_id = u.account_id and o.user_id = u.user_id
      where  s.account_id = ${accountId} and o.user_id is null
      order  by s.place`,
    1_000,
  );

/** How many users are read as one text. */
const usersTogether = 20_000;

/**
 * Yields the users who have an externalId, as texts of many: for each one the id, "m" for those that pushes manage or "o" for others, the
 * fingerprint of what was last sent or "-", the length of the externalId in bytes of UTF-8, a space, and the externalId.
 */
export async function* selectUsersBefore(tx: Transaction, accountId: AccountId): AsyncGenerator<Buffer> {
  const selectUsersAfter = async (after: string) => {
    const [row] = await tx`
      select max(user_id),
             string_agg(user_id || case when managed and not by_scim then 'm' else 'o' end
                        || case when length(fingerprint) = 14 then fingerprint else '-' end
                        || octet_length(convert_to(external_id, 'UTF8')) || ' ' || external_id, '')
      from   (select user_id, managed, by_scim, fingerprint, external_id
              from   users
              where  account_id = ${accountId} and user_id > ${after} and external_id is not null
              order  by user_id
              limit  ${usersTogether}) u`.raw();
    return row as unknown as (Buffer | null)[];
  };
  for (let next = selectUsersAfter('0'); ;) {
    const [last, users] = await next;
    if (!last || !users) return;
    next = selectUsersAfter(last.toString('latin1')); // while these are read
    next.catch(() => {}); // the reader may have stopped
    yield users;
  }
}

/** How many ids a statement names. */
const idsTogether = 10_000;

/** Stores users who will be removed in a temporary table. Throws if one of them is not there, or not managed by pushes. */
export async function noteRemovedPeople(
  tx: Transaction,
  accountId: AccountId,
  userIds: readonly number[],
): Promise<void> {
  await tx`
    create temporary table removed_people (
      account_id   integer not null,
      user_id      integer not null,
      external_id  text not null,
      primary key (account_id, user_id)
    ) on commit drop`;
  let noted = 0;
  for (let from = 0; from < userIds.length; from += idsTogether) {
    const { count } = await tx`
      insert into removed_people (account_id, user_id, external_id)
      select account_id, user_id, external_id
      from   users
      where  account_id = ${accountId} and user_id = any(${userIds.slice(from, from + idsTogether)})
        and  managed and not by_scim`;
    noted += count;
  }
  if (noted !== userIds.length)
    throw new Error(`${userIds.length} users were to be removed, but ${noted} of them can be.`);
}

/** Yields the users of `removed_people` in batches, by id. Other statements can run between two batches. */
export async function* selectRemovedPeople(
  tx: Transaction,
  accountId: AccountId,
): AsyncGenerator<{ id: number; externalId: string }[], void> {
  for (let last = 0; ;) {
    const rows = await tx<{ id: number; externalId: string }[]>`
      select user_id as "id", external_id as "externalId"
      from   removed_people
      where  account_id = ${accountId} and user_id > ${last}
      order  by user_id
      limit  10000`;
    if (rows.length === 0) return;
    last = rows.at(-1)?.id ?? 0;
    yield rows;
  }
}

/** Clears the addresses of all people in the table who get another one, so that they can swap addresses. */
export async function clearSentEmails(tx: Transaction, accountId: AccountId): Promise<void> {
  await tx`
    update users u
    set    email = null, email_key = null
    from   sent_people s
    where  u.account_id = ${accountId} and s.account_id = u.account_id and u.user_id = s.user_id
      and  u.email_key <> coalesce(s.email_key, '')`;
}
