// All work that does not run in a request: recurring jobs, tasks by job, and what runs on threads.
import type { LogLevel } from './base/config.ts';
import type { Log } from './base/log.ts';
import { moduleAt } from './base/places.ts';
import { chainAllEntries } from './accounts/audit-chain/chain.ts';
import { sendAuditEntries } from './accounts/audit-chain/syslog.ts';
import { mailAccountNotice } from './accounts/account-notices.ts';
import type { AccountNotice } from './accounts/noticed-changes.ts';
import { notifyExpiringTokens, recordExpiringTokens } from './accounts/expiring-tokens.ts';
import { mailPendingAdministrators, type PendingNotice } from './auth/pending-administrators.ts';
import { deleteExpiredSessions } from './auth/sessions.ts';
import { type MailedInvitation, mailInvitation } from './auth/sign-in-invitations.ts';
import { type MailedLink, mailSignInLink } from './auth/sign-in-links.ts';
import { deleteOldSignInFailures } from './auth/sign-in-throttle.ts';
import { deleteOldVisits } from './sso/flows.ts';
import { openDigestSender } from './digests/digests.ts';
import { compareClocks } from './db/clocks.ts';
import type { Pool } from './db/db.ts';
import type { Work } from './jobs/jobs.ts';
import { computationLimits, runOnThread, type ThreadLimits } from './jobs/threads.ts';
import type { Mailer } from './mail/mail.ts';
import { deleteEmailsBefore } from './people/users.sql.ts';
import { translateLibraries } from './questions/translate-library.ts';
import { type LostMail, mailLostWeek } from './results/lost-weeks.ts';
import { deleteLeftData, hasEndedWeeks } from './results/close-week.ts';
import { areFragmentsDue } from './results/fragments/build-fragments.ts';
import { hasLiveWeeks } from './results/live-week.ts';
import { areStatisticsDue } from './results/statistics/statistics.ts';
import type { AskedNow, AskOnThread } from './rounds/ask-now.ts';
import { storeCardLinks } from './rounds/card-links.ts';
import { readBounces } from './rounds/messages/bounces.ts';
import { type LinkNotice, sendLinkNotice } from './rounds/messages/link-notices.ts';
import { openSender } from './rounds/messages/messages.ts';
import { insertRefusal } from './rounds/messages/messages.sql.ts';
import { dueSchedules } from './rounds/opening.ts';
import { countParticipation } from './rounds/participation.ts';
import { canTend } from './sandboxes/sandboxes.sql.ts';
import { tendSandboxes } from './sandboxes/tend.ts';
import type { TemplateWork } from './sandboxes/template.ts';
import { templateMonday } from './demo/template.ts';
import type { Applier } from './scim/applying/applier.ts';
import { selectDirectoriesDue } from './scim/applying/directories.sql.ts';
import { deleteOldRunsDue, deleteUnappliedChangesDue } from './sync/runs.ts';
import { deleteAbandonedPushes } from './sync/parts/parts.ts';
import { updateLostRuns } from './sync/runs.sql.ts';
import type { WeeksWork } from './weeks.thread.ts';
import type { FilesWork } from './files.thread.ts';
import type { AnswerKeys } from './sealing/answer-keys.ts';
import type { Gateway } from './sms/sms.ts';
import { type MailedReport, mailReport } from './files/report-mails.ts';
import { processInTurn } from './files/queue.ts';
import { deleteOldFilesDue } from './files/store.ts';
import { deleteOldEvents } from './webhooks/deliveries.sql.ts';
import type { WebhookSender } from './webhooks/sender.ts';
import { mailTurnedOff, type TurnedOffMail } from './webhooks/turned-off.ts';
import { fetchDays } from '@soundings/contract/pulls/pull-values.ts';
import { Fault } from './base/errors.ts';
import { recordDefect } from './pulls/fetch-pull.ts';
import { type FailingMail, mailFailing } from './pulls/failing.ts';
import { fetchLimitMs, openPuller, type Puller } from './pulls/puller.ts';
import type { ClaimedPull } from './pulls/claims.sql.ts';
import { deleteOldFetches } from './pulls/pulls.sql.ts';
import type { PullsWork } from './pulls.thread.ts';
import { deliveryDays } from '@soundings/contract/webhooks/events.ts';
import { addLostProcessing } from './files/store.sql.ts';
import { type AppConfig, templateOf } from './app.config.ts';

