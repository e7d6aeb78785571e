// SQL that decides who gets invitations and reminders, and over which channel: reading only. Everyone gets them over one channel only:
// by email if they have an address, else by text message if they have a phone number and their account has turned text messages on. Text
// messages also go to people whose email was returned or rejected (decision 36).
import { allChannels, type Channels } from '../base/messages/channels.ts';
import type { Db } from '../db/db.ts';

export type Channel = keyof Channels;

const smsIsOn = (db: Db) => db`(select s.sms from accounts s where s.account_id = u.account_id)`;

/** For how long no email is tried after one was returned, because a mailbox can start working again. */
const restOfEmail = '90 days';

/** Condition: the last invitation or other recorded email to the current address of user u was returned or rejected. */
const emailFails = (db: Db) => db`
  exists (select 1 from mail_refusals f
          where  f.account_id = u.account_id and f.user_id = u.user_id and lower(f.address) = lower(u.email)
            and  f.at > now() - ${restOfEmail}::interval)`;

/** Condition: user u can get text messages. `sms`: whether a gateway is configured. */
export const hasSms = (db: Db, sms: boolean) =>
  db`${sms}::boolean and u.phone is not null and ${smsIsOn(db)}`;

/** The channel of user u, of those that are configured; null: none reaches them. */
export const channelOf = (db: Db, { mail, sms }: Channels) => db`
  (case when ${mail}::boolean and u.email is not null and not (${hasSms(db, sms)} and ${emailFails(db)}) then 'mail'
        when ${hasSms(db, sms)} then 'sms' end)`;

/** The channel of user u; if none of it is configured, the one that would be used if it were. Null: the person has no address. */
export const intendedChannelOf = (db: Db, channels: Channels) => db`
  coalesce(${channelOf(db, channels)}, ${channelOf(db, allChannels)})`;

/** The address of user u on a channel. */
export const addressOn = (db: Db, channel: Channel) => (channel === 'mail' ? db`u.email` : db`u.phone`);

/** Condition: user u gets invitations over one of the channels. Others can be given a link by their employer (P14). */
export const canBeReached = (db: Db, channels: Channels) => db`
  (${channelOf(db, channels)} is not null
   and not exists (select 1 from reminder_opt_outs o
                   where  o.account_id = u.account_id and o.user_id = u.user_id and o.all_emails))`;
