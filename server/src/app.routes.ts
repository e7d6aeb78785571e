// The HTTP server and every route: the interfaces, the answering pages and the console.
import { channelsOf } from './base/messages/channels.ts';
import type { Log } from './base/log.ts';
import { version } from './base/version.ts';
import { callerOf, senderOf } from './accounts/callers.ts';
import { serveAudit } from './accounts/audit-chain/audit.routes.ts';
import { meterTokens } from './accounts/usage.ts';
import { serveAnswering } from './answers/answering.routes.ts';
import { serveEntry } from './answers/entry/entry.routes.ts';
import { serveAccess } from './console/access/access.routes.ts';
import { serveSingleSignOn } from './console/access/single-sign-on.routes.ts';
import { serveSmsSettings } from './console/access/sms.routes.ts';
import { openConsole } from './console/core/console.ts';
import { serveConsoleGroups } from './console/groups/groups.routes.ts';
import { openTrees } from './console/groups/trees.ts';
import type { AskOnThread } from './rounds/ask-now.ts';
import { serveAskNow } from './console/asking/ask-now.routes.ts';
import { serveStart } from './console/asking/start.routes.ts';
import { serveTemplates } from './console/asking/templates.routes.ts';
import { serveLibrary } from './console/asking/library.routes.ts';
import { serveRounds } from './console/asking/rounds.routes.ts';
import { serveSchedules } from './console/asking/schedules.routes.ts';
import { serveInvitations } from './console/people/invitations.routes.ts';
import { serveCards } from './console/people/cards.routes.ts';
import { servePeopleTable } from './console/people/people-table.routes.ts';
import { servePeople } from './console/people/people.routes.ts';
import { servePulls } from './console/runs/pulls.routes.ts';
import { serveSandbox } from './console/access/sandbox.routes.ts';
import { serveWebhooks } from './console/access/webhooks.routes.ts';
import { servePrivacy } from './console/access/privacy.routes.ts';
import { serveReports } from './console/reports/reports.routes.ts';
import type { CreateReports } from './console/reports/report-threads.ts';
import { serveFocus } from './console/focus/focus.routes.ts';
import { serveDrivers } from './console/results/drivers.routes.ts';
import { serveResults } from './console/results/results.routes.ts';
import { serveSegmentResults } from './console/results/segments.routes.ts';
import { serveBreakdowns } from './console/groups/breakdowns.routes.ts';
import { serveFiles } from './console/runs/files.routes.ts';
import { serveRuns } from './console/runs/runs.routes.ts';
import { serveSession } from './console/session/session.routes.ts';
import { serveInstallation } from './console/core/installation.routes.ts';
import { serveSystem } from './console/core/system.routes.ts';
import type { Pool } from './db/db.ts';
import type { Reads } from './db/replica/reads.ts';
import { isMigrated } from './db/migrate.ts';
import { watchSpace } from './db/space.ts';
import { openResponseCache } from './http/responses/response-cache.ts';
import { serveMetrics } from './http/metrics.ts';
import { serveDocuments } from './http/pages.ts';
import { createServer, type Server, type ServerOptions } from './http/server.ts';
import { limitConcurrency } from './http/concurrency.ts';
import type { Mailer } from './mail/mail.ts';
import { operatingFacts } from './operating/facts.ts';
import { serveGroups } from './people/groups.routes.ts';
import { forgetFragments } from './results/fragments/build-fragments.ts';
import type { OnDamage } from './results/fragments/read-fragments.ts';
import { serveData } from './results/data/data.routes.ts';
import { serveDirectory } from './console/directory/directory.routes.ts';
import type { OnRules } from './scim/applying/rules-thread.ts';
import type { Applier } from './scim/applying/applier.ts';
import type { RequestLog } from './scim/request-log.ts';
import { serveScim } from './scim/scim.routes.ts';
import { servePushParts } from './sync/parts/parts.routes.ts';
import { serveOrganization } from './sync/organization.routes.ts';
import type { AnswerKeys } from './sealing/answer-keys.ts';
import type { Approve } from './files/approval-thread.ts';
import type { SimulateBreakdown } from './results/segments/simulation-thread.ts';
import type { ComputeDrivers } from './results/statistics/drivers-thread.ts';
import { signOutAddress } from './sso/logout/logout.ts';
import { openProviderClients } from './sso/provider-client.ts';
import { serveSso } from './sso/sso.routes.ts';
import type { Words } from './results/data/words-thread.ts';
import { serveStorage } from './files/storage.routes.ts';
import {
  type AppConfig,
  isSecure,
  listenerOptions,
  longReads,
  longReadsOfAccount,
  templateOf,
} from './app.config.ts';
import type { Connections } from './app.connections.ts';

