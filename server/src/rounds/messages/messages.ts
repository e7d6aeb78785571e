// Sends invitations and reminders. Each message is sent once, by one of the processes, at an hour that is allowed in the person's
// time zone. If it is unknown whether the mail server accepted a message, it counts as sent: a missing reminder is better than a
// duplicate email.
import type { Log } from '../../base/log.ts';
import type { Pool } from '../../db/db.ts';
import { MailDeferred, type Mailer, MailRejected, MailUnknown } from '../../mail/mail.ts';
import type { AnswerKeys } from '../../sealing/answer-keys.ts';
import { decodeAnswers } from '../../sealing/person-answers.ts';
import { invitationOf } from './invitation.ts';
import { replaceLinks } from './link-notices.ts';
import { answeringAddressOf, newLinks } from '../links.ts';
import {
  beginSending,
  deleteMessages,
  type DueMessage,
  endLost,
  postpone,
  recordRefused,
  recordSent,
  recordUnknown,
  recordUnneeded,
  selectAskedAndSealed,
  selectDue,
  takeDue,
} from './messages.sql.ts';
import { endOf, sendableAt } from '../send-times.ts';
import { optOutTokensFor } from './reminder-opt-out.ts';

/** The number of messages taken at a time, and how many of them are sent in parallel. */
const [batchSize, concurrency] = [100, 4];

type SenderContext = {
  pool: Pool;
  keys: AnswerKeys;
  mailer: Mailer;
  publicUrl: string;
  log: Log;
};

/**
 * Opens the sender of this process. Returns a function that sends all due messages, and does nothing while a previous call is still
 * sending. `now`: the time at the start of the call, in ms since 1970. Without a mail server, messages wait, and a warning is
 * logged. If the mail server was unavailable, the next call tries a single message first.
 */
export function openSender({
  mailer,
  ...others
}: Omit<SenderContext, 'mailer'> & { mailer: Mailer | undefined }): (now: number) => Promise<void> {
  const { pool, log } = others;
  let isSending = false;
  let isDown = false;
  return async (now) => {
    if (isSending) return;
    isSending = true;
    const begun = performance.now();
    try {
      const lost = await endLost(pool);
      if (lost.length > 0)
        log.warn({ messages: lost.length }, 'Delivery status unknown: a process stopped while sending');
      for (const { email, ...key } of lost) if (email !== null) await replaceLinks(pool, key, email);
      if (mailer) {
        const context = { ...others, mailer };
        isDown = !(await sendDue(context, () => now + performance.now() - begun, isDown));
      } else if ((await selectDue(pool, now)).count > 0) {
        log.warn(
          'Invitations are waiting because SMTP_URL is not set. Set it, or hand out links with "soundings links export".',
        );
      }
    } finally {
      isSending = false;
    }
  };
}

/** Sends all due messages. Returns false if the mail server is unavailable. */
async function sendDue(context: SenderContext, clock: () => number, wasDown: boolean): Promise<boolean> {
  for (let count = wasDown ? 1 : batchSize; ; count = batchSize) {
    const now = clock();
    const due = await takeDue(context.pool, now, count);
    if (due.length === 0) return !wasDown || count > 1;
    if (!(await sendBatch(context, due, now))) return false;
  }
}

type Outgoing = Unanswered & { link: string; optOutUrl: string };

/** A message with the number of questions that the person has not answered. `sealed`: the answers this is based on. */
type Unanswered = { message: DueMessage; questions: number; respondent: string; sealed: Buffer[] };

/** Sends the messages that can be sent now, and postpones the others. Returns false if the mail server is unavailable. */
async function sendBatch(context: SenderContext, due: DueMessage[], now: number): Promise<boolean> {
  const queue = await outgoingOf(context, due, now);
  const rest: DueMessage[] = [];
  const outcomes = { taken: 0, deferred: 0, down: 0, gone: 0 };
  const sendNext = async (): Promise<void> => {
    for (let one = queue.shift(); one; one = queue.shift()) {
      if (outcomes.down > 0) rest.push(one.message);
      else outcomes[await sendOne(context, one, now)]++;
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: concurrency }, sendNext));
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
  await postpone(
    context.pool,
    { state: 'waiting', isLate: true },
    rest.map((message) => ({ ...message, until: now + 60_000 })),
  );
  // Recipients deferred by the server, for example by greylisting, don't affect the others.
  return outcomes.down === 0;
}

