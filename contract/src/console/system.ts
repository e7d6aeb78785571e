// The console: warnings about the installation itself, and the page about it.
import { operation } from './operation.ts';

/**
 * `deadJobs`: `count` jobs of the account, or of no account, have failed too often and are no longer retried. `oldFile`: a file has
 * waited for processing for more than 15 minutes, since the time `since` (ISO 8601). `oldMessage`: an invitation has been due for
 * more than an hour, since the time `since`. `lateWeek`: a week (its name, such as 2026-W46) ended more than an hour ago and isn't
 * closed. `forgottenProxy`: a proxy at `address` sends requests, although the settings don't name it. `answerKeyMissing`,
 * `secretsKeyMissing`: the key of open weeks, or of secrets, is missing. The last three describe the process that responds.
 */
export type SystemWarning =
  | { code: 'deadJobs'; count: number }
  | { code: 'oldFile' | 'oldMessage'; since: string }
  | { code: 'lateWeek'; name: string }
  | { code: 'answerKeyMissing' | 'secretsKeyMissing' }
  | { code: 'forgottenProxy'; address: string };

/** What the settings leave out: a page has a text for each. */
export type NotSetUp = 'https' | 'mail' | 'backup' | 'bounces' | 'metrics' | 'syslog';

/** Facts for the operator of an installation with a single account. No addresses or secrets of other systems. Sizes in bytes. */
export type Installation = {
  version: string;
  database: { version: string; bytes: number };
  /** The disk with DATA_DIR; null: the service has none. */
  disk: { free: number; total: number } | null;
  /** The sender of emails, and the provider of text messages; null: not configured. */
  mailFrom: string | null;
  sms: string | null;
  /** When Soundings created the last backup; null: never. */
  lastBackup: string | null;
  /**
   * Since when the oldest item has been waiting (ISO 8601); null: nothing is. `count`: how many items are; null: not shown. The number
   * of invitations is not, because it changes when a person answers before their invitation was sent.
   */
  waiting: {
    what: 'files' | 'messages' | 'text messages' | 'jobs';
    count: number | null;
    since: string | null;
  }[];
  failedJobs: number;
  notSetUp: NotSetUp[];
};

export const systemOperations = {
  /** Null if the installation has several accounts: the facts are about all of them. */
  'GET /installation': operation<{ installation: Installation | null }>()({ minimumRole: 'Administrator' }),
  'GET /warnings': operation<SystemWarning[]>()({ minimumRole: 'Administrator' }),
};
