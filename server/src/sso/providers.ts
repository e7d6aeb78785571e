// Adds, changes and removes the providers with which people sign in. Someone who controls a provider can sign in as the people it vouches for,
// so every administrator is notified.
import { randomBytes } from 'node:crypto';
import { isEmail } from '@soundings/contract/formats.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { notifyAdministrators } from '../accounts/account-notices.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { type Actor, audit } from '../accounts/audit.ts';
import { deleteProviderSessions } from '../auth/sessions.sql.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import { Fault, faultAtField } from '../base/errors.ts';
import { nameFault } from '../base/field-faults.ts';
import { type AccountId, type Db, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { sealClientSecret } from './client-secrets.ts';
import { ProviderFault } from './provider-fault.ts';
import type { ProviderClients } from './provider-client.ts';
import {
  deleteProvider,
  insertProvider,
  type Provider,
  type ProviderFields,
  selectProvider,
  selectProviders,
  updateProvider,
} from './providers.sql.ts';
import { rulesOf } from './rules.ts';
import { selectRules } from './rules.sql.ts';

/** The maximum number of providers of an account. */
const maxProviders = 10;

export type NewProvider = { name: string; issuer: string; clientId: string; clientSecret: string };

type Dependencies = { pool: Pool; secrets: Sealer; clients: ProviderClients; canMail: boolean };

/** Adds a provider that is turned off, after requesting its description, and returns its id. Throws a Fault that says what is wrong. */
export async function addProvider(
  { pool, secrets, clients, canMail }: Dependencies,
  accountId: AccountId,
  { name, issuer: address, clientId, clientSecret }: NewProvider,
  actor: Actor,
): Promise<number> {
  const issuer = await clients.describe(address, clientId.trim()).catch(refuseAddress);
  const publicKey = randomBytes(12).toString('base64url');
  const sealed = await sealClientSecret(secrets, { publicKey }, clientSecret.trim());
  return inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    await rulesOf(tx, accountId);
    const others = await selectProviders(tx, accountId);
    if (others.some((one) => one.issuer === issuer && one.clientId === clientId.trim()))
      throw faultAtField(
        'conflict',
        'provider exists',
        '/issuer',
        `${issuer} is already a provider with this client ID.`,
      );
    if (others.length >= maxProviders)
      throw new Fault(
        'invalid',
        'too many providers',
        `An account can have ${maxProviders} providers. Remove one first.`,
      );
    const provider = {
      ...initial,
      publicKey,
      name: name.trim(),
      issuer,
      clientId: clientId.trim(),
      clientSecret: sealed,
    };
    refuseFields(provider);
    const id = await insertProvider(tx, accountId, provider);
    await audit(tx, accountId, actor, 'provider added', { subject: provider.name, details: { issuer } });
    if (canMail)
      await notifyAdministrators(tx, accountId, { change: 'provider added', about: provider.name });
    return id;
  });
}

const initial: Omit<ProviderFields, 'name'> = {
  enabled: false,
  domains: [],
  trustsDomains: false,
  createsPeople: false,
  roleClaim: null,
  roleValues: [],
  sessionHours: null,
};

/** Throws the Fault for a provider whose description can't be read. */
function refuseAddress(error: unknown): never {
  if (!(error instanceof ProviderFault)) throw error;
  const { refusal, detail } = error;
  if (refusal === 'forbidden address')
    throw faultAtField(
      'invalid',
      'provider address forbidden',
      '/issuer',
      `${detail} The service requests only public addresses. If the provider is in your own network, the operator can allow it with OUTGOING_NETWORKS.`,
    );
  if (refusal === 'unavailable')
    throw faultAtField(
      'invalid',
      'provider unreachable',
      '/issuer',
      `The provider can't be reached (${detail}). Check the address.`,
    );
  throw faultAtField(
    'invalid',
    'provider not usable',
    '/issuer',
    `There is no OpenID Connect provider at this address. ${detail} Copy the issuer from the settings of the provider.`,
  );
}

export type ProviderChanges = Partial<ProviderFields> & { clientSecret?: string };

