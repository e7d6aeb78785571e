// The console: signing in and out, the session, and one's own profile.
import { Type } from 'typebox';
import { operation } from './console.operation.ts';
import { maxEmailLength, maxNameLength } from './limits.ts';
import type { Role } from './organization.ts';

/** Who is signed in, and where. */
export type Session = {
  user: { id: number; name: string; email: string | null; role: Role };
  account: {
    id: number;
    name: string;
    language: string;
    timezone: string;
    threshold: number;
    spreadThreshold: number;
    commentThreshold: number;
    publication: 'weekly' | 'live';
  };
  /** Of the console's texts: en or sv. */
  language: 'en' | 'sv';
  /** Held runs and the like, that wait for an administrator; 0 for others. */
  waiting: { runs: number };
};

/** What the sign-in page needs to know. */
export type SignInFacts = {
  /** The company, when the installation has one alone. */
  company: string | null;
  /** Whether there is no account yet: the link that the service printed makes the first. */
  isEmpty: boolean;
  /** Whether the installation sends mail: without, an administrator makes a link. */
  canMail: boolean;
};

/** What came of an address and a password that go together. */
export type SignInAnswer =
  | { state: 'signed in'; session: Session }
  /** They fit in several accounts: ask for one, and send its id with the rest. */
  | { state: 'choose account'; accounts: { id: number; name: string }[] }
  /** The person has the second step on: ask for a code, and send it with the rest. */
  | { state: 'code needed'; accountId: number };

export type Profile = {
  firstName: string;
  lastName: string;
  email: string | null;
  role: Role;
  /** Of the person alone; null: the account's. */
  language: string | null;
  timezone: string | null;
  /** Managed by the HR system: what comes from there is not changed here. */
  managed: boolean;
  account: { name: string; language: string; timezone: string };
  /** When the password was set. */
  passwordSetAt: string | null;
  /** Whether codes are asked for at signing in; since when, and how many recovery codes are left. */
  secondStep: { since: string; recoveryCodes: number } | null;
};

/** A browser that is signed in. */
export type SessionSeen = {
  id: number;
  /** Their names as the browser gives them; null: unknown. */
  browser: string | null;
  system: string | null;
  address: string;
  signedInAt: string;
  seenAt: string;
  /** Whether it is the one that asks. */
  isThis: boolean;
};

/** What to show for an app that makes codes: a secret as text, and a QR code as rows of 0 and 1. */
export type SecondStepSetup = { secret: string; address: string; matrix: string[] };

/** What one's groups were asked in a week. `from` and `to` are days, YYYY-MM-DD. */
export type AskedWeek = { week: string; from: string; to: string; questions: string[] };

const object = <T extends Parameters<typeof Type.Object>[0]>(fields: T) =>
  Type.Object(fields, { additionalProperties: false });
const email = Type.String({ minLength: 1, maxLength: maxEmailLength });
/** Longer than any that is typed; digesting a longer one would take time for nothing. */
const password = Type.String({ minLength: 1, maxLength: 500 });
const code = Type.String({ minLength: 1, maxLength: 40 });
const secret = Type.String({ minLength: 1, maxLength: 200 });
const name = Type.String({ minLength: 1, maxLength: maxNameLength });
const id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
const language = Type.String({ minLength: 2, maxLength: 2 });
const timezone = Type.String({ minLength: 1, maxLength: 64 });

export const sessionOperations = {
  /** Who is signed in; 401 when nobody is. */
  'GET /session': operation<Session>()({ least: 'User' }),
  'GET /sign-in': operation<SignInFacts>()({ least: 'anybody' }),
  /** Signs in; the session that the browser had ends. */
  'POST /session': operation<SignInAnswer>()({
    least: 'anybody',
    body: object({ email, password, accountId: Type.Optional(id), code: Type.Optional(code) }),
  }),
  'DELETE /session': operation()({ least: 'User' }),
  /** Gives the password again: for ten minutes no dangerous act asks for it. */
  'POST /session/proof': operation()({ least: 'User', body: object({ password }) }),

  /** Mails a link to set a password. What is answered, and when, is the same for an address that nobody has. */
  'POST /password/forgotten': operation()({ least: 'anybody', body: object({ email }) }),
  /** Whom a link to set a password is for. */
  'POST /password/link': operation<{ email: string; name: string; company: string; hasPassword: boolean }>()({
    least: 'anybody',
    body: object({ secret }),
  }),
  /** Sets a password by a link. Signs in, unless the second step is on: then null. */
  'POST /password': operation<{ session: Session | null }>()({
    least: 'anybody',
    body: object({ secret, password }),
  }),

  /** Whether the link that the service printed is good. */
  'POST /welcome/link': operation()({ least: 'anybody', body: object({ secret }) }),
  /** Makes the first account and its administrator, and signs in. */
  'POST /welcome': operation<{ session: Session }>()({
    least: 'anybody',
    body: object({
      secret,
      account: object({
        name,
        language,
        timezone,
        threshold: Type.Integer({ minimum: 1, maximum: 1000 }),
      }),
      administrator: object({ firstName: name, lastName: name, email, password }),
    }),
  }),

  'GET /profile': operation<Profile>()({ least: 'User' }),
  'PATCH /profile': operation<Profile>()({
    least: 'User',
    body: object({
      language: Type.Optional(Type.Union([language, Type.Null()])),
      timezone: Type.Optional(Type.Union([timezone, Type.Null()])),
    }),
  }),
  /** Changes the password; every other session ends. */
  'PUT /profile/password': operation()({
    least: 'User',
    body: object({ password, newPassword: password }),
  }),
  'GET /profile/sessions': operation<SessionSeen[]>()({ least: 'User' }),
  'DELETE /profile/sessions/{sessionId}': operation()({ least: 'User' }),
  /** Ends every session but this one. */
  'DELETE /profile/sessions': operation()({ least: 'User' }),
  /** Begins setting up the second step: it is on when a code has confirmed it. */
  'POST /profile/second-step': operation<SecondStepSetup>()({ least: 'User', body: object({ password }) }),
  /** Turns it on; the recovery codes are told only now. */
  'POST /profile/second-step/on': operation<{ recoveryCodes: string[] }>()({
    least: 'User',
    body: object({ code }),
  }),
  'POST /profile/second-step/off': operation()({ least: 'User', body: object({ password }) }),
  /** New recovery codes; those before are void. */
  'POST /profile/recovery-codes': operation<{ recoveryCodes: string[] }>()({
    least: 'User',
    body: object({ password }),
  }),
  /** What one's groups were asked in past weeks, newest first. */
  'GET /profile/weeks': operation<AskedWeek[]>()({ least: 'User' }),
};
