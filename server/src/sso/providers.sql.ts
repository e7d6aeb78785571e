// SQL for the providers with which people sign in. Writers: providers.ts.
import type { RoleValue } from '@soundings/contract/console/sign-on/single-sign-on.ts';
import { isOnCitus } from '../db/citus/distribution.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** A provider. `clientSecret` is sealed. */
export type Provider = {
  accountId: AccountId;
  providerId: number;
  publicKey: string;
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: Buffer;
  enabled: boolean;
  domains: string[];
  trustsDomains: boolean;
  createsPeople: boolean;
  roleClaim: string | null;
  roleValues: RoleValue[];
  sessionHours: number | null;
  /**
   * Whether it was added or turned on less than a week ago, or changed in what it vouches for. Then its addresses don't link administrators,
   * and its claims make no one an administrator.
   */
  isRecent: boolean;
  /** Changes with every change of the provider. */
  changedAt: Date;
};

const columns = (db: Db) => db`
  account_id     as "accountId",
  provider_id    as "providerId",
  public_key     as "publicKey",
  name           as "name",
  issuer         as "issuer",
  client_id      as "clientId",
  client_secret  as "clientSecret",
  enabled        as "enabled",
  domains        as "domains",
  trusts_domains as "trustsDomains",
  creates_people as "createsPeople",
  role_claim     as "roleClaim",
  role_values    as "roleValues",
  session_hours  as "sessionHours",
  trusted_since > now() - interval '7 days' as "isRecent",
  changed_at     as "changedAt"`;

/** Returns the providers of an account, the oldest first. */
export async function selectProviders(db: Db, accountId: AccountId): Promise<Provider[]> {
  return db<Provider[]>`
    select ${columns(db)} from sign_in_providers where account_id = ${accountId} order by provider_id`;
}

export async function selectProvider(
  db: Db,
  accountId: AccountId,
  providerId: number,
): Promise<Provider | undefined> {
  const [row] = await db<Provider[]>`
    select ${columns(db)} from sign_in_providers
    where  account_id = ${accountId} and provider_id = ${providerId}`;
  return row;
}

/** Returns whether a provider is turned on, which then can't change until the transaction ends. */
export async function selectIsEnabled(
  tx: Transaction,
  accountId: AccountId,
  providerId: number,
): Promise<boolean> {
  const [row] = await tx<{ enabled: boolean }[]>`
    select enabled from sign_in_providers
    where  account_id = ${accountId} and provider_id = ${providerId}
    for    share`;
  return row?.enabled ?? false;
}

/** Returns the provider with the key in its addresses, of any account (account_id). */
export async function selectProviderByKey(db: Db, publicKey: string): Promise<Provider | undefined> {
  const [row] = await db<Provider[]>`
    select ${columns(db)} from sign_in_providers where public_key = ${publicKey} -- account_id: of any account`;
  return row;
}

/** Returns the enabled providers of the account with this entry key, or else of the only account of the installation. */
export async function selectButtons(
  db: Db,
  entryKey: string | null,
): Promise<{ key: string; name: string }[]> {
  return db<{ key: string; name: string }[]>`
    select p.public_key as "key", p.name as "name"
    from   sign_in_providers p
    where  p.enabled
      and  p.account_id = coalesce(
             (select r.account_id from sign_in_rules r where r.entry_key = ${entryKey}),
             (select min(a.account_id) from (select account_id from accounts where kind = 'company' limit 2) a having count(*) = 1))
    order  by p.provider_id`;
}

/** The fields that administrators can change. */
export type ProviderFields = Pick<
  Provider,
  | 'name'
  | 'enabled'
  | 'domains'
  | 'trustsDomains'
  | 'createsPeople'
  | 'roleClaim'
  | 'roleValues'
  | 'sessionHours'
>;

export async function insertProvider(
  tx: Transaction,
  accountId: AccountId,
  provider: ProviderFields & Pick<Provider, 'publicKey' | 'issuer' | 'clientId' | 'clientSecret'>,
): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into sign_in_providers (account_id, public_key, name, issuer, client_id, client_secret, enabled, domains,
                                   trusts_domains, creates_people, role_claim, role_values, session_hours)
    values (${accountId}, ${provider.publicKey}, ${provider.name}, ${provider.issuer}, ${provider.clientId},
            ${provider.clientSecret}, ${provider.enabled}, ${provider.domains}, ${provider.trustsDomains},
            ${provider.createsPeople}, ${provider.roleClaim}, ${tx.json(provider.roleValues)}, ${provider.sessionHours})
    returning provider_id as "id"`;
  return row!.id;
}

/** Changes a provider. `clientSecret`: sealed; null keeps it. `isTrustedFromNow`: what it vouches for has changed. */
export async function updateProvider(
  tx: Transaction,
  { accountId, providerId }: Pick<Provider, 'accountId' | 'providerId'>,
  provider: ProviderFields & { clientSecret: Buffer | null; isTrustedFromNow: boolean },
): Promise<void> {
  const trustedSince = provider.isTrustedFromNow ? tx`now()` : tx`trusted_since`;
  await tx`
    update sign_in_providers
    set    name           = ${provider.name},
           client_secret  = coalesce(${provider.clientSecret}, client_secret),
           enabled        = ${provider.enabled},
           domains        = ${provider.domains},
           trusts_domains = ${provider.trustsDomains},
           creates_people = ${provider.createsPeople},
           role_claim     = ${provider.roleClaim},
           role_values    = ${tx.json(provider.roleValues)},
           session_hours  = ${provider.sessionHours},
           trusted_since  = ${trustedSince},
           changed_at     = statement_timestamp()
    where  account_id = ${accountId} and provider_id = ${providerId}`;
}

/** Deletes a provider, with its identities and the sessions of people who signed in with it. */
export async function deleteProvider(
  tx: Transaction,
  accountId: AccountId,
  providerId: number,
): Promise<void> {
  await tx`
    delete from sign_in_providers where account_id = ${accountId} and provider_id = ${providerId}`;
}

/** Returns the sealed secrets of all accounts (account_id), and locks them until the transaction ends, except on Citus. */
export async function selectClientSecrets(
  tx: Transaction,
): Promise<{ accountId: AccountId; providerId: number; publicKey: string; secret: Buffer }[]> {
  const onCitus = await isOnCitus(tx);
  return tx`
    select account_id as "accountId", provider_id as "providerId", public_key as "publicKey", client_secret as "secret"
    from   sign_in_providers
    order  by account_id, provider_id
    ${onCitus ? tx`` : tx`for update`}`;
}

/** Replaces a sealed secret, unless it has been changed since `before` was read. */
export async function updateClientSecret(
  tx: Transaction,
  { accountId, providerId }: { accountId: AccountId; providerId: number },
  before: Buffer,
  secret: Buffer,
): Promise<void> {
  await tx`
    update sign_in_providers set client_secret = ${secret}
    where  account_id = ${accountId} and provider_id = ${providerId} and client_secret = ${before}`;
}