/** Changes a provider. Throws a Fault that lists what is wrong. */
export async function changeProvider(
  { pool, secrets, canMail }: Omit<Dependencies, 'clients'>,
  accountId: AccountId,
  { providerId, changes }: { providerId: number; changes: ProviderChanges },
  actor: Actor,
): Promise<void> {
  const { clientSecret, ...given } = changes;
  const { publicKey } = await providerById(pool, accountId, providerId);
  const sealed =
    clientSecret === undefined ? null : await sealClientSecret(secrets, { publicKey }, clientSecret.trim());
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    const before = await providerById(tx, accountId, providerId);
    const after = normalized({ ...before, ...given });
    refuseFields(after);
    if (before.enabled && !after.enabled) await refuseLastProvider(tx, before);
    const fields = changedFields(before, after);
    if (fields.length === 0 && sealed === null) return;
    const changed = [...fields, ...(sealed ? ['clientSecret'] : [])];
    const [isTurnedOn, isTurnedOff] = [!before.enabled && after.enabled, before.enabled && !after.enabled];
    const isTrustedFromNow = isTurnedOn || trusted.some((name) => changed.includes(name));
    await updateProvider(tx, before, { ...after, clientSecret: sealed, isTrustedFromNow });
    const ended = isTurnedOff ? await deleteProviderSessions(tx, accountId, { providerId }) : 0;
    const details = { fields: changed, ...(ended > 0 && { sessionsEnded: ended }) };
    await audit(tx, accountId, actor, 'provider changed', { subject: after.name, details });
    if (canMail && noticed.some((name) => changed.includes(name)))
      await notifyAdministrators(tx, accountId, { change: 'provider changed', about: after.name });
  });
}

/** What decides which addresses and roles a provider vouches for. A change starts the week in which administrators are protected. */
const trusted = ['domains', 'trustsDomains', 'roleClaim', 'roleValues'];
/** What all administrators are notified of. */
const noticed = [...trusted, 'enabled', 'createsPeople', 'clientSecret'];

/** Removes a provider, with its identities and sessions. Throws a Fault if single sign-on is required and it is the last one. */
export async function removeProvider(
  tx: Transaction,
  accountId: AccountId,
  { providerId, canMail }: { providerId: number; canMail: boolean },
  actor: Actor,
): Promise<void> {
  await lockAccount(tx, accountId);
  const provider = await providerById(tx, accountId, providerId);
  if (provider.enabled) await refuseLastProvider(tx, provider);
  await deleteProvider(tx, accountId, providerId);
  await audit(tx, accountId, actor, 'provider removed', { subject: provider.name });
  if (canMail)
    await notifyAdministrators(tx, accountId, { change: 'provider removed', about: provider.name });
}

/** Returns a provider. Throws a Fault if the account has none with this id. */
export async function providerById(db: Db, accountId: AccountId, providerId: number): Promise<Provider> {
  const found = await selectProvider(db, accountId, providerId);
  if (!found)
    throw new Fault(
      'not_found',
      'provider not found',
      'This provider does not exist. It may have been removed.',
    );
  return found;
}

async function refuseLastProvider(tx: Transaction, { accountId, providerId }: Provider): Promise<void> {
  const rules = await selectRules(tx, accountId);
  if (!rules?.requiresSso) return;
  const others = (await selectProviders(tx, accountId)).filter(
    (one) => one.enabled && one.providerId !== providerId,
  );
  if (others.length > 0) return;
  throw new Fault(
    'conflict',
    'last provider',
    'Single sign-on is required, and this is the only provider that is turned on. Stop requiring single sign-on first.',
  );
}

const normalized = <T extends ProviderFields>(fields: T): T => ({
  ...fields,
  name: fields.name.trim(),
  domains: [...new Set(fields.domains.map((one) => one.trim().toLowerCase().replace(/^@/, '')))].filter(
    Boolean,
  ),
  roleClaim: fields.roleClaim?.trim() || null,
  roleValues: fields.roleValues.map(({ value, role }) => ({ value: value.trim(), role })),
});

/** Throws a Fault that lists what is wrong with the fields. */
function refuseFields({
  name,
  domains,
  trustsDomains,
  createsPeople,
  roleClaim,
  roleValues,
}: ProviderFields): void {
  const fault = (type: DetailType, path: string, message: string): Detail => ({ type, message, path });
  const nameWrong = nameFault('name', name);
  const wrong = domains.find((domain) => !domain.includes('.') || !isEmail(`a@${domain}`));
  const values = roleValues.map(({ value }) => value);
  const areValuesWrong =
    (roleClaim !== null && values.length === 0) ||
    values.includes('') ||
    new Set(values).size < values.length;
  const details = [
    ...(nameWrong ? [{ ...nameWrong, path: '/name' }] : []),
    ...(wrong === undefined
      ? []
      : [fault('invalid domain', '/domains', `"${wrong}" is not a domain such as example.com.`)]),
    ...((trustsDomains || createsPeople) && domains.length === 0
      ? [fault('domains needed', '/domains', 'List the domains of your company first.')]
      : []),
    ...(areValuesWrong
      ? [fault('role values needed', '/roleValues', 'Enter at least one value of the claim, each only once.')]
      : []),
  ];
  if (details[0]) throw new Fault('invalid', details[0].type as DetailType, details[0].message, { details });
}

const changedFields = (before: ProviderFields, after: ProviderFields): string[] =>
  (
    [
      'name',
      'enabled',
      'domains',
      'trustsDomains',
      'createsPeople',
      'roleClaim',
      'roleValues',
      'sessionHours',
    ] as const
  ).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