/** Opens, shows or closes weeks on a separate thread, because it may compute for seconds. `only` limits it to one week. */
export type OnWeeks = (work: WeeksWork['work'], only?: WeeksWork['only']) => Promise<void>;

const onThread = <Result = void>(
  name: string,
  data: FilesWork | PullsWork | WeeksWork | TemplateWork,
  limits?: ThreadLimits,
): Promise<Result> => runOnThread<Result>(moduleAt(`${name}.thread`), data, limits);

/** The keys of open weeks must not stay in the memory of a thread. */
const weeksLimits = { isKept: false };

/** Returns a function that runs work on weeks on a separate thread. */
export const weeksOn =
  ({ answerKeys }: AppConfig, databaseUrl: Promise<string>, log: Log, now: () => number): OnWeeks =>
  async (work, only) => {
    const logLevel = log.level as LogLevel;
    const more = { ...(only && { only }), now: now(), logLevel };
    await onThread('weeks', { databaseUrl: await databaseUrl, answerKeys, work, ...more }, weeksLimits);
  };

/** Returns a function that asks the questions of a schedule now, on a separate thread. */
export const askOn =
  ({ answerKeys }: AppConfig, databaseUrl: Promise<string>, log: Log, now: () => number): AskOnThread =>
  async (ask) => {
    const work = { work: 'ask' as const, ask, now: now(), logLevel: log.level as LogLevel };
    const data: WeeksWork = { databaseUrl: await databaseUrl, answerKeys, ...work };
    const limits = { ...computationLimits, ...weeksLimits };
    return onThread<AskedNow>('weeks', data, limits);
  };

/** Fetching a list must not take longer than its claim. A list of 50,000 people with 60 fields takes half of the memory. */
const pullsLimits = { heapMb: 1024, milliseconds: fetchLimitMs, isKept: false };

type PullerDependencies = Pick<JobDependencies, 'config' | 'pool' | 'databaseUrl' | 'mailer' | 'log' | 'now'>;

/** Opens what fetches due lists, each on its own thread. */
export function pullerOf({ config, pool, databaseUrl, mailer, log, now }: PullerDependencies): Puller {
  const { answerKeys, outgoingNetworks: networks } = config;
  const canMail = mailer !== undefined;
  const fetch = async (claimed: ClaimedPull): Promise<void> => {
    const more = { networks, canMail, start: now(), logLevel: log.level as LogLevel };
    try {
      await onThread('pulls', { databaseUrl, answerKeys, claimed, ...more }, pullsLimits);
    } catch (error) {
      if (error instanceof Fault && error.kind === 'unavailable') throw error;
      log.error({ ...claimed, err: error }, 'Fetching a list ended unexpectedly');
      await recordDefect({ pool, canMail, log, now }, claimed, error);
    }
  };
  return openPuller(pool, fetch, log, now);
}

/** The limits for processing files of an account. A list of 20,000 people takes a fifth of them. */
const filesLimits = { heapMb: 1024, milliseconds: 300_000 };

type JobDependencies = {
  config: AppConfig;
  pool: Pool;
  keys: AnswerKeys;
  databaseUrl: string;
  log: Log;
  now: () => number;
  clockOfDatabase: (pool: Pool) => Promise<number>;
  mailer: Mailer | undefined;
  gateway: Gateway | undefined;
  applier: Applier;
  webhooks: WebhookSender;
  puller: Puller;
  onWeeks: OnWeeks;
};

/** Returns all work that does not run in a request: recurring work, and tasks by job. */
export const workOf = (dependencies: JobDependencies): Work => ({
  recurring: recurringWork(dependencies),
  tasks: tasksOf(dependencies),
});

