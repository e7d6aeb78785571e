// The console: API tokens, API access, the account's settings, and the audit log.
import type { LimitName } from '../limits.ts';
import { Type } from 'typebox';
import type { MailFinding } from './mail-findings.ts';
import { operation } from './operation.ts';
import { type ManagerComparison, managerComparisons } from '../comparisons.ts';
import { maxChangesCeiling, maxNameLength, workingHours } from '../limits.ts';
import { numberForms, type Numbers, type Scope, scopes } from '../operation.ts';

export type TokenSummary = {
  id: number;
  name: string;
  scopes: Scope[];
  numbers: Numbers;
  createdAt: string;
  /** Null: the soundings command, or a user who has been removed since. */
  createdBy: string | null;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
  lastUsedFrom: string | null;
};

export type Access = {
  /** The base URLs of the three interfaces. */
  addresses: { data: string; organization: string; upload: string };
  documents: string;
  /** Null: SFTP is off. */
  sftp: {
    host: string;
    port: number;
    username: string;
    keys: { kind: string; fingerprint: string; publicKey: string }[];
  } | null;
  username: string;
  allow: string[];
  /** The address this request comes from, and whether files may be sent from there. */
  yourAddress: string;
  isYourAddressAllowed: boolean;
  /** What files may change, according to the settings. */
  files: Pick<
    AccountSettingsView,
    'applyFiles' | 'filesPartial' | 'createGroupsFromUsers' | 'defaultCountry' | LimitName
  >;
  limits: { fileBytes: number; requestBytes: number; storedFiles: number; requestsPerMinute: number };
};

export type AccountSettingsView = {
  id: number;
  name: string;
  timezone: string;
  language: string;
  threshold: number;
  /** Null: twice the threshold. */
  distributionThreshold: number | null;
  commentThreshold: number | null;
  publication: 'weekly' | 'live';
  /** How many steps of the scale a published sum may be off; 0: no noise. */
  noise: 0 | 1 | 2;
  /** How many weeks a rolling KPI value covers; null: as many as the schedules need to ask all questions, at most 13. */
  kpiWeeks: number | null;
  /** What managers can compare the results of their groups with. */
  managerComparisons: ManagerComparison[];
  /** The weekly digest: on or off, how many days after a week closes, and at which hour in the recipient's time zone. */
  digest: boolean;
  digestDays: number;
  digestHour: number;
  /** Whether digests contain comments. */
  digestComments: boolean;
  /** Whether people who have a phone number and no email address get invitations and reminders as text messages. */
  sms: boolean;
  applyFiles: boolean;
  filesPartial: boolean;
  createGroupsFromUsers: boolean;
  /** The country of phone numbers without a country code in files, such as SE; null: these numbers are not read. */
  defaultCountry: string | null;
  notify: string[];
  notifySuccess: boolean;
  /** The sender address of emails; null: no mail server is configured. */
  mailFrom: string | null;
} & Record<LimitName, number>;

export type SmsSettingsView = {
  /** The template of the gateway, such as twilio; null: no gateway is configured. */
  gateway: string | null;
  /** How many active people get text messages if they are on. */
  people: number;
  /** What people get in each language, with a link that doesn't work. Providers charge for each segment. */
  previews: {
    language: string;
    kind: 'invitation' | 'reminder';
    text: string;
    encoding: 'GSM-7' | 'UCS-2';
    /** In characters of the encoding. */
    length: number;
    segments: number;
  }[];
};

const limit = Type.Integer({ minimum: 0, maximum: maxChangesCeiling });
const ownThreshold = Type.Union([Type.Integer({ minimum: 1, maximum: 2000 }), Type.Null()]);