/** Creates the server, without its routes. */
export function openServer({
  config,
  pool,
  log,
  now,
  isStarted,
}: Pick<ServerOptions, 'log' | 'now' | 'isStarted'> & { config: AppConfig; pool: Promise<Pool> }): Server {
  const hasSpace = watchSpace(pool, log);
  return createServer({
    log,
    ...listenerOptions(config),
    isStarted,
    isReady: async () => isStarted() && (await isMigrated(await pool)) && hasSpace(),
    authenticate: authenticator(pool),
    count: meterTokens(pool, config.rateLimit, now, log),
    cache: openResponseCache(config.responseCacheMb * 1e6),
    concurrency: limitConcurrency(longReads, longReadsOfAccount),
    now,
  });
}

const authenticator =
  (pool: Promise<Pool>): ServerOptions['authenticate'] =>
  async (authorization, scope, address) =>
    scope === 'files'
      ? senderOf(await pool, authorization, address)
      : callerOf(await pool, authorization, scope, address);

/** Logs that fragments are damaged, and deletes them, so that the job builds them again. Until then, the figures are read from their tables. */
const onDamagedFragments =
  (pool: Promise<Pool>, log: Log): OnDamage =>
  (accountId, error) => {
    log.error({ accountId, err: error }, 'Stored responses are damaged. They are created again');
    pool
      .then((one) => forgetFragments(one, accountId))
      .catch((failure: unknown) =>
        log.error({ accountId, err: failure }, 'Damaged responses were not deleted'),
      );
  };

type InterfaceDependencies = Omit<Connections, 'reached'> & {
  config: AppConfig;
  now: () => number;
  log: Log;
  applier: Applier;
  requests: RequestLog;
};

/** Registers the routes of the interfaces, of the answering pages and of the documentation. */
export function serveInterfaces(
  server: Server,
  { config, pool, reads, answers, keys, pushes, now, log, applier, requests }: InterfaceDependencies,
): void {
  serveGroups(server, reads);
  serveData(server, reads, { now, onDamage: onDamagedFragments(pool, log) });
  serveOrganization(server, pushes);
  servePushParts(server, { pool, pushes, log });
  serveStorage(server, pool);
  serveAudit(server, pool);
  serveScim(server, { pool, publicUrl: config.publicUrl, applier, requests, log });
  serveAnswering(server, { pool: answers, keys, isSecure: isSecure(config), now });
  serveEntry(server, { pool: answers, keys, channels: channelsOf(config), now });
  serveDocuments(server.app, config.publicUrl);
}

/** Registers the metrics, which every process has. */
export function serveOperating(
  server: Server,
  {
    config,
    pool,
    reads,
    keys,
    now,
  }: Pick<InterfaceDependencies, 'config' | 'pool' | 'reads' | 'keys' | 'now'>,
): void {
  serveMetrics(server.app, {
    token: config.metricsToken,
    isProxied: () => config.trustProxy.length > 0 || server.forgottenProxy() !== undefined,
    facts: async () => ({
      ...(await operatingFacts(await pool, { config, keys: await keys, now: now() })),
      replica: (await reads).facts(),
    }),
  });
}

