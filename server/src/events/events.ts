// The events that webhooks report. Each is written in the transaction of the change that it is about, so that none is lost and none is
// about something that did not happen. webhooks/ sends them.
import type { EventType } from '@soundings/contract/webhooks/events.ts';
import type { EventData } from '@soundings/contract/webhooks/webhooks.ts';
import { newId } from '../base/ids.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { addWebhookJob, insertEvent } from './events.sql.ts';

/**
 * Records an event for the endpoints of the account that want events of this type. `about`: what the event is about. Events about the
 * same thing are sent in their order, so the caller must have locked it. `data` has IDs, kinds and counts: never an answer, a figure, a name or
 * anything that depends on who has answered.
 */
export async function recordEvent<T extends EventType>(
  tx: Transaction,
  accountId: AccountId,
  type: T,
  about: string | number,
  data: EventData<T>,
): Promise<void> {
  const event = { messageId: newMessageId(), type, subject: `${subjectOf(type)} ${about}`, data };
  if (await insertEvent(tx, accountId, event)) await addWebhookJob(tx);
}

/** Returns what an event is about, such as the run of run.applied. */
const subjectOf = (type: EventType): string => type.split('.')[0] as string;

/** Returns a new id of an event. It must not contain a period, because periods separate what is signed. */
export const newMessageId = (): string => `msg_${newId().replaceAll('-', '')}`;
