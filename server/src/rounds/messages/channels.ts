// How invitations and reminders are sent over each channel: by email, and by text message.
import { domainOf } from '../../base/messages/smtp.ts';
import type { Mailer } from '../../mail/mail.ts';
import type { Send } from '../../sending/outbox.ts';
import type { Gateway } from '../../sms/sms.ts';
import type { Channel } from '../reach.sql.ts';
import { invitationOf } from './invitation.ts';
import { invitationSms } from './invitation-sms.ts';
import type { DueMessage } from './messages.sql.ts';

/** A message that is to be sent. `address`: the person's answering page; `optOutUrl`: the page on which survey messages are turned off. */
export type Written = {
  message: DueMessage & { address: string };
  /** The number of questions that the message names. */
  questions: number;
  pageUrl: string;
  optOutUrl: string;
};

export type MessageChannel = {
  name: Channel;
  /** What receives the messages, for the log. */
  receiver: string;
  /** How many messages are sent at the same time. */
  connections: number;
  laneOf(address: string): string;
  /** Returns the function that sends a message. */
  sending(written: Written): Send;
};

export const mailChannel = (mailer: Mailer): MessageChannel => ({
  name: 'mail',
  receiver: 'mail server',
  connections: mailer.connections,
  laneOf: domainOf,
  sending({ message, questions, pageUrl, optOutUrl }) {
    const { accountId, userId, kind, address } = message;
    const mail = {
      id: idOf(message),
      to: address,
      // Only people who have not answered get a reminder, so a returned one is not recorded for a person.
      ...(kind === 'invitation' && { person: { accountId, userId } }),
      ...invitationOf({ ...message, questions }, pageUrl, optOutUrl),
      hasSharedLines: true,
    };
    return (beforeEnd) => mailer.send({ ...mail, ...(beforeEnd && { beforeEnd }) });
  },
});

export const smsChannel = (gateway: Gateway): MessageChannel => ({
  name: 'sms',
  receiver: 'gateway for text messages',
  connections: gateway.connections,
  laneOf: () => 'gateway',
  sending({ message, questions, pageUrl }) {
    const { kind, address, language, externalId, email } = message;
    const text = invitationSms({ ...message, questions }, pageUrl);
    const sms = { to: address, text, id: idOf(message), kind, language, externalId, email };
    return (beforeEnd) => gateway.send(sms, beforeEnd);
  },
});

const idOf = ({ accountId, userId, week, scheduleId, kind }: DueMessage) =>
  `asking ${accountId} ${userId} ${week} ${scheduleId} ${kind}`;