/** Chains the entries of the audit log, and sends them to the syslog server if there is one. */
async function chainAndSend(pool: Pool, { auditSyslog, publicUrl }: AppConfig, log: Log): Promise<void> {
  await chainAllEntries(pool);
  if (!auditSyslog) return;
  await sendAuditEntries(pool, { server: auditSyslog, sender: new URL(publicUrl).hostname }, log);
}

/** Creates, resets and deletes sandboxes. The template is created on a thread, because it computes for up to a minute. */
async function tendDue({ config, pool, databaseUrl, log, now }: TendDependencies): Promise<void> {
  if (!(await canTend(pool))) return;
  const template = templateOf(config);
  const makeTemplate = () => {
    const { answerKeys } = config;
    const data = { databaseUrl, answerKeys, template, logLevel: log.level as LogLevel };
    return onThread('sandboxes', data, { ...weeksLimits, milliseconds: 600_000 });
  };
  const kind = { ...template, monday: templateMonday };
  await tendSandboxes({ pool, log, most: config.sandboxes, template: kind, makeTemplate, now });
}

type TendDependencies = Pick<JobDependencies, 'config' | 'pool' | 'databaseUrl' | 'log' | 'now'>;

const applyDue = async (pool: Pool, applier: Applier) => applier.applyAll(await selectDirectoriesDue(pool));

function recurringWork({
  config,
  pool,
  databaseUrl,
  keys,
  log,
  now,
  clockOfDatabase,
  mailer,
  gateway,
  applier,
  webhooks,
  puller,
  onWeeks,
}: JobDependencies): Work['recurring'] {
  const { bounces } = config;
  const areClocksRight = compareClocks(now, () => clockOfDatabase(pool), log);
  const whenDue = (work: WeeksWork['work'], isDue: () => Promise<boolean>) => async () => {
    if ((await isDue()) && (await areClocksRight())) await onWeeks(work);
  };
  const sendDue = openSender({ pool, keys, mailer, gateway, publicUrl: config.publicUrl, log });
  const sendDigests = openDigestSender({ pool, mailer, publicUrl: config.publicUrl, log });
  const toOpen = whenDue('open', async () => (await dueSchedules(pool, now())).length > 0);
  const toShow = whenDue('show', () => hasLiveWeeks(pool));
  const toClose = whenDue('close', () => hasEndedWeeks(pool, now()));
  const toCompute = async () => {
    if (await areStatisticsDue(pool)) await onWeeks('statistics');
  };
  const toBuild = async () => {
    if (await areFragmentsDue(pool)) await onWeeks('fragments');
  };
  return [
    {
      name: 'notify about expiring tokens',
      cron: '7 7 * * *',
      work: () => notifyExpiringTokens(pool, mailer, config.publicUrl, log),
    },
    { name: 'record expiring tokens', cron: '9 * * * *', work: () => recordExpiringTokens(pool) },
    { name: 'send due webhooks', cron: '* * * * *', work: () => webhooks.wake() },
    { name: 'fetch pulls', cron: '* * * * *', work: () => puller.wake() },
    { name: 'chain audit entries', cron: '* * * * *', work: () => chainAndSend(pool, config, log) },
    { name: 'apply directories', cron: '* * * * *', work: () => applyDue(pool, applier) },
    {
      name: 'tend sandboxes',
      cron: '* * * * *',
      work: () => tendDue({ config, pool, databaseUrl, log, now }),
    },
    { name: 'end lost runs', cron: '* * * * *', work: () => updateLostRuns(pool) },
    ...deletionsOf({ config, pool, now }),
    { name: 'translate library', cron: '13 * * * *', work: () => translateLibraries(pool) },
    { name: 'resume files', cron: '* * * * *', work: () => addLostProcessing(pool) },
    { name: 'open rounds', cron: '* * * * *', work: toOpen },
    { name: 'store links of cards', cron: '* * * * *', work: () => storeCardLinks(pool, keys.secrets) },
    { name: 'send messages', cron: '* * * * *', work: () => sendDue(now()) },
    { name: 'send digests', cron: '* * * * *', work: () => sendDigests(now()) },
    ...(bounces
      ? [{ name: 'read bounces', cron: '*/5 * * * *', work: () => readBounces(pool, bounces.folder, log) }]
      : []),
    { name: 'show live weeks', cron: '*/15 * * * *', work: toShow },
    { name: 'count participation', cron: '23 * * * *', work: () => countParticipation(pool, keys, now()) },
    { name: 'close weeks', cron: '*/5 * * * *', work: toClose },
    { name: 'compute statistics', cron: '*/10 * * * *', work: toCompute },
    { name: 'build fragments', cron: '*/10 * * * *', work: toBuild },
  ];
}