const settings = Type.Partial(
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: maxNameLength }),
      timezone: Type.String({ maxLength: 100 }),
      language: Type.String({ maxLength: 10 }),
      threshold: Type.Integer({ minimum: 1, maximum: 1000 }),
      distributionThreshold: ownThreshold,
      commentThreshold: ownThreshold,
      publication: Type.Enum(['weekly', 'live']),
      noise: Type.Union([Type.Literal(0), Type.Literal(1), Type.Literal(2)]),
      kpiWeeks: Type.Union([Type.Integer({ minimum: 1, maximum: 13 }), Type.Null()]),
      managerComparisons: Type.Array(Type.Enum([...managerComparisons]), { maxItems: 3, uniqueItems: true }),
      digest: Type.Boolean(),
      digestDays: Type.Integer({ minimum: 0, maximum: 6 }),
      digestHour: Type.Integer({ minimum: workingHours.first, maximum: workingHours.last }),
      digestComments: Type.Boolean(),
      sms: Type.Boolean(),
      applyFiles: Type.Boolean(),
      filesPartial: Type.Boolean(),
      createGroupsFromUsers: Type.Boolean(),
      defaultCountry: Type.Union([Type.String({ maxLength: 60 }), Type.Null()]),
      notify: Type.Array(Type.String({ maxLength: 254 }), { maxItems: 20 }),
      notifySuccess: Type.Boolean(),
      maxUsersCreated: limit,
      maxUsersUpdated: limit,
      maxUsersDeleted: limit,
      maxGroupsCreated: limit,
      maxGroupsUpdated: limit,
      maxGroupsDeleted: limit,
    },
    { additionalProperties: false },
  ),
  { additionalProperties: false },
);

export type AuditEntry = {
  id: number;
  at: string;
  origin: 'console' | 'command' | 'api' | 'file' | 'service';
  /** The name of the user or token; null: neither, or the user has been removed since. */
  who: string | null;
  userId: number | null;
  tokenId: number | null;
  address: string | null;
  action: string;
  subject: string | null;
  /** The subject's current name, and its id where it has a page; null: it has no name, or no longer exists. */
  about: { id: string; name: string } | null;
  details: Record<string, unknown>;
};

const auditFilters = {
  /** Part of an action, an address, a subject, the name of the actor, or the name of the subject. */
  search: Type.Optional(Type.String({ maxLength: 200 })),
  /** Actions to find as well, separated by commas: those whose names in the caller's language contain the search. */
  found: Type.Optional(Type.String({ maxLength: 4000 })),
  origin: Type.Optional(Type.Enum(['console', 'command', 'api', 'file', 'service'])),
  action: Type.Optional(Type.String({ maxLength: 100 })),
  /** Days in the account's time zone, both included. */
  from: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })),
  to: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })),
};

const ranges = Type.Array(Type.String({ maxLength: 100 }), { maxItems: 200 });

export const accessOperations = {
  'GET /tokens': operation<{ tokens: TokenSummary[] }>()({ minimumRole: 'Administrator' }),
  /** Creates a token. Its text is returned only here. `expires`: the last day on which it works. */
  'POST /tokens': operation<{ id: number; token: string; scopes: Scope[] }>()({
    minimumRole: 'Administrator',
    proof: true,
    body: Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: maxNameLength }),
        scopes: Type.Array(Type.Enum([...scopes]), { minItems: 1, maxItems: scopes.length }),
        expires: Type.Union([Type.String({ maxLength: 40 }), Type.Null()]),
        numbers: Type.Optional(Type.Enum([...numberForms])),
      },
      { additionalProperties: false },
    ),
  }),
  'DELETE /tokens/{tokenId}': operation()({ minimumRole: 'Administrator', proof: true }),

  'GET /access': operation<Access>()({ minimumRole: 'Administrator' }),
  /** Adds or removes ranges. Two administrators who do this at the same time don't undo each other's changes. */
  'PATCH /access/allow': operation<Access>()({
    minimumRole: 'Administrator',
    body: Type.Object(
      { allow: Type.Optional(ranges), remove: Type.Optional(ranges) },
      { additionalProperties: false },
    ),
  }),

  'GET /settings': operation<AccountSettingsView>()({ minimumRole: 'Administrator' }),
  'PATCH /settings': operation<AccountSettingsView>()({ minimumRole: 'Administrator', body: settings }),
  'GET /settings/sms': operation<SmsSettingsView>()({ minimumRole: 'Administrator' }),
  /**
   * Tests the email settings step by step, and sends a test email to the caller unless a step fails. 429 after a few tests within a
   * few minutes.
   */
  'POST /settings/test-mail': operation<{ to: string; findings: MailFinding[] }>()({
    minimumRole: 'Administrator',
  }),

  'GET /audit': operation<{ total: number; rows: AuditEntry[]; actions: string[] }>()({
    minimumRole: 'Administrator',
    query: Type.Object({
      ...auditFilters,
      offset: Type.Optional(Type.String({ pattern: '^\\d{1,9}$' })),
      limit: Type.Optional(Type.String({ pattern: '^\\d{1,3}$' })),
    }),
  }),
  /** Returns the audit log as CSV. */
  'GET /audit/export': operation<never>()({ minimumRole: 'Administrator', query: Type.Object(auditFilters) }),
};
