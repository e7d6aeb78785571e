// The weekly digest: after a week has closed, managers and administrators get an email with the results that they can see. Each person
// gets at most one in a calendar week, and none is lost: it is queued in the transaction that closes the week (results/close-week.ts),
// and what it contains is read when it is sent, as the console would show it to the person at that moment.
import type { Week } from '@soundings/contract/weeks.ts';
import type { Log } from '../base/log.ts';
import { domainOf } from '../base/messages/smtp.ts';
import { inTransaction, type Pool } from '../db/db.ts';
import type { Mailer } from '../mail/mail.ts';
import { deliver, openOutbox, type Outcome, type Queue } from '../sending/outbox.ts';
import { insertRefusal } from '../rounds/messages/messages.sql.ts';
import { personTokensFor } from '../rounds/messages/person-tokens.ts';
import { nextWorkingTime } from '../rounds/send-times.ts';
import { digestMail, digestTexts } from './digest-mail.ts';
import { digestTime, mondayOf, nextWeek } from './digest-times.ts';
import {
  beginSendingDigest,
  deleteDigestWeek,
  deleteOldDigests,
  endLostDigests,
  insertDigests,
  lockForSending,
  postponeSending,
  postponeWaiting,
  type Recipient,
  recordOutcome,
  recordUnneededDigests,
  selectAreStatisticsDue,
  selectHasOneIn,
  selectRecipients,
  selectWaiting,
  selectWeeksToQueue,
  takeRecipients,
  type WaitingDigest,
} from './digests.sql.ts';
import { accessOf, type Digest, readDigest } from './read-digest.ts';

type DigestContext = { pool: Pool; mailer: Mailer; publicUrl: string; log: Log };

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

/** How long a digest waits for the statistics of its week, and how long for a person who is inactive or has no address, in ms. */
const [statisticsWait, personWait] = [6 * hour, 3 * day];

/** Queues the digests of all closed weeks: each person's at the account's hour in the person's time zone. `now`: ms since 1970. */
export async function queueDigests(pool: Pool, now: number): Promise<void> {
  for (const { accountId, week } of await selectWeeksToQueue(pool)) {
    // Each week is queued in a separate transaction.
    await inTransaction(pool, async (tx) => {
      const closedAt = await deleteDigestWeek(tx, accountId, week);
      if (closedAt === undefined) return;
      const people = await selectRecipients(tx, accountId);
      const planned = people.map(({ userId, ...times }) => ({
        userId,
        plannedAt: digestTime(closedAt, times),
      }));
      await insertDigests(tx, accountId, week, planned);
      await deleteOldDigests(tx, accountId, now);
    });
  }
}

/**
 * Opens the sender of this process. Returns a function that queues the digests of closed weeks and sends all that are due
 * (sending/outbox.ts). Without a mail server they wait.
 */
export function openDigestSender({
  mailer,
  ...others
}: Omit<DigestContext, 'mailer'> & { mailer: Mailer | undefined }): (now: number) => Promise<void> {
  const { pool, log } = others;
  return openOutbox(async (now) => {
    await queueDigests(pool, now);
    const lost = await endLostDigests(pool, now);
    if (lost > 0)
      log.warn({ digests: lost }, 'Delivery status of digests unknown: a process stopped while sending');
    return mailer && queueOf({ ...others, mailer });
  });
}

const queueOf = (context: DigestContext): Queue<Recipient, Recipient> => ({
  connections: context.mailer.connections,
  take: (now, count) => takeRecipients(context.pool, now, count),
  prepare: async (due) => due,
  send: async (recipient, now) => ({ outcome: await sendTo(context, recipient, now) }),
  laneOf: ({ email }) => domainOf(email ?? ''),
  putBack: async (rest, until) => {
    for (const recipient of rest) {
      const waiting = await selectWaiting(context.pool, recipient, until);
      await postponeWaiting(context.pool, recipient, weeksOf(waiting), until);
    }
  },
});

const weeksOf = (digests: readonly WaitingDigest[]) => digests.map(({ week }) => week);

/** Sends a person the digest of the newest of the weeks that await it, if it can be sent now. */
async function sendTo(context: DigestContext, recipient: Recipient, now: number): Promise<Outcome> {
  const { pool } = context;
  const waiting = await selectWaiting(pool, recipient, now);
  const [newest] = waiting;
  if (!newest) return 'gone';
  const until = await sendTimeFor(pool, recipient, newest, now);
  if (until === undefined) await recordUnneededDigests(pool, recipient, weeksOf(waiting));
  else if (until > now) await postponeWaiting(pool, recipient, weeksOf(waiting), until);
  else return sendNewest(context, recipient, waiting, now);
  return 'gone';
}