type ConsoleDependencies = {
  log: Log;
  config: AppConfig;
  pool: Promise<Pool>;
  reads: Promise<Reads>;
  keys: Promise<AnswerKeys>;
  mailer: Mailer | undefined;
  approve: Approve;
  ask: AskOnThread;
  createReports: CreateReports;
  drivers: ComputeDrivers;
  simulateBreakdown: SimulateBreakdown;
  words: Words;
  rules: OnRules;
  applier: Applier;
  now: () => number;
};

/** Registers the routes of the console. */
export function serveConsole(
  server: Server,
  {
    config,
    pool,
    reads,
    keys,
    mailer,
    approve,
    ask,
    createReports,
    drivers,
    simulateBreakdown,
    words,
    rules,
    applier,
    log,
    now,
  }: ConsoleDependencies,
): void {
  const console = openConsole(server, pool, isSecure(config));
  const secrets = keys.then((one) => one.secrets);
  const canMail = mailer !== undefined;
  const channels = channelsOf(config);
  serveAccess(console, { ...config, pool, secrets, mailer, log, now });
  serveSmsSettings(console, { pool, publicUrl: config.publicUrl, sms: config.sms, channels });
  serveSandbox(console, {
    ...config,
    pool,
    sandboxes: { most: config.sandboxes, template: templateOf(config) },
  });
  serveWebhooks(console, { pool, secrets, networks: config.outgoingNetworks, now });
  servePulls(console, { pool, secrets, networks: config.outgoingNetworks, now });
  serveSigningIn(server, console, { config, pool, secrets, now, log, canMail });
  serveSystem(console, { pool, keys, now, channels, forgottenProxy: server.forgottenProxy });
  serveInstallation(console, { pool, keys, config, now });
  servePeople(console, { pool, publicUrl: config.publicUrl, canMail, now });
  servePeopleTable(console, { pool, reads });
  serveInvitations(console, { pool, publicUrl: config.publicUrl, canMail, now });
  serveCards(console, { pool, secrets, publicUrl: config.publicUrl, channels });
  const trees = openTrees(pool);
  serveConsoleGroups(console, pool, trees);
  serveBreakdowns(console, pool, simulateBreakdown, now);
  serveRuns(console, pool, approve);
  serveFiles(console, pool);
  serveDirectory(console, { pool, publicUrl: config.publicUrl, canMail, rules, applier });
  serveResults(console, { pool, reads, trees }, words);
  serveSegmentResults(console, reads);
  serveReports(console, { pool, createReports, now });
  serveDrivers(console, reads, drivers);
  serveFocus(console, pool, now);
  const askingDependencies = { pool, mailer, channels, publicUrl: config.publicUrl, now };
  serveLibrary(console, pool);
  serveSchedules(console, askingDependencies);
  serveAskNow(console, askingDependencies, ask);
  serveTemplates(console, askingDependencies);
  serveStart(console, askingDependencies);
  serveRounds(console, askingDependencies);
  servePrivacy(console, pool, async () => ({
    keys: await (await keys).chain.state(),
    version,
    fileDays: config.fileDays,
    hasMail: channels.mail || channels.sms,
    publicUrl: config.publicUrl,
    now: now(),
  }));
}

type SigningInDependencies = Omit<Parameters<typeof serveSession>[1], 'signOutAddress'> & {
  config: AppConfig;
};

/** Registers the routes with which people sign in and out: with a password, and with providers. */
function serveSigningIn(
  server: Server,
  console: ReturnType<typeof openConsole>,
  { config, ...dependencies }: SigningInDependencies,
): void {
  const { pool, secrets, now } = dependencies;
  const { publicUrl } = config;
  const clients = openProviderClients(secrets, config.outgoingNetworks, now);
  const sso = { ...dependencies, clients, publicUrl, isSecure: isSecure(config) };
  serveSession(console, {
    ...dependencies,
    signOutAddress: async ({ accountId, sessionId }) =>
      signOutAddress({ pool: await pool, secrets: await secrets, clients, publicUrl }, accountId, sessionId),
  });
  serveSingleSignOn(console, sso);
  serveSso(server, { ...sso, session: console });
}