/** Returns the messages to send now, each with its own link. Postpones or deletes the others. */
async function outgoingOf(context: SenderContext, due: DueMessage[], now: number): Promise<Outgoing[]> {
  const { pool, publicUrl } = context;
  const sendable = due.filter((message) => sendTimeFor(message, now) === now);
  const asked = await unansweredOf(context, sendable);
  const wanted = asked.filter(({ questions }) => questions > 0);
  const links = await newLinks(
    pool,
    wanted.map(({ message }) => ({ ...message, sentTo: message.email })),
  );
  const tokens = await optOutTokensFor(
    pool,
    wanted.map(({ message }) => message),
  );
  const others = due.map((message) => ({ ...message, until: sendTimeFor(message, now) }));
  await postpone(
    pool,
    { state: 'waiting', isLate: false },
    others.flatMap(({ until, ...message }) =>
      until === undefined || until === now ? [] : [{ ...message, until }],
    ),
  );
  await deleteMessages(
    pool,
    others.filter(({ until }) => until === undefined),
  );
  // Not deleted: otherwise a week in which no one needs a reminder could be distinguished from one in which someone does (P18).
  await recordUnneeded(
    pool,
    asked.flatMap(({ message, questions }) => (questions === 0 ? [message] : [])),
  );
  return wanted.map((one, i) => ({
    ...one,
    link: links[i] as string,
    optOutUrl: `${publicUrl}/r/${tokens[i]}`,
  }));
}

/**
 * Returns the messages with the number of unanswered questions. For a reminder it is 0 if the person has answered any question of
 * the schedule. Invitations count all questions and are always sent, because the number of sent invitations is shown and would
 * otherwise reveal who has answered (P18).
 */
async function unansweredOf({ pool, keys }: SenderContext, messages: DueMessage[]): Promise<Unanswered[]> {
  const people = await Promise.all(
    messages.map(async ({ accountId, week, userId, wrapped }) => {
      const key = await keys.unwrap(pool, accountId, week, wrapped as Buffer);
      return { key, accountId, week, respondent: key.respondentOf(userId) };
    }),
  );
  const found = await selectAskedAndSealed(
    pool,
    people.map(({ accountId, week, respondent }) => ({ accountId, week, respondent })),
  );
  return messages.map((message, i) => {
    const { key, respondent } = people[i] as (typeof people)[number];
    const { questionIds, sealed } = found[i] as (typeof found)[number];
    if (message.kind === 'invitation') return { message, questions: questionIds.length, respondent, sealed };
    const answered = new Set(sealed.flatMap((one) => [...decodeAnswers(key.open(respondent, one)).keys()]));
    const isUnneeded = message.scheduleAsks.some((id) => answered.has(id));
    const questions = isUnneeded ? 0 : questionIds.filter((id) => !answered.has(id)).length;
    return { message, questions, respondent, sealed };
  });
}

/** Returns when to send a message, in ms since 1970: now or later; undefined if it should not be sent. */
function sendTimeFor(message: DueMessage, now: number): number | undefined {
  const { active, email, wrapped, isUnwanted, timezone, anyHour, week, accountTimezone } = message;
  if (email === null || wrapped === null || isUnwanted) return undefined;
  const weekEnd = endOf(week, accountTimezone);
  // The person may become active again soon, for example if a faulty list made them inactive.
  if (!active) return now + hour < weekEnd ? now + hour : undefined;
  return sendableAt(now - 1, now, { timezone, anyHour, weekEnd });
}

/** Sends a message and returns the outcome. If the mail server doesn't accept it, it is retried with growing delays. */
async function sendOne(
  { pool, mailer, publicUrl, log }: SenderContext,
  { message, questions, respondent, sealed, link, optOutUrl }: Outgoing,
  now: number,
): Promise<'taken' | 'deferred' | 'down' | 'gone'> {
  if (!(await beginSending(pool, message, { respondent, sealed }))) return 'gone';
  const { accountId, userId, week, scheduleId, kind } = message;
  // Logs no person for a reminder, because only people who have not answered get one.
  const about = { accountId, ...(kind === 'invitation' && { userId }), week, kind };
  const id = `asking ${accountId} ${userId} ${week} ${scheduleId} ${kind}`;
  const address = message.email as string;
  const content = invitationOf({ ...message, questions }, answeringAddressOf(link, publicUrl), optOutUrl);
  const error = await mailer
    .send({ id, to: address, ...content })
    .catch((thrown: unknown) => thrown as Error);
  // If anything below throws, the message stays in the state 'sending' and is not sent again.
  if (!error) {
    await replaceLinks(pool, message, address);
    await recordSent(pool, message);
    return 'taken';
  }
  const cause = error.message;
  if (error instanceof MailRejected) {
    await recordRefused(pool, message, { address, reason: cause });
    log.warn({ ...about, cause }, 'The mail server rejected a message');
    return 'taken';
  }
  if (error instanceof MailUnknown) {
    await replaceLinks(pool, message, address);
    await recordUnknown(pool, message);
    log.warn({ ...about, cause }, 'Delivery status unknown for a message');
    return 'down';
  }
  await postpone(pool, { state: 'sending', isLate: true }, [
    { ...message, until: now + retryDelay(message.attempts) },
  ]);
  log.warn({ ...about, cause }, 'A message could not be sent and will be retried');
  return error instanceof MailDeferred ? 'deferred' : 'down';
}

/** In ms. */
const hour = 3_600_000;

/** Returns the delay in ms: one minute, then twice as long each time, up to an hour. */
const retryDelay = (attempts: number) => Math.min(hour, 60_000 * 2 ** attempts);
