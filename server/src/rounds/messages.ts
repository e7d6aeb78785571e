// Messages to the people asked: each is sent once, by one of the processes, at an hour at which its person may be written
// to. Where nobody can know whether the mail server took it, it counts as sent: better one reminder less than two mails.
import type { Log } from '../base/log.ts';
import type { Pool } from '../db/db.ts';
import { MailDeferred, type Mailer, MailRefused, MailUnknown } from '../mail/mail.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { decodeAnswers } from '../sealing/person-answers.ts';
import { invitationOf } from './invitation.ts';
import { replaceLinks } from './link-notices.ts';
import { addressOf, newLinks } from './links.ts';
import {
  beginSending,
  deleteMessages,
  type DueMessage,
  insertRefusal,
  noteRefused,
  noteSent,
  noteUnknown,
  noteUnneeded,
  putOff,
  selectAskedAndSealed,
  selectDue,
  type MessageCount,
  selectMessageCounts,
  selectRefusals,
  selectRunningWeeks,
  settleLost,
  takeDue,
} from './messages.sql.ts';
import { endOf, sendableAt } from './moments.ts';
import { stopTokensFor } from './stops.ts';

export {
  selectDue as dueMessages,
  insertRefusal as noteRefusal,
  type MessageCount,
  selectMessageCounts as messageCountsOf,
  selectRefusals as mailRefusalsOf,
  selectRunningWeeks as runningWeeks,
};

/** So many are taken at a time, of which so many are on their way at once. */
const [batchSize, atOnce] = [100, 4];

type Means = {
  pool: Pool;
  keys: AnswerKeys;
  mailer: Mailer;
  publicUrl: string;
  log: Log;
};

/**
 * Opens the sender of this process. What it returns sends all that is due, and does nothing while it is at it. `now`:
 * milliseconds since 1970, from which time goes on while it sends. Without a mail server messages wait, and the log says
 * so. Where the mail server could not be had, the next run tries it with one message first.
 */
export function openSender({
  mailer,
  ...others
}: Omit<Means, 'mailer'> & { mailer: Mailer | undefined }): (now: number) => Promise<void> {
  const { pool, log } = others;
  let isSending = false;
  let isDown = false;
  return async (now) => {
    if (isSending) return;
    isSending = true;
    const begun = performance.now();
    try {
      const lost = await settleLost(pool);
      if (lost.length > 0)
        log.warn({ messages: lost.length }, 'Of messages nobody can know whether they were sent');
      // oxlint-disable-next-line no-await-in-loop -- seldom, and few
      for (const { email, ...key } of lost) if (email !== null) await replaceLinks(pool, key, email);
      if (mailer) {
        const means = { ...others, mailer };
        isDown = !(await sendDue(means, () => now + performance.now() - begun, isDown));
      } else if ((await selectDue(pool, now)).count > 0) {
        log.warn(
          'Messages to the people asked are waiting: SMTP_URL is not set. Set it, or hand out the links: soundings links export',
        );
      }
    } finally {
      isSending = false;
    }
  };
}

/** False when the mail server is not to be had. */
async function sendDue(means: Means, clock: () => number, wasDown: boolean): Promise<boolean> {
  for (let count = wasDown ? 1 : batchSize; ; count = batchSize) {
    const now = clock();
    // oxlint-disable-next-line no-await-in-loop -- a batch after another
    const due = await takeDue(means.pool, now, count);
    if (due.length === 0) return !wasDown || count > 1;
    // oxlint-disable-next-line no-await-in-loop -- the same
    if (!(await sendBatch(means, due, now))) return false;
  }
}

type Letter = Unanswered & { link: string; stop: string };

/** A message with the number of questions that the person has not answered, as of the answers that are `sealed`. */
type Unanswered = { message: DueMessage; questions: number; respondent: string; sealed: Buffer[] };

/** Sends what can go out now, and puts off the rest. False when the mail server is not to be had. */
async function sendBatch(means: Means, due: DueMessage[], now: number): Promise<boolean> {
  const queue = await lettersOf(means, due, now);
  const rest: DueMessage[] = [];
  const came = { taken: 0, deferred: 0, down: 0, gone: 0 };
  const sendNext = async (): Promise<void> => {
    for (let one = queue.shift(); one; one = queue.shift()) {
      if (came.down > 0) rest.push(one.message);
      // oxlint-disable-next-line no-await-in-loop -- one after another
      else came[await sendOne(means, one, now)]++;
    }
  };
  const ways = await Promise.allSettled(Array.from({ length: atOnce }, sendNext));
  for (const way of ways) if (way.status === 'rejected') throw way.reason;
  await putOff(
    means.pool,
    { state: 'waiting', isLate: true },
    rest.map((message) => ({ ...message, until: now + 60_000 })),
  );
  // Of recipients that are deferred, as by greylisting, the others are none the worse.
  return came.down === 0;
}

