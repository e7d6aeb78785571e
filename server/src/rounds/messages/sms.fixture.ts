// People who get text messages, for tests: they have a phone number and no email address, and their account has turned text messages on.
import { createAccount } from '../../accounts/accounts.ts';
import { inTransaction } from '../../db/db.ts';
import type { Mailer } from '../../mail/mail.ts';
import { openGateway } from '../../sms/gateway.ts';
import { gatewaySettings } from '../../sms/gateway.fixture.ts';
import { type AskedAccount, askedWeek, type AskingOptions, noon, planAsking } from '../../testing/asking.ts';
import type { TestData } from '../../testing/database.ts';
import { openLogLines } from '../../testing/log-lines.ts';
import { openDueRounds } from '../opening.ts';
import { openSender } from './messages.ts';

export const publicUrl = 'https://soundings.example';
export const minute = 60_000;
/** Friday at 9, when people who have not answered get a reminder. Everyone was asked on Wednesday at noon. */
export const friday = Date.parse('2026-11-20T09:00:00Z');
export const reminded = { reminderDays: 4, reminderHour: 9 };

/** The number of the nth person of an account, counted from 1. */
export const phoneOf = (n: number): string => `+4670174060${n}`;

export type TextedAccount = Omit<AskedAccount, 'links'>;

/** Creates an account whose people are asked at noon. No message is sent yet. `sms`: whether text messages are on. */
export async function askByPhone(
  { pool, keys }: TestData,
  { sms = true, now = noon, ...options }: AskingOptions & { sms?: boolean; now?: number } = {},
): Promise<TextedAccount> {
  await pool`delete from messages`; // a sender sends what is due of all accounts
  const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Nordwind', timezone: 'UTC' }));
  const planned = await planAsking(pool, id, options);
  await pool`update accounts set sms = ${sms} where account_id = ${id}`;
  for (const [i, userId] of planned.userIds.entries())
    await pool`
      update users set email = null, email_key = null, phone = ${phoneOf(i + 1)}
      where  account_id = ${id} and user_id = ${userId}`;
  await openDueRounds(pool, keys, now);
  return { ...planned, week: askedWeek };
}

/** Creates a sender with a gateway at an address, and returns its log too. `changes`: to the settings of the gateway. */
export function smsSenderOf(
  { pool, keys }: TestData,
  url: string,
  {
    response = 10_000,
    mailer,
    changes = {},
  }: { response?: number; mailer?: Mailer | undefined; changes?: Record<string, string> } = {},
) {
  const { log, lines } = openLogLines();
  const gateway = openGateway(gatewaySettings(url, changes), { connect: 2000, response });
  return { send: openSender({ pool, keys, mailer, gateway, publicUrl, log }), lines, gateway };
}
