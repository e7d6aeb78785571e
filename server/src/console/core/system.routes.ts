// The console: warnings about the installation.
import type { Channels } from '../../base/messages/channels.ts';
import type { SystemWarning } from '@soundings/contract/console/system.ts';
import { weekName } from '@soundings/contract/weeks.ts';
import type { Pool } from '../../db/db.ts';
import { countDeadJobs } from '../../jobs/jobs.sql.ts';
import { weeksToClose } from '../../rounds/rounds.ts';
import type { AnswerKeys } from '../../sealing/answer-keys.ts';
import type { Console } from './console.ts';
import { selectOldestWaiting } from './system.sql.ts';

export type SystemDependencies = {
  pool: Promise<Pool>;
  keys: Promise<AnswerKeys>;
  /** The clock, in ms. */
  now: () => number;
  /** What is configured. Without email, messages wait until their links are handed out. */
  channels: Channels;
  /** The address of a proxy that sends requests without being named in the settings; undefined: there is none. */
  forgottenProxy: () => string | undefined;
};

/**
 * How long a file may wait, how late a message may be, and how long a week may stay open after its end before there is a warning;
 * in ms.
 */
const maxDelay = { file: 15 * 60_000, message: 60 * 60_000, week: 60 * 60_000 };

export function serveSystem(
  console: Console,
  { pool, keys, now, channels, forgottenProxy }: SystemDependencies,
): void {
  console.serve('GET /warnings', async ({ accountId }): Promise<SystemWarning[]> => {
    const answerKeys = await keys;
    const [answers, secrets, count, { file, message }, ended] = await Promise.all([
      answerKeys.chain.state().then(({ state }) => state),
      answerKeys.secrets.state(),
      countDeadJobs(await pool, accountId),
      selectOldestWaiting(await pool, accountId),
      weeksToClose(await pool, now() - maxDelay.week),
    ]);
    const late = ended.find((one) => one.accountId === accountId);
    const address = forgottenProxy();
    const isLate = (at: Date | null, ms: number): at is Date => at !== null && now() - at.getTime() > ms;
    return [
      ...(address === undefined ? [] : [{ code: 'forgottenProxy' as const, address }]),
      ...(answers === 'missing' ? [{ code: 'answerKeyMissing' as const }] : []),
      ...(secrets === 'missing' ? [{ code: 'secretsKeyMissing' as const }] : []),
      ...(late ? [{ code: 'lateWeek' as const, name: weekName(late.week) }] : []),
      ...(count > 0 ? [{ code: 'deadJobs' as const, count }] : []),
      ...(isLate(file, maxDelay.file) ? [{ code: 'oldFile' as const, since: file.toISOString() }] : []),
      ...((channels.mail || channels.sms) && isLate(message, maxDelay.message)
        ? [{ code: 'oldMessage' as const, since: message.toISOString() }]
        : []),
    ];
  });
}