/** What is deleted because it is no longer needed. */
const deletionsOf = ({
  config,
  pool,
  now,
}: Pick<JobDependencies, 'config' | 'pool' | 'now'>): Work['recurring'] => [
  { name: 'delete old webhooks', cron: '43 3 * * *', work: () => deleteOldEvents(pool, deliveryDays) },
  { name: 'delete old fetches', cron: '49 3 * * *', work: () => deleteOldFetches(pool, fetchDays) },
  { name: 'delete old runs', cron: '17 3 * * *', work: () => deleteOldRunsDue(pool) },
  { name: 'delete changes of dry runs', cron: '27 * * * *', work: () => deleteUnappliedChangesDue(pool) },
  { name: 'delete abandoned pushes', cron: '51 * * * *', work: () => deleteAbandonedPushes(pool) },
  {
    name: 'delete left data of closed weeks',
    cron: '57 * * * *',
    work: () => deleteLeftData(pool),
  },
  { name: 'delete expired sessions', cron: '37 * * * *', work: () => deleteExpiredSessions(pool) },
  { name: 'delete previous addresses', cron: '57 3 * * *', work: () => deleteEmailsBefore(pool) },
  {
    name: 'delete failed sign-ins',
    cron: '47 * * * *',
    work: () => deleteOldSignInFailures(pool, now()),
  },
  {
    name: 'delete ended visits to sign-in providers',
    cron: '7 * * * *',
    work: () => deleteOldVisits(pool, now()),
  },
  { name: 'delete old files', cron: '27 * * * *', work: () => deleteOldFilesDue(pool, config.fileDays) },
];

function tasksOf({
  config,
  pool,
  databaseUrl,
  log,
  mailer,
  gateway,
  webhooks,
  puller,
  onWeeks,
}: JobDependencies): Work['tasks'] {
  const { publicUrl } = config;
  return {
    'process files': async (payload) => {
      const { accountId } = payload as { accountId: number };
      const logLevel = log.level as LogLevel;
      const work = (turnId: string) =>
        onThread('files', { databaseUrl, accountId, turnId, logLevel }, filesLimits);
      await processInTurn(pool, accountId, work, log);
    },
    'mail sign-in link': (payload) =>
      mailSignInLink({ pool, mailer, publicUrl, log, noteRefusal: insertRefusal }, payload as MailedLink),
    'mail sign-in invitation': (payload) =>
      mailInvitation(
        { pool, mailer, publicUrl, log, noteRefusal: insertRefusal },
        payload as MailedInvitation,
      ),
    'close week': (payload) => onWeeks('close', payload as NonNullable<WeeksWork['only']>),
    'mail lost week': (payload) => mailLostWeek({ pool, mailer, publicUrl, log }, payload as LostMail),
    'mail pending administrators': (payload) =>
      mailPendingAdministrators({ pool, mailer, publicUrl, log }, payload as PendingNotice),
    'mail file report': (payload) => mailReport(pool, mailer, payload as MailedReport, log),
    'mail account notice': (payload) => mailAccountNotice(mailer, payload as AccountNotice, log),
    'fetch pulls now': () => puller.wake(),
    'mail pull notice': (payload) => mailFailing({ pool, mailer, publicUrl, log }, payload as FailingMail),
    'send webhooks': () => webhooks.wake(),
    'mail webhook notice': (payload) =>
      mailTurnedOff({ pool, mailer, publicUrl, log }, payload as TurnedOffMail),
    'mail link notice': (payload) => sendLinkNotice(pool, { mailer, gateway }, payload as LinkNotice, log),
  };
}
