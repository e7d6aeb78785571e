// The console: the providers with which people sign in, and whether single sign-on is required.
import type { ProviderView, SingleSignOn } from '@soundings/contract/console/sign-on/single-sign-on.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Sealer } from '../../base/crypto/sealer.ts';
import { Fault } from '../../base/errors.ts';
import { openThrottle, tooEarly } from '../../base/throttle.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { browserSecretOf } from '../../sso/browser-cookie.ts';
import { beginVisit, redirectUriOf } from '../../sso/flows.ts';
import { selectTests } from '../../sso/flows.sql.ts';
import { disconnectIdentity } from '../../sso/identities.ts';
import { countIdentities, selectIdentities } from '../../sso/identities.sql.ts';
import { ProviderFault } from '../../sso/provider-fault.ts';
import type { ProviderClients } from '../../sso/provider-client.ts';
import { addProvider, changeProvider, providerById, removeProvider } from '../../sso/providers.ts';
import { type Provider, selectProviders } from '../../sso/providers.sql.ts';
import { rulesOf, setRequired } from '../../sso/rules.ts';
import { selectBreakGlassChoices } from '../../sso/rules.sql.ts';
import { actorOf, type Console, type Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';

export type SingleSignOnOptions = {
  pool: Promise<Pool>;
  secrets: Promise<Sealer>;
  clients: ProviderClients;
  publicUrl: string;
  isSecure: boolean;
  canMail: boolean;
  now: () => number;
};

/** How often an account can request the description of a provider, or begin a visit. */
const requestLimit = { free: 30, windowMs: 60_000 };
const maxAccounts = 1_000;

export function serveSingleSignOn(console: Console, options: SingleSignOnOptions): void {
  const requests = openThrottle(requestLimit, maxAccounts, options.now);
  /** Throws a Fault if the account has made too many requests that reach a provider. */
  const count = ({ accountId }: Who) => {
    const wait = requests.attempt(String(accountId));
    if (wait > 0) throw tooEarly('too many provider requests', 'Providers were requested too often.', wait);
  };
  serveProviders(console, options, count);
  serveIdentities(console, options, count);
}

function serveProviders(console: Console, options: SingleSignOnOptions, count: (who: Who) => void): void {
  const { pool, secrets, clients, canMail } = options;
  console.serve('GET /sso', async (who) => singleSignOnOf(await pool, who, options));

  console.serve('POST /sso/providers', async (who, { body }) => {
    count(who);
    const open = { pool: await pool, secrets: await secrets, clients, canMail };
    return { id: await addProvider(open, who.accountId, body, actorOf(who)) };
  });

  console.serve('PATCH /sso/providers/{providerId}', async (who, { params, body }) => {
    const open = { pool: await pool, secrets: await secrets, canMail };
    const change = { providerId: idIn(params.providerId), changes: body };
    await changeProvider(open, who.accountId, change, actorOf(who));
  });

  console.serve('DELETE /sso/providers/{providerId}', async (who, { params }) => {
    const removed = { providerId: idIn(params.providerId), canMail };
    await inTransaction(await pool, (tx) => removeProvider(tx, who.accountId, removed, actorOf(who)));
  });

  console.serve('POST /sso/providers/{providerId}/test', async (who, { params, request, reply }) => {
    count(who);
    const provider = await providerById(await pool, who.accountId, idIn(params.providerId));
    const visit = { purpose: 'test' as const, returnTo: `/sign-in/done?test=${provider.providerId}` };
    return beginFor(options, who, provider, { ...visit, request, reply });
  });

  console.serve('PUT /sso/required', async (who, { body }) =>
    inTransaction(await pool, (tx) => {
      const by = {
        actor: actorOf(who),
        userId: who.userId,
        signsInByProvider: who.providerId !== null,
        canMail,
      };
      return setRequired(tx, who.accountId, body, by);
    }),
  );
}

type Beginning = {
  purpose: 'connect' | 'confirm' | 'test';
  returnTo: string;
  request: FastifyRequest;
  reply: FastifyReply;
};

/** Begins a visit of the caller, and returns the address to open. Throws a Fault if the provider can't be reached. */
async function beginFor(
  { pool, clients, publicUrl, now, isSecure }: SingleSignOnOptions,
  by: Who,
  provider: Provider,
  { purpose, returnTo, request, reply }: Beginning,
): Promise<{ address: string }> {
  const browserSecret = browserSecretOf(request, reply, isSecure);
  try {
    const deps = { pool: await pool, clients, publicUrl, now };
    return { address: await beginVisit(deps, provider, { purpose, by, returnTo, browserSecret }) };
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
    const message = `${provider.name} can't be used now: ${error.detail}. Try again later, or check the settings of the provider.`;
    throw new Fault('conflict', 'provider failed', message, { cause: error });
  }
}

async function singleSignOnOf(
  pool: Pool,
  { accountId }: Who,
  { publicUrl }: SingleSignOnOptions,
): Promise<SingleSignOn> {
  const rules = await inTransaction(pool, (tx) => rulesOf(tx, accountId));
  const [providers, tests, people, administrators] = await Promise.all([
    selectProviders(pool, accountId),
    selectTests(pool, accountId),
    countIdentities(pool, accountId),
    selectBreakGlassChoices(pool, accountId),
  ]);
  const view = (provider: Provider): ProviderView => {
    const {
      providerId,
      accountId: _,
      publicKey,
      clientSecret: __,
      isRecent: ___,
      changedAt: ____,
      ...fields
    } = provider;
    const test = tests.find((one) => one.providerId === providerId);
    const at = `${publicUrl}/sso/${publicKey}`;
    return {
      ...fields,
      id: providerId,
      addresses: {
        redirect: redirectUriOf(publicUrl, provider),
        afterSignOut: `${publicUrl}/sign-in`,
        backChannel: `${at}/back-channel-logout`,
        frontChannel: `${at}/front-channel-logout`,
      },
      people: people.get(providerId) ?? 0,
      lastTest: test ? { ...test.outcome, at: test.testedAt.toISOString() } : null,
    };
  };
  return {
    providers: providers.map(view),
    signInAddress: `${publicUrl}/sign-in?company=${rules.entryKey}`,
    required: rules.requiresSso,
    administrators,
  };
}

/** Serves the identities of the caller, and confirming who the caller is with a provider. */
function serveIdentities(console: Console, options: SingleSignOnOptions, count: (who: Who) => void): void {
  const { pool } = options;
  console.serve('GET /profile/identities', async ({ accountId, userId }) => {
    const identities = await selectIdentities(await pool, accountId, userId);
    return identities.map(({ linkedAt, ...one }) => ({ ...one, linkedAt: linkedAt?.toISOString() ?? null }));
  });

  console.serve('POST /profile/identities/{providerId}', async (who, { params, request, reply }) => {
    count(who);
    const provider = await providerById(await pool, who.accountId, idIn(params.providerId));
    return beginFor(options, who, provider, { purpose: 'connect', returnTo: '/profile', request, reply });
  });

  console.serve('DELETE /profile/identities/{providerId}', async (who, { params }) => {
    const removed = { providerId: idIn(params.providerId), userId: who.userId };
    await inTransaction(await pool, (tx) => disconnectIdentity(tx, who.accountId, removed, actorOf(who)));
  });

  console.serve('POST /session/proof/provider', async (who, { request, reply }) => {
    count(who);
    if (who.providerId === null)
      throw new Fault('conflict', 'not by provider', 'You signed in with a password. Confirm it instead.');
    const provider = await providerById(await pool, who.accountId, who.providerId);
    return beginFor(options, who, provider, {
      purpose: 'confirm',
      returnTo: '/sign-in/done',
      request,
      reply,
    });
  });
}
