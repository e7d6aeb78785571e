// The console: signing in and out, the session, and the user's own profile.
import { Type } from 'typebox';
import { operation } from './operation.ts';
import type { ProviderButton } from './sign-on/single-sign-on.ts';
import { maxEmailLength, maxNameLength } from '../limits.ts';
import type { Role } from '../people/roles.ts';

/** The user who is signed in, and their account. */
export type Session = {
  user: { id: number; name: string; email: string | null; role: Role };
  account: {
    id: number;
    name: string;
    language: string;
    timezone: string;
    threshold: number;
    distributionThreshold: number;
    commentThreshold: number;
    publication: 'weekly' | 'live';
  };
  /** The language of the console's texts. */
  language: 'en' | 'sv';
  /** The provider with which the user signed in; null: with a password. */
  provider: ProviderButton | null;
  /** How many runs await approval by an administrator; 0 for other roles. */
  waiting: { runs: number };
  /** Whether the page with the first steps is shown: to administrators, until one of them dismisses it. */
  isStarting: boolean;
};

/**
 * A language in which there are texts for people who answer: the answering page, invitations and the questions of the library.
 */
export type AnsweringLanguage = {
  /** ISO 639-1. */
  language: string;
  /** The language of the texts: another one if it stands in for `language`, such as nb for nn. */
  texts: string;
  /** Whether a machine drafted the texts and no native speaker has read them yet. */
  isDraft: boolean;
};

/** What the sign-in page needs to know. */
export type SignInFacts = {
  /** The name of the company whose sign-in address was opened, or of the only one of the installation. */
  company: string | null;
  /** Whether there is no account yet. The link that the service printed creates the first one. */
  isEmpty: boolean;
  /** Whether the installation sends email. If not, an administrator creates sign-in links. */
  canMail: boolean;
  /** The providers with which people can sign in: those of the account with the key, or of the only account. */
  providers: ProviderButton[];
};

/** The result of signing in with a correct email address and password. */
export type SignInResponse =
  | { state: 'signed in'; session: Session }
  /** They match in several accounts: let the user choose one, and send its id as well. */
  | { state: 'choose account'; accounts: { id: number; name: string }[] }
  /** The user has turned on two-factor authentication: ask for a code, and send it as well. */
  | { state: 'code needed'; accountId: number };

export type Profile = {
  firstName: string;
  lastName: string;
  email: string | null;
  role: Role;
  /** The user's own; null: the account's applies. */
  language: string | null;
  timezone: string | null;
  /** Whether the HR system manages the user. Fields that come from there can't be changed here. */
  managed: boolean;
  account: { name: string; language: string; timezone: string };
  /** When the password was set (ISO 8601). */
  passwordSetAt: string | null;
  /** When two-factor authentication was turned on, and how many recovery codes are left; null: it is off. */
  twoFactor: { since: string; recoveryCodes: number } | null;
  /** Whether the user gets the weekly digest; null: the user's role gets none, or the account has turned it off. */
  digest: boolean | null;
};

/** A browser in which the user is signed in. */
export type SessionSeen = {
  id: number;
  /** The names of the browser and the operating system, as the browser reports them; null: unknown. */
  browser: string | null;
  system: string | null;
  address: string;
  signedInAt: string;
  seenAt: string;
  /** The provider with which the user signed in there; null: with a password. */
  provider: string | null;
  /** Whether it is the browser that sent this request. */
  isThis: boolean;
};

/** What an authenticator app needs: the secret as text, and a QR code as rows of 0 and 1. */
export type TwoFactorSetup = { secret: string; address: string; matrix: string[] };

/** The questions that the user's groups were asked in a week. `from` and `to` are days, YYYY-MM-DD. */
export type OwnAskedWeek = { week: string; from: string; to: string; questions: string[] };

const object = <T extends Parameters<typeof Type.Object>[0]>(fields: T) =>
  Type.Object(fields, { additionalProperties: false });
const email = Type.String({ minLength: 1, maxLength: maxEmailLength });
/** Longer than any password a person types. Hashing a longer one would waste time. */
const password = Type.String({ minLength: 1, maxLength: 500 });
const code = Type.String({ minLength: 1, maxLength: 40 });
const secret = Type.String({ minLength: 1, maxLength: 200 });
const name = Type.String({ minLength: 1, maxLength: maxNameLength });
const id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
const language = Type.String({ minLength: 2, maxLength: 2 });
const timezone = Type.String({ minLength: 1, maxLength: 64 });

