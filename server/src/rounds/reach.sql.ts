// SQL that decides who gets invitations and reminders, and over which channel: reading only. Everyone gets them over one channel only:
// by email if they have an address, else by text message if they have a phone number and their account has turned text messages on. Text
// messages also go to people whose email was returned or rejected (decision 36).
import { allChannels, type Channels } from '../base/messages/channels.ts';
import type { AccountId, Db, Fragment } from '../db/db.ts';

export type Channel = keyof Channels;

/**
 * The account of user u. In statements of one account it is the number, with which Citus finds the server of each part of the statement
 * (decision 60), and in those of several accounts `u.account_id`.
 */
type AccountOfUser = AccountId | Fragment;

const smsIsOn = (db: Db, account: AccountOfUser) => db`
  (select s.sms from accounts s where s.account_id = ${account})`;

/** How long no email is tried after one was returned, because a mailbox can start working again. */
const restOfEmail = '90 days';

/** Condition: the last invitation or other recorded email to the current address of user u was returned or rejected. */
const emailFails = (db: Db, account: AccountOfUser) => db`
  exists (select 1 from mail_refusals f
          where  f.account_id = ${account} and f.user_id = u.user_id and lower(f.address) = lower(u.email)
            and  f.at > now() - ${restOfEmail}::interval)`;

/** Condition: user u can get text messages. `sms`: whether a gateway is configured. */
export const hasSms = (db: Db, sms: boolean, account: AccountOfUser) =>
  db`${sms}::boolean and u.phone is not null and ${smsIsOn(db, account)}`;

/** The channel of user u, of those that are configured; null: none reaches them. */
export const channelOf = (db: Db, { mail, sms }: Channels, account: AccountOfUser) => db`
  (case when ${mail}::boolean and u.email is not null
             and not (${hasSms(db, sms, account)} and ${emailFails(db, account)}) then 'mail'
        when ${hasSms(db, sms, account)} then 'sms' end)`;

/** The channel of user u; if none of it is configured, the one that would be used if it were. Null: the person has no address. */
export const intendedChannelOf = (db: Db, channels: Channels, account: AccountOfUser) => db`
  coalesce(${channelOf(db, channels, account)}, ${channelOf(db, allChannels, account)})`;

/** The address of user u on a channel. */
export const addressOn = (db: Db, channel: Channel) => (channel === 'mail' ? db`u.email` : db`u.phone`);

/** Condition: user u gets invitations over one of the channels. Others can be given a link by their employer (P14). */
export const canBeReached = (db: Db, channels: Channels, account: AccountOfUser) => db`
  (${channelOf(db, channels, account)} is not null
   and not exists (select 1 from reminder_opt_outs o
                   where  o.account_id = ${account} and o.user_id = u.user_id and o.all_emails))`;