/** Those that go out now, each with a link of its own. The others are put off, or are not to be sent. */
async function lettersOf(means: Means, due: DueMessage[], now: number): Promise<Letter[]> {
  const { pool, publicUrl } = means;
  const going = due.filter((message) => momentOf(message, now) === now);
  const asked = await unansweredOf(means, going);
  const wanted = asked.filter(({ questions }) => questions > 0);
  const links = await newLinks(
    pool,
    wanted.map(({ message }) => ({ ...message, sentTo: message.email })),
  );
  const stops = await stopTokensFor(
    pool,
    wanted.map(({ message }) => message),
  );
  const others = due.map((message) => ({ ...message, until: momentOf(message, now) }));
  await putOff(
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
  // Kept: were they gone, a week in which nobody needs a reminder could be told from one in which somebody does (P18).
  await noteUnneeded(
    pool,
    asked.flatMap(({ message, questions }) => (questions === 0 ? [message] : [])),
  );
  return wanted.map((one, i) => ({
    ...one,
    link: links[i] as string,
    stop: `${publicUrl}/r/${stops[i]}`,
  }));
}

/**
 * With how many questions each person has not answered; of a reminder none where anything is answered that the schedule asks. An
 * invitation goes out whatever was answered, and counts all questions: how many go out is shown, and would tell who has (P18).
 */
async function unansweredOf({ pool, keys }: Means, messages: DueMessage[]): Promise<Unanswered[]> {
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
    const answered = new Set(sealed.flatMap((part) => [...decodeAnswers(key.open(respondent, part)).keys()]));
    const isSuperfluous = message.scheduleAsks.some((id) => answered.has(id));
    const questions = isSuperfluous ? 0 : questionIds.filter((id) => !answered.has(id)).length;
    return { message, questions, respondent, sealed };
  });
}

/** Now, or a later time, in ms; undefined when it is not to be sent. */
function momentOf(message: DueMessage, now: number): number | undefined {
  const { active, email, wrapped, isUnwanted, timezone, anyHour, week, accountTimezone } = message;
  if (email === null || wrapped === null || isUnwanted) return undefined;
  const weekEnd = endOf(week, accountTimezone);
  // Who is inactive now, perhaps by a faulty list, may be back soon.
  if (!active) return now + hour < weekEnd ? now + hour : undefined;
  return sendableAt(now - 1, now, { timezone, anyHour, weekEnd });
}

/** What came of it; where the mail server took none it is tried again later, and later still. */
async function sendOne(
  { pool, mailer, publicUrl, log }: Means,
  { message, questions, respondent, sealed, link, stop }: Letter,
  now: number,
): Promise<'taken' | 'deferred' | 'down' | 'gone'> {
  if (!(await beginSending(pool, message, { respondent, sealed }))) return 'gone';
  const { accountId, userId, week, scheduleId, kind } = message;
  // Only who has not answered gets a reminder: the log says of none whose it was.
  const about = { accountId, ...(kind === 'invitation' && { userId }), week, kind };
  const id = `asking ${accountId} ${userId} ${week} ${scheduleId} ${kind}`;
  const address = message.email as string;
  const letter = invitationOf({ ...message, questions }, addressOf(link, publicUrl), stop);
  const error = await mailer.send({ id, to: address, ...letter }).catch((thrown: unknown) => thrown as Error);
  // What is thrown from here on leaves it as given to the mail server: it is not sent again.
  if (!error) {
    await replaceLinks(pool, message, address);
    await noteSent(pool, message);
    return 'taken';
  }
  const cause = error.message;
  if (error instanceof MailRefused) {
    await noteRefused(pool, message, { address, reason: cause });
    log.warn({ ...about, cause }, 'A message was refused by the mail server');
    return 'taken';
  }
  if (error instanceof MailUnknown) {
    await replaceLinks(pool, message, address);
    await noteUnknown(pool, message);
    log.warn({ ...about, cause }, 'Of a message nobody can know whether it was sent');
    return 'down';
  }
  await putOff(pool, { state: 'sending', isLate: true }, [
    { ...message, until: now + patienceAfter(message.attempts) },
  ]);
  log.warn({ ...about, cause }, 'A message could not be sent; it is tried again');
  return error instanceof MailDeferred ? 'deferred' : 'down';
}

/** In ms. */
const hour = 3_600_000;

/** One minute, then twice as long each time, up to an hour. */
const patienceAfter = (attempts: number) => Math.min(hour, 60_000 * 2 ** attempts);
