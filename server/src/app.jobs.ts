// All work that does not run in a request: recurring jobs, tasks by job, and what runs on threads.
import type { LogLevel } from './base/config.ts';
import type { Log } from './base/log.ts';
import { moduleAt } from './base/places.ts';
import { chainAllEntries } from './accounts/audit-chain/chain.ts';
import { sendAuditEntries } from './accounts/audit-chain/syslog.ts';
import { mailAccountNotice } from './accounts/account-notices.ts';
import type { AccountNotice } from './accounts/noticed-changes.ts';
import { notifyExpiringTokens } from './accounts/expiring-tokens.ts';
import { mailPendingAdministrators, type PendingNotice } from './auth/pending-administrators.ts';
import { deleteExpiredSessions } from './auth/sessions.ts';
import { type MailedInvitation, mailInvitation } from './auth/sign-in-invitations.ts';
import { type MailedLink, mailSignInLink } from './auth/sign-in-links.ts';
import { deleteOldSignInFailures } from './auth/sign-in-throttle.ts';
import { openDigestSender } from './digests/digests.ts';
import { compareClocks } from './db/clocks.ts';
import type { Pool } from './db/db.ts';
import type { Work } from './jobs/jobs.ts';
import { computationLimits, runOnThread, type ThreadLimits } from './jobs/threads.ts';
import type { Mailer } from './mail/mail.ts';
import { deleteEmailsBefore } from './people/users.sql.ts';
import { translateLibraries } from './questions/translate-library.ts';
import { type LostMail, mailLostWeek } from './results/lost-weeks.ts';
import { hasEndedWeeks } from './results/close-week.ts';
import { hasLiveWeeks } from './results/live-week.ts';
import { areStatisticsDue } from './results/statistics/statistics.ts';
import type { AskedNow, AskOnThread } from './rounds/ask-now.ts';
import { readBounces } from './rounds/messages/bounces.ts';
import { type LinkNotice, sendLinkNotice } from './rounds/messages/link-notices.ts';
import { openSender } from './rounds/messages/messages.ts';
import { insertRefusal } from './rounds/messages/messages.sql.ts';
import { dueSchedules } from './rounds/opening.ts';
import { countParticipation } from './rounds/participation.ts';
import { deleteOldRunsDue } from './sync/runs.ts';
import { updateLostRuns } from './sync/runs.sql.ts';
import type { WeeksWork } from './weeks.thread.ts';
import type { FilesWork } from './files.thread.ts';
import type { AnswerKeys } from './sealing/answer-keys.ts';
import type { Gateway } from './sms/sms.ts';
import { type MailedReport, mailReport } from './files/report-mails.ts';
import { processInTurn } from './files/queue.ts';
import { deleteOldFilesDue } from './files/store.ts';
import { addLostProcessing } from './files/store.sql.ts';
import type { AppConfig } from './app.config.ts';

/** Opens, shows or closes weeks on a separate thread, because it may compute for seconds. `only` limits it to one week. */
export type OnWeeks = (work: WeeksWork['work'], only?: WeeksWork['only']) => Promise<void>;

const onThread = <Result = void>(
  name: string,
  data: FilesWork | WeeksWork,
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

/** Returns a function that asks the questions of a schedule at once, on a separate thread. */
export const askOn =
  ({ answerKeys }: AppConfig, databaseUrl: Promise<string>, log: Log, now: () => number): AskOnThread =>
  async (ask) => {
    const work = { work: 'ask' as const, ask, now: now(), logLevel: log.level as LogLevel };
    const data: WeeksWork = { databaseUrl: await databaseUrl, answerKeys, ...work };
    const limits = { ...computationLimits, ...weeksLimits };
    return onThread<AskedNow>('weeks', data, limits);
  };

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
  onWeeks: OnWeeks;
};

/** Returns all work that does not run in a request: recurring work, and tasks by job. */
export const workOf = (dependencies: JobDependencies): Work => ({
  recurring: recurringWork(dependencies),
  tasks: tasksOf(dependencies),
});

function recurringWork({
  config,
  pool,
  keys,
  log,
  now,
  clockOfDatabase,
  mailer,
  gateway,
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
  const { auditSyslog } = config;
  const chainAndSend = async () => {
    await chainAllEntries(pool);
    if (auditSyslog)
      await sendAuditEntries(pool, { server: auditSyslog, sender: new URL(config.publicUrl).hostname }, log);
  };
  const toCompute = async () => {
    if (await areStatisticsDue(pool)) await onWeeks('statistics');
  };
  return [
    {
      name: 'notify about expiring tokens',
      cron: '7 7 * * *',
      work: () => notifyExpiringTokens(pool, mailer, config.publicUrl, log),
    },
    { name: 'chain audit entries', cron: '* * * * *', work: chainAndSend },
    { name: 'end lost runs', cron: '* * * * *', work: () => updateLostRuns(pool) },
    { name: 'delete old runs', cron: '17 3 * * *', work: () => deleteOldRunsDue(pool) },
    { name: 'delete expired sessions', cron: '37 * * * *', work: () => deleteExpiredSessions(pool) },
    { name: 'delete previous addresses', cron: '57 3 * * *', work: () => deleteEmailsBefore(pool) },
    {
      name: 'delete failed sign-ins',
      cron: '47 * * * *',
      work: () => deleteOldSignInFailures(pool, now()),
    },
    { name: 'delete old files', cron: '27 * * * *', work: () => deleteOldFilesDue(pool, config.fileDays) },
    { name: 'translate library', cron: '13 * * * *', work: () => translateLibraries(pool) },
    { name: 'resume files', cron: '* * * * *', work: () => addLostProcessing(pool) },
    { name: 'open rounds', cron: '* * * * *', work: toOpen },
    { name: 'send messages', cron: '* * * * *', work: () => sendDue(now()) },
    { name: 'send digests', cron: '* * * * *', work: () => sendDigests(now()) },
    ...(bounces
      ? [{ name: 'read bounces', cron: '*/5 * * * *', work: () => readBounces(pool, bounces.folder, log) }]
      : []),
    { name: 'show live weeks', cron: '*/15 * * * *', work: toShow },
    { name: 'count participation', cron: '23 * * * *', work: () => countParticipation(pool, keys, now()) },
    { name: 'close weeks', cron: '*/5 * * * *', work: toClose },
    { name: 'compute statistics', cron: '*/10 * * * *', work: toCompute },
  ];
}

function tasksOf({
  config,
  pool,
  databaseUrl,
  log,
  mailer,
  gateway,
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
    'mail link notice': (payload) => sendLinkNotice(pool, { mailer, gateway }, payload as LinkNotice, log),
  };
}
