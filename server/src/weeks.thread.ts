// The thread for weeks: opens the rounds of due schedules, closes ended weeks, updates the live figures of open weeks, or computes the
// statistics or writes the fragments of published weeks.
import type { LogLevel } from './base/config.ts';
import { type Log, openLog } from './base/log.ts';
import { openPool, retryLostConnections } from './db/db.ts';
import { serveThread } from './jobs/threads.ts';
import { closeEndedWeeks, closeWeekNow } from './results/close-week.ts';
import { buildAllFragments } from './results/fragments/build-fragments.ts';
import { showLiveWeeks } from './results/live-week.ts';
import { computeAllStatistics } from './results/statistics/statistics.ts';
import { askNow, type WhatToAsk } from './rounds/ask-now.ts';
import { missedSentence } from './rounds/missed-reasons.ts';
import { type Opened, openDueRounds } from './rounds/opening.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import type { KeyPlace } from './sealing/epoch-chain.ts';

/**
 * `only` is one week to close, even if it has not ended. `ask` is a schedule to ask immediately; the result is what was asked. `logLevel` is
 * that of the service. `now` is the time in ms that decides which schedules are due and which weeks have ended.
 */
export type WeeksWork = {
  databaseUrl: string;
  answerKeys: KeyPlace;
  work: 'open' | 'ask' | 'close' | 'show' | 'statistics' | 'fragments';
  only?: { accountId: number; week: string };
  ask?: WhatToAsk;
  now: number;
  logLevel: LogLevel;
};

retryLostConnections(() => {});
serveThread(async ({ databaseUrl, answerKeys, work, only, ask, now, logLevel }: WeeksWork) => {
  // An account that a large push locks for minutes is passed over, so that the weeks of others don't wait.
  // Two accounts at a time, and one more connection (jobs/accounts-in-turn.ts).
  const pool = openPool(databaseUrl, 3, { settings: { lock_timeout: '5s' } });
  const keys = new AnswerKeys(pool, answerKeys);
  try {
    await keys.chain.prepare();
    if (only) await closeWeekNow(pool, keys, only.accountId, only.week, now);
    else if (ask) return await askNow(pool, keys, ask, now);
    else if (work === 'open') logOpened(await openDueRounds(pool, keys, now), openLog(logLevel));
    else if (work === 'close') await closeEndedWeeks(pool, keys, now);
    else if (work === 'show') await showLiveWeeks(pool, keys);
    // Statistics and fragments follow when the figures are published, so that closing never waits for them. If this fails, the
    // recurring jobs try again.
    if (work !== 'open' && work !== 'fragments') await computeAllStatistics(pool);
    if (work === 'close' || work === 'fragments') await buildAllFragments(pool);
    return undefined;
  } finally {
    await pool.end({ timeout: 5 });
  }
});

function logOpened(opened: Opened[], log: Log): void {
  for (const { accountId, scheduleId, week, people, reason } of opened) {
    const about = { accountId, scheduleId, week, people };
    if (reason === null) log.info(about, 'A schedule opened its round');
    else log.warn({ ...about, reason }, `A schedule missed its week. ${missedSentence(reason)}`);
  }
}