export const sessionOperations = {
  /** Returns the user who is signed in; 401 if no one is. */
  'GET /session': operation<Session>()({ minimumRole: 'User' }),
  'GET /sign-in': operation<SignInFacts>()({
    minimumRole: 'anyone',
    query: Type.Object({ company: Type.Optional(Type.String({ maxLength: 40 })) }),
  }),
  'GET /languages': operation<AnsweringLanguage[]>()({ minimumRole: 'anyone' }),
  /** Signs in, and ends the browser's previous session. */
  'POST /session': operation<SignInResponse>()({
    minimumRole: 'anyone',
    body: object({ email, password, accountId: Type.Optional(id), code: Type.Optional(code) }),
  }),
  /** Signs out. `address`: where to sign out at the provider as well; null: nowhere. */
  'DELETE /session': operation<{ address: string | null }>()({ minimumRole: 'User' }),
  /** Confirms the password: for ten minutes, operations with `proof` don't require it. */
  'POST /session/proof': operation()({ minimumRole: 'User', body: object({ password }) }),

  /** Emails a link to set a password. Response and timing are the same for an unknown address. */
  'POST /password/forgotten': operation()({ minimumRole: 'anyone', body: object({ email }) }),
  /** Returns the user a link to set a password belongs to. */
  'POST /password/link': operation<{ email: string; name: string; company: string; hasPassword: boolean }>()({
    minimumRole: 'anyone',
    body: object({ secret }),
  }),
  /** Sets a password with a link. Signs in, or returns null if two-factor authentication is on. */
  'POST /password': operation<{ session: Session | null }>()({
    minimumRole: 'anyone',
    body: object({ secret, password }),
  }),

  /** Checks whether the link that the service printed is valid. */
  'POST /setup/link': operation()({ minimumRole: 'anyone', body: object({ secret }) }),
  /** Creates the first account and its administrator, and signs in. */
  'POST /setup': operation<{ session: Session }>()({
    minimumRole: 'anyone',
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

  'GET /profile': operation<Profile>()({ minimumRole: 'User' }),
  'PATCH /profile': operation<Profile>()({
    minimumRole: 'User',
    body: object({
      language: Type.Optional(Type.Union([language, Type.Null()])),
      timezone: Type.Optional(Type.Union([timezone, Type.Null()])),
    }),
  }),
  /** Changes the password, and ends every other session. */
  'PUT /profile/password': operation()({
    minimumRole: 'User',
    body: object({ password, newPassword: password }),
  }),
  'GET /profile/sessions': operation<SessionSeen[]>()({ minimumRole: 'User' }),
  'DELETE /profile/sessions/{sessionId}': operation()({ minimumRole: 'User' }),
  /** Ends every session except this one. */
  'DELETE /profile/sessions': operation()({ minimumRole: 'User' }),
  /** Starts setting up two-factor authentication. It is on once a code has confirmed it. */
  'POST /profile/two-factor': operation<TwoFactorSetup>()({
    minimumRole: 'User',
    body: object({ password }),
  }),
  /** Turns on two-factor authentication. The recovery codes are returned only here. */
  'POST /profile/two-factor/on': operation<{ recoveryCodes: string[] }>()({
    minimumRole: 'User',
    body: object({ code }),
  }),
  'POST /profile/two-factor/off': operation()({ minimumRole: 'User', body: object({ password }) }),
  /** Returns new recovery codes. The previous ones become invalid. */
  'POST /profile/recovery-codes': operation<{ recoveryCodes: string[] }>()({
    minimumRole: 'User',
    body: object({ password }),
  }),
  /** Turns the user's weekly digest on or off. */
  'PUT /profile/digest': operation<Profile>()({
    minimumRole: 'Manager',
    body: object({ wanted: Type.Boolean() }),
  }),
  /** Returns the questions that the user's groups were asked in past weeks, newest first. */
  'GET /profile/weeks': operation<OwnAskedWeek[]>()({ minimumRole: 'User' }),
};
