// The console: warnings about the installation itself, shown to administrators.
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

export const systemOperations = {
  'GET /warnings': operation<SystemWarning[]>()({ minimumRole: 'Administrator' }),
};
