// SQL for the identities of people at providers, and for the people who may be meant by a verified address. Writers: sign-in-by-provider.ts,
// identities.ts.
import type { Role } from '@soundings/contract/people/roles.ts';
import { selectPreviousAddressRule } from '../auth/sign-in-links.sql.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** A person of the account. */
export type FoundPerson = {
  userId: number;
  role: Role;
  active: boolean;
  isRolePending: boolean;
  hasSignedIn: boolean;
  /** Whether the address of an administrator was changed in the last week (see selectAddressee). */
  isAddressNew: boolean;
  /** Whether the person has another identity at the provider. */
  hasIdentity: boolean;
  /** Whether the person has had no identity at the provider for a week. */
  isIdentityRecent: boolean;
  isBreakGlass: boolean;
};

const person = (db: Db, providerId: number) => db`
  u.user_id      as "userId",
  u.role         as "role",
  u.active       as "active",
  u.role_pending as "isRolePending",
  exists (select 1 from audit_entries e
          where  e.account_id = u.account_id and e.user_id = u.user_id and e.action = 'signed in') as "hasSignedIn",
  p.is_previous  as "isAddressNew",
  exists (select 1 from sign_in_identities i
          where  i.account_id = u.account_id and i.user_id = u.user_id and i.provider_id = ${providerId}) as "hasIdentity",
  not exists (select 1 from sign_in_identities i
              where  i.account_id = u.account_id and i.user_id = u.user_id and i.provider_id = ${providerId}
                and  i.linked_at <= now() - interval '7 days') as "isIdentityRecent",
  exists (select 1 from break_glass_administrators b
          where  b.account_id = u.account_id and b.user_id = u.user_id) as "isBreakGlass"`;

/** Returns the person with an identity, locked until the transaction ends. */
export async function selectPersonOfIdentity(
  tx: Transaction,
  accountId: AccountId,
  providerId: number,
  subject: string,
): Promise<FoundPerson | undefined> {
  const [row] = await tx<FoundPerson[]>`
    select ${person(tx, providerId)}
    from   sign_in_identities i
    join   users u on u.account_id = i.account_id and u.user_id = i.user_id
    ${selectPreviousAddressRule(tx, accountId)}
    where  i.account_id = ${accountId} and i.provider_id = ${providerId} and i.subject = ${subject}
    for    update of u, i`;
  return row;
}

/** Returns the person with a normalized address, locked until the transaction ends. */
export async function selectPersonOfAddress(
  tx: Transaction,
  accountId: AccountId,
  providerId: number,
  emailKey: string,
): Promise<FoundPerson | undefined> {
  const [row] = await tx<FoundPerson[]>`
    select ${person(tx, providerId)}
    from   users u
    ${selectPreviousAddressRule(tx, accountId)}
    where  u.account_id = ${accountId} and u.email_key = ${emailKey}
    for    update of u`;
  return row;
}

/** Returns the role of the person with an identity or, without one, with a normalized address. Locks nothing. */
export async function selectRoleOf(
  db: Db,
  accountId: AccountId,
  { providerId, subject, emailKey }: { providerId: number; subject: string; emailKey: string | null },
): Promise<Role | undefined> {
  const [row] = await db<{ role: Role }[]>`
    select u.role as "role"
    from   users u
    left   join sign_in_identities i
           on i.account_id = u.account_id and i.user_id = u.user_id and i.provider_id = ${providerId}
          and i.subject = ${subject}
    where  u.account_id = ${accountId} and (i.user_id is not null or u.email_key = ${emailKey})
    order  by i.user_id nulls last
    limit  1`;
  return row?.role;
}

/** Links an identity to a person, or notes that it was used. Returns false if it, or the person, is linked otherwise. */
export async function upsertIdentity(
  tx: Transaction,
  accountId: AccountId,
  { providerId, subject, userId }: { providerId: number; subject: string; userId: number },
): Promise<boolean> {
  const linked = await tx`
    insert into sign_in_identities (account_id, provider_id, subject, user_id)
    values (${accountId}, ${providerId}, ${subject}, ${userId})
    on conflict do nothing
    returning account_id`;
  if (linked.length > 0) return true;
  const used = await tx`
    update sign_in_identities set used_at = now()
    where  account_id = ${accountId} and provider_id = ${providerId} and subject = ${subject} and user_id = ${userId}
    returning account_id`;
  return used.length > 0;
}

/** Deletes the identity of a person at a provider. Returns whether there was one. */
export async function deleteIdentity(
  tx: Transaction,
  accountId: AccountId,
  providerId: number,
  userId: number,
): Promise<boolean> {
  const rows = await tx`
    delete from sign_in_identities
    where  account_id = ${accountId} and provider_id = ${providerId} and user_id = ${userId}
    returning account_id`;
  return rows.length > 0;
}

export type IdentityRow = { providerId: number; name: string; linkedAt: Date | null };

/** Returns the enabled providers of the account, and those at which the person has an identity. `linkedAt`: null if there is none. */
export async function selectIdentities(db: Db, accountId: AccountId, userId: number): Promise<IdentityRow[]> {
  return db<IdentityRow[]>`
    select p.provider_id as "providerId", p.name as "name", i.linked_at as "linkedAt"
    from   sign_in_providers p
    left   join sign_in_identities i
           on i.account_id = p.account_id and i.provider_id = p.provider_id and i.user_id = ${userId}
    where  p.account_id = ${accountId} and (p.enabled or i.user_id is not null)
    order  by p.provider_id`;
}

/** Returns how many people of an account have an identity at each provider. */
export async function countIdentities(db: Db, accountId: AccountId): Promise<Map<number, number>> {
  const rows = await db<{ providerId: number; count: number }[]>`
    select provider_id as "providerId", count(*)::integer as "count"
    from   sign_in_identities
    where  account_id = ${accountId}
    group  by provider_id`;
  return new Map(rows.map(({ providerId, count }) => [providerId, count]));
}
