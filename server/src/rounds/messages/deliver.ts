// Gives one message to the mail server or the gateway, and records each step so that no one gets it twice. A message counts as being
// sent from the moment from which the receiver can accept it: for an email, just before its end; for a text message, just before the
// request. Until then, the message is sent again if the process stops. What happens to several messages at the same time is recorded in one statement.
import { setTimeout } from 'node:timers/promises';
import { Batching } from '../../base/batching.ts';
import type { Channels } from '../../base/messages/channels.ts';
import type { Log } from '../../base/log.ts';
import type { Pool } from '../../db/db.ts';
import { deliver, type DeliveryRecords, type Sent } from '../../sending/outbox.ts';
import { answeringAddressOf, deleteUnsentLink } from '../links.ts';
import type { MessageChannel } from './channels.ts';
import { replaceLinks } from './link-notices.sql.ts';
import {
  type DueMessage,
  type MessageKey,
  recordRefused,
  recordUnknown,
  retryLater,
} from './messages.sql.ts';
import { beginSending, type Decided, recordSent } from './sent-messages.sql.ts';

/**
 * A message with the number of questions that the person has not answered. `sealed`: the answers from which this number was
 * computed.
 */
export type Unanswered = { message: DueMessage; questions: number; respondent: string; sealed: Buffer[] };

export type Outgoing = Unanswered & { link: string; optOutUrl: string };

/** `channels`: what is configured. */
type Context = { pool: Pool; channel: MessageChannel; channels: Channels; publicUrl: string; log: Log };

/** The most messages recorded in one statement. */
const mostAtOnce = 50;

/**
 * How long sent messages are collected before they are recorded, in ms. If the process is killed in the meantime, their delivery status is
 * unknown.
 */
const endingPause = 20;

/** Returns the function that sends messages over a channel. `now`: ms since 1970. */
export function openDelivery({
  pool,
  channel,
  channels,
  publicUrl,
  log,
}: Context): (outgoing: Outgoing, now: number) => Promise<Sent> {
  const beginnings = batched((items: Decided[]) => beginSending(pool, items));
  const endings = batched(async (items: { key: MessageKey; address: string }[]) => {
    // No email waits for this, and the database then has fewer statements to run while the next emails wait for it.
    await setTimeout(endingPause);
    await replaceLinks(
      pool,
      items.map(({ key, address }) => ({ ...key, address })),
    );
    await recordSent(pool, items);
    return items;
  });

  return ({ message, questions, respondent, sealed, link, optOutUrl }, now) => {
    const { accountId, userId, week, kind, attempts } = message;
    const address = message.address as string;
    // The log doesn't say who gets a reminder, because only people who have not answered get one.
    const about = { accountId, ...(kind === 'invitation' && { userId }), week, kind };
    const pageUrl = answeringAddressOf(link, publicUrl);
    const send = channel.sending({ message: { ...message, address }, questions, pageUrl, optOutUrl });
    // If recording a step fails, the message stays in the state 'sending' and is not sent again.
    const records: DeliveryRecords = {
      begin: () => beginnings.do('all', { key: message, respondent, sealed }),
      sent: () => endings.do('all', { key: message, address }),
      async refused(cause, hasBegun) {
        const refusal = { address, reason: cause, now, hasBegun };
        const goesBySms = await recordRefused(
          pool,
          message,
          refusal,
          channels.sms && channel.name === 'mail',
        );
        // The link reached no one, so no one has to be notified that the text message replaces it.
        if (goesBySms) await deleteUnsentLink(pool, accountId, link);
        const then = goesBySms ? '. It will be sent as a text message' : '';
        log.warn({ ...about, cause }, `The ${channel.receiver} rejected a message${then}`);
      },
      async unknown(cause) {
        await replaceLinks(pool, [{ ...message, address }]);
        await recordUnknown(pool, message);
        log.warn({ ...about, cause }, 'Delivery status unknown for a message');
      },
      async postponed(until, cause, hasBegun) {
        await retryLater(pool, message, { until, hasBegun });
        log.warn({ ...about, cause }, 'A message could not be sent and will be retried');
      },
    };
    return deliver(send, { now, attempts }, records);
  };
}

/**
 * Returns what handles the messages that arrive while a statement runs together in the next one. Two messages of a person never share a
 * statement, because the second depends on what the first one did.
 */
function batched<T extends { key: MessageKey }, R>(work: (items: T[]) => Promise<R[]>): Batching<T, R> {
  return new Batching<T, R>(
    async (_, items) => {
      const results = new Map<T, R>();
      for (let left = items; left.length > 0;) {
        const firsts = new Map(
          left.toReversed().map((item) => [`${item.key.accountId} ${item.key.userId}`, item]),
        );
        const group = left.filter((item) => firsts.get(`${item.key.accountId} ${item.key.userId}`) === item);
        const done = await work(group);
        for (const [i, item] of group.entries()) results.set(item, done[i] as R);
        left = left.filter((item) => !group.includes(item));
      }
      return items.map((item) => results.get(item) as R);
    },
    { most: mostAtOnce, atOnce: 1 },
  );
}
