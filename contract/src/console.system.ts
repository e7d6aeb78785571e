// The console: what is wrong with the installation itself, for those who can have it put right.
import { operation } from './console.operation.ts';

/**
 * `deadJobs`: so many jobs of the account, or of no account, have failed so often that they are not tried again. `oldFile`: a
 * file has waited to be processed for more than 15 minutes, since `since` (ISO 8601). `oldMessage`: an invitation has been due for
 * more than an hour, since then. `lateWeek`: a week (its name, 2026-W46) ended more than an hour ago and isn't closed. `forgottenProxy`: a
 * proxy at `address` sends requests, and the settings don't name it. `answerKeyMissing`, `secretsKeyMissing`: the key of open weeks, or
 * of secrets, is missing. The last three are known to the process that answers.
 */
export type SystemWarning =
  | { code: 'deadJobs'; count: number }
  | { code: 'oldFile' | 'oldMessage'; since: string }
  | { code: 'lateWeek'; name: string }
  | { code: 'answerKeyMissing' | 'secretsKeyMissing' }
  | { code: 'forgottenProxy'; address: string };

export const systemOperations = {
  'GET /warnings': operation<SystemWarning[]>()({ least: 'Administrator' }),
};
