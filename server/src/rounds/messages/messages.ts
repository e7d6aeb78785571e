// Decides which invitations and reminders are sent now. Each message is sent once, by one of the processes, at an hour that is allowed
// in the person's time zone. If it is unknown whether it was accepted, it counts as sent: a missing reminder is better than a duplicate
// (deliver.ts). Emails and text messages have a queue each, so that neither waits for the other; a person is in one of them (reach.sql.ts).
import { type Channels } from '../../base/messages/channels.ts';
import type { Log } from '../../base/log.ts';
import type { Pool } from '../../db/db.ts';
import type { Mailer } from '../../mail/mail.ts';
import { openOutbox, type Queue } from '../../sending/outbox.ts';
import type { AnswerKeys } from '../../sealing/answer-keys.ts';
import { decodeAnswers } from '../../sealing/person-answers.ts';
import type { Gateway } from '../../sms/sms.ts';
import { mailChannel, type MessageChannel, smsChannel } from './channels.ts';
import { openDelivery, type Outgoing, type Unanswered } from './deliver.ts';
import { replaceLinks } from './link-notices.sql.ts';
import { newLinks } from '../links.ts';
import { endLost } from './lost-messages.sql.ts';
import { selectDue } from './message-counts.sql.ts';
import {
  deleteMessages,
  type DueMessage,
  postpone,
  recordUnneeded,
  selectAskedAndSealed,
  takeDue,
} from './messages.sql.ts';
import { endOf, sendableAt } from '../send-times.ts';
import { personTokensFor } from './person-tokens.ts';

type SenderContext = { pool: Pool; keys: AnswerKeys; publicUrl: string; log: Log };

/**
 * Opens the sender of this process. Returns a function that sends all due messages over their channels (sending/outbox.ts). `now`: the
 * time at the start of the call, in ms since 1970. Without a mail server or a gateway, messages over that channel wait, and a warning
 * is logged.
 */
export function openSender({
  mailer,
  gateway,
  ...context
}: SenderContext & { mailer: Mailer | undefined; gateway?: Gateway | undefined }): (
  now: number,
) => Promise<void> {
  const channels: Channels = { mail: mailer !== undefined, sms: gateway !== undefined };
  const configured = [...(mailer ? [mailChannel(mailer)] : []), ...(gateway ? [smsChannel(gateway)] : [])];
  const outboxes = configured.map((channel) => {
    const queue = queueOf(context, channel, channels);
    return openOutbox(async () => queue);
  });
  return async (now) => {
    await endLostMessages(context, channels);
    await warnOfMissing(context, channels, now);
    const ended = await Promise.allSettled(outboxes.map((sendDue) => sendDue(now)));
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
  };
}

/** Ends the messages of processes that stopped while they were sending. */
async function endLostMessages({ pool, log }: SenderContext, channels: Channels): Promise<void> {
  const lost = await endLost(pool, channels);
  if (lost.length > 0)
    log.warn({ messages: lost.length }, 'Delivery status unknown: a process stopped while sending');
  const reached = lost.flatMap(({ address, ...key }) => (address === null ? [] : [{ ...key, address }]));
  if (reached.length > 0) await replaceLinks(pool, reached);
}

const missing = {
  mail: 'Invitations are waiting because SMTP_URL is not set. Set it, or hand out links with "soundings links export".',
  sms: 'Invitations by text message are waiting because SMS_PROVIDER is not set. Set it, or hand out links with "soundings links export".',
};

async function warnOfMissing({ pool, log }: SenderContext, channels: Channels, now: number): Promise<void> {
  const absent = (['mail', 'sms'] as const).filter((channel) => !channels[channel]);
  if (absent.length === 0) return;
  const due = await selectDue(pool, channels, now);
  for (const channel of absent) if (due[channel].count > 0) log.warn(missing[channel]);
}

function queueOf(
  context: SenderContext,
  channel: MessageChannel,
  channels: Channels,
): Queue<DueMessage, Outgoing> {
  return {
    connections: channel.connections,
    take: (now, count) => takeDue(context.pool, { channel: channel.name, channels }, now, count),
    prepare: (due, now) => outgoingOf(context, due, now),
    send: openDelivery({ ...context, channel, channels }),
    laneOf: ({ message }) => channel.laneOf(message.address as string),
    putBack: (rest, until) =>
      postpone(
        context.pool,
        { isLate: true },
        rest.map(({ message }) => ({ ...message, until })),
      ),
  };
}

/** Returns the messages to send now, each with its own link. Postpones or deletes the others. */
async function outgoingOf(context: SenderContext, due: DueMessage[], now: number): Promise<Outgoing[]> {
  const { pool, publicUrl } = context;
  const sendTimeFor = sendTimesAt(now);
  const planned = due.map((message) => ({ ...message, until: sendTimeFor(message) }));
  const sendable = planned.filter(({ until }) => until === now);
  const others = planned.filter(({ until }) => until !== now);
  const asked = await unansweredOf(context, sendable);
  const wanted = asked.filter(({ questions }) => questions > 0);
  const links = await newLinks(
    pool,
    wanted.map(({ message }) => ({ ...message, sentTo: message.address })),
  );
  const tokens = await personTokensFor(
    pool,
    'reminders',
    wanted.map(({ message }) => message),
  );
  await postpone(
    pool,
    { isLate: false },
    others.flatMap(({ until, ...message }) => (until === undefined ? [] : [{ ...message, until }])),
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

/**
 * Returns the function that returns when to send a message, in ms since 1970: now or later; undefined if it should not be sent. It
 * computes the times of a week and a time zone once.
 */
function sendTimesAt(now: number): (message: DueMessage) => number | undefined {
  const known = new Map<string, number | undefined>();
  const timeFor = ({ active, timezone, anyHour, week, accountTimezone }: DueMessage) => {
    const weekEnd = endOf(week, accountTimezone);
    // The person may become active again soon, for example if a faulty list made them inactive.
    if (!active) return now + hour < weekEnd ? now + hour : undefined;
    return sendableAt(now - 1, now, { timezone, anyHour, weekEnd });
  };
  return (message) => {
    const { active, address, wrapped, isUnwanted, timezone, anyHour, week, accountTimezone } = message;
    if (address === null || wrapped === null || isUnwanted) return undefined;
    const key = `${active} ${timezone} ${anyHour} ${week} ${accountTimezone}`;
    if (!known.has(key)) known.set(key, timeFor(message));
    return known.get(key);
  };
}

/** In ms. */
const hour = 3_600_000;
