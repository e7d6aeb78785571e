// The changes to people's sign-in that the service emails people about, and the contents of such an email. Pure.
import type { AccountId } from '../db/db.ts';

/** The changes that people are notified of, and who is notified: the person concerned, or every administrator. */
export const noticedChanges = {
  'password set': 'person',
  'link shown': 'person',
  'link to previous address': 'person',
  'two-factor turned on': 'person',
  'two-factor turned off': 'person',
  'recovery codes created': 'person',
  'address changed': 'person',
  'role changed': 'person',
  'shut out': 'person',
  'identity linked': 'person',
  'handed over to directory': 'person',
  'administrator added': 'administrators',
  'provider added': 'administrators',
  'provider changed': 'administrators',
  'provider removed': 'administrators',
  'single sign-on required': 'administrators',
  'single sign-on optional': 'administrators',
  'token created': 'administrators',
} as const;
export type NoticedChange = keyof typeof noticedChanges;

/** `about`: the person or thing that changed, if that isn't the recipient. */
export type Notice = { change: NoticedChange; about?: string | null };

/** The payload of the job that sends one notice. */
export type AccountNotice = {
  accountId: AccountId;
  userId: number;
  change: NoticedChange;
  about: string | null;
  to: string;
  firstName: string;
  company: string;
  language: string;
};
