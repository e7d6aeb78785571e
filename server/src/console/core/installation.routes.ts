// The console: the page about the installation, for its operator. Accounts are separate customers, so the page exists only while the
// installation has a single account: then its administrators are the operator's own people. With several, GET /installation returns
// null, and operators use the metrics and the command (docs/operators/monitoring.md).
import type { Installation, NotSetUp } from '@soundings/contract/console/system.ts';
import type { Pool } from '../../db/db.ts';
import { type FactsConfig, operatingFacts } from '../../operating/facts.ts';
import type { AnswerKeys } from '../../sealing/answer-keys.ts';
import { version } from '../../base/version.ts';
import type { Console } from './console.ts';
import { hasSingleAccount } from './system.sql.ts';

export type InstallationConfig = FactsConfig & {
  publicUrl: string;
  mailFrom: string;
  smtpUrl: string | undefined;
  bounces: object | undefined;
  sms: { provider: string } | undefined;
  metricsToken: string | undefined;
};

type Dependencies = {
  pool: Promise<Pool>;
  keys: Promise<AnswerKeys>;
  config: InstallationConfig;
  now: () => number;
};

/** Items that the page lists, in this order. Runs and audit entries have their own pages. */
const shownWaiting = ['files', 'messages', 'text messages', 'jobs'] as const;

export function serveInstallation(console: Console, { pool, keys, config, now }: Dependencies): void {
  console.serve('GET /installation', async (): Promise<{ installation: Installation | null }> => {
    const db = await pool;
    if (!(await hasSingleAccount(db))) return { installation: null };
    const facts = await operatingFacts(db, { config, keys: await keys, now: now() });
    const since = (seconds: number) => new Date(now() - seconds * 1000).toISOString();
    const lastBackup = facts.lastBackup?.toISOString() ?? null;
    return {
      installation: {
        version,
        database: facts.database,
        disk: facts.disk ?? null,
        mailFrom: config.smtpUrl === undefined ? null : config.mailFrom,
        sms: config.sms?.provider ?? null,
        lastBackup,
        waiting: shownWaiting.flatMap((what) => {
          const { count = 0, oldestSeconds = 0 } = facts.waiting[what] ?? {};
          const isCounted = what === 'files' || what === 'jobs';
          return [
            { what, count: isCounted ? count : null, since: count === 0 ? null : since(oldestSeconds) },
          ];
        }),
        failedJobs: facts.deadJobs,
        notSetUp: notSetUp(config, lastBackup !== null),
      },
    };
  });
}

/** Returns what the settings leave out, the most important first. */
function notSetUp(config: InstallationConfig, hasBackup: boolean): NotSetUp[] {
  const isMissing: Record<NotSetUp, boolean> = {
    https: !config.publicUrl.startsWith('https:'),
    mail: config.smtpUrl === undefined,
    backup: !hasBackup,
    bounces: config.smtpUrl !== undefined && config.bounces === undefined,
    metrics: config.metricsToken === undefined,
    syslog: config.auditSyslog === undefined,
  };
  return (Object.keys(isMissing) as NotSetUp[]).filter((one) => isMissing[one]);
}
