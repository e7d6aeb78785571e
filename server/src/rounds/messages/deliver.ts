// Gives one message to the mail server, and records each step so that no one gets it twice. A message counts as given just before its
// end is sent: until then, the server can't have accepted it, and it is sent again if the process stops. What happens to several
// messages at the same time is recorded in one statement.
import { Batching } from '../../base/batching.ts';
import type { Log } from '../../base/log.ts';
import type { Pool } from '../../db/db.ts';
import { MailDeferred, type Mailer, MailRejected, MailUnknown } from '../../mail/mail.ts';
import { answeringAddressOf } from '../links.ts';
import { invitationOf } from './invitation.ts';
import { replaceLinks } from './link-notices.ts';
import {
  beginSending,
  type Decided,
  type DueMessage,
  type MessageKey,
  recordRefused,
  recordSent,
  recordUnknown,
  retryLater,
} from './messages.sql.ts';

/** A message with the number of questions that the person has not answered. `sealed`: the answers this is based on. */
export type Unanswered = { message: DueMessage; questions: number; respondent: string; sealed: Buffer[] };

export type Outgoing = Unanswered & { link: string; optOutUrl: string };

/**
 * What happened to a message. `taken`: the server accepted or rejected it. `deferred`: it accepts others. `down`: it accepts none now.
 * `gone`: it should no longer be sent.
 */
export type DeliveryOutcome = 'taken' | 'deferred' | 'down' | 'gone';

/**
 * Gives a message to the mail server. `now`: ms since 1970. `recorded`: resolves when it is recorded that the server accepted it; the next
 * message need not wait for that.
 */
export type Deliver = (
  outgoing: Outgoing,
  now: number,
) => Promise<{ outcome: DeliveryOutcome; recorded?: Promise<unknown> }>;

type Context = { pool: Pool; mailer: Mailer; publicUrl: string; log: Log };

/** The most messages recorded in one statement. */
const mostAtOnce = 50;

class Withdrawn extends Error {
  override readonly name = 'Withdrawn';
}

/** Returns the function that gives messages to the mail server. */
export function openDelivery({ pool, mailer, publicUrl, log }: Context): Deliver {
  const beginnings = batched((items: Decided[]) => beginSending(pool, items));
  const endings = batched(async (items: { key: MessageKey; address: string }[]) => {
    await replaceLinks(
      pool,
      items.map(({ key, address }) => ({ ...key, address })),
    );
    await recordSent(
      pool,
      items.map(({ key }) => key),
    );
    return items;
  });

  return async ({ message, questions, respondent, sealed, link, optOutUrl }, now) => {
    const { accountId, userId, week, scheduleId, kind } = message;
    // Logs no person for a reminder, because only people who have not answered get one.
    const about = { accountId, ...(kind === 'invitation' && { userId }), week, kind };
    const address = message.email as string;
    let hasBegun = false;
    const error = await mailer
      .send({
        id: `asking ${accountId} ${userId} ${week} ${scheduleId} ${kind}`,
        to: address,
        ...invitationOf({ ...message, questions }, answeringAddressOf(link, publicUrl), optOutUrl),
        beforeEnd: async () => {
          hasBegun = await beginnings.do('all', { key: message, respondent, sealed });
          if (!hasBegun) throw new Withdrawn();
        },
      })
      .catch((thrown: unknown) => thrown as Error);
    // If anything below throws, the message stays in the state 'sending' and is not sent again.
    if (!error) return { outcome: 'taken', recorded: endings.do('all', { key: message, address }) };
    if (error instanceof Withdrawn) return { outcome: 'gone' };
    const cause = error.message;
    if (error instanceof MailRejected) {
      await recordRefused(pool, message, { address, reason: cause });
      log.warn({ ...about, cause }, 'The mail server rejected a message');
      return { outcome: 'taken' };
    }
    if (error instanceof MailUnknown) {
      await replaceLinks(pool, [{ ...message, address }]);
      await recordUnknown(pool, message);
      log.warn({ ...about, cause }, 'Delivery status unknown for a message');
      return { outcome: 'down' };
    }
    await retryLater(pool, message, { until: now + retryDelay(message.attempts), hasBegun });
    log.warn({ ...about, cause }, 'A message could not be sent and will be retried');
    return { outcome: error instanceof MailDeferred ? 'deferred' : 'down' };
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

/** Returns the delay in ms: one minute, then twice as long each time, up to an hour. */
const retryDelay = (attempts: number) => Math.min(3_600_000, 60_000 * 2 ** attempts);