/** Returns when a digest can be sent, in ms since 1970: `now` or later; undefined if the person should not get one. */
async function sendTimeFor(
  pool: Pool,
  recipient: Recipient,
  { plannedAt }: WaitingDigest,
  now: number,
): Promise<number | undefined> {
  const { role, active, email, hasOptedOut, isOn, timezone } = recipient;
  if (!isOn || hasOptedOut || !['Administrator', 'Manager'].includes(role)) return undefined;
  // The person may come back soon, for example if a faulty list made them inactive.
  if (!active || email === null) return now < plannedAt + personWait ? now + hour : undefined;
  const workingTime = nextWorkingTime(now, timezone);
  if (workingTime > now) return workingTime;
  if (await selectHasOneIn(pool, recipient, mondayOf(now, timezone))) return nextWeek(now, recipient);
  // Without statistics, no findings are known. If the statistics can't be computed in time, the digest is sent without
  // findings.
  const isEarly =
    now < plannedAt + statisticsWait && (await selectAreStatisticsDue(pool, recipient.accountId));
  return isEarly ? now + 5 * minute : now;
}

/** Sends the digest of the newest week in which the person has results. It covers the weeks before. */
async function sendNewest(
  context: DigestContext,
  recipient: Recipient,
  waiting: readonly WaitingDigest[],
  now: number,
): Promise<Outcome> {
  const { pool } = context;
  const language = digestTexts.languageFor(recipient.language);
  const access = await accessOf(pool, recipient);
  const found: { week: Week; attempts: number; digest: Digest }[] = [];
  const unneeded: Week[] = [];
  for (const { week, attempts } of waiting) {
    const digest = await readDigest(pool, recipient, week, { language, now });
    if (digest) found.push({ week, attempts, digest });
    else unneeded.push(week);
  }
  if (unneeded.length > 0) await recordUnneededDigests(pool, recipient, unneeded);
  const [first, ...earlier] = found;
  return first ? sendOne(context, recipient, { ...first, earlier: earlier.length, access }, now) : 'gone';
}

/** `access`: what the person could see when the digest was read. */
type ReadDigest = { week: Week; attempts: number; digest: Digest; earlier: number; access: string };

/**
 * Records that a digest is being sent. Returns false if it should no longer be sent, or if what the person can see has changed since
 * it was read; it is then read again later.
 */
export const beginIfUnchanged = (
  pool: Pool,
  recipient: Recipient,
  { week, access }: Pick<ReadDigest, 'week' | 'access'>,
  now: number,
): Promise<boolean> =>
  inTransaction(pool, async (tx) => {
    const { version, timezone } = recipient;
    await lockForSending(tx, recipient);
    if ((await accessOf(tx, recipient)) !== access) return false;
    const email = recipient.email as string;
    return beginSendingDigest(
      tx,
      { ...recipient, week, email, version, monday: mondayOf(now, timezone) },
      now,
    );
  });

async function sendOne(
  { pool, mailer, publicUrl, log }: DigestContext,
  recipient: Recipient,
  { week, attempts, digest, earlier, access }: ReadDigest,
  now: number,
): Promise<Outcome> {
  const { accountId, userId, withComments } = recipient;
  const email = recipient.email as string;
  const [token] = await personTokensFor(pool, 'digests', [recipient]);
  const content = digestMail(
    digest,
    { withComments, earlier },
    { address: `${publicUrl}/?group=${digest.report.group.id}`, optOutUrl: `${publicUrl}/d/${token}` },
  );
  if (!(await beginIfUnchanged(pool, recipient, { week, access }, now))) return 'gone';
  const key = { accountId, userId, week };
  // If recording a step fails, the digest stays in the state 'sending' and is not sent again.
  const mail = {
    id: `digest ${accountId} ${userId} ${week}`,
    to: email,
    person: { accountId, userId },
    ...content,
  };
  const { outcome, recorded } = await deliver(
    () => mailer.send(mail),
    { now, attempts },
    {
      sent: () => recordOutcome(pool, key, 'sent'),
      async refused(reason) {
        await recordOutcome(pool, key, 'refused');
        await insertRefusal(pool, key, { address: email, reason });
        log.warn({ ...key, cause: reason }, 'The mail server rejected a digest');
      },
      async unknown(cause) {
        await recordOutcome(pool, key, 'unknown');
        log.warn({ ...key, cause }, 'Delivery status unknown for a digest');
      },
      async postponed(until, cause) {
        await postponeSending(pool, key, until);
        log.warn({ ...key, cause }, 'A digest could not be sent and will be retried');
      },
    },
  );
  await recorded;
  return outcome;
}
