// The console: pulls, which are lists that the service fetches itself.
import { type Static, Type } from 'typebox';
import { operation } from '../console/operation.ts';
import type { RunOutcome } from '../console/run-outcomes.ts';
import {
  accessKinds,
  clientMethods,
  type FetchOutcome,
  type FetchReason,
  maxAccessText,
  maxPullName,
  maxPullUrl,
  maxSecret,
  type PullError,
  pullSources,
  type Repeat,
  repeats,
} from './pull-values.ts';

const text = Type.Optional(Type.String({ maxLength: maxAccessText }));

/** How the service authenticates, without the secret. Fields of other kinds are ignored. */
export const Access = Type.Object(
  {
    kind: Type.Enum(accessKinds),
    /** `header`: the name of the header that has the secret. */
    header: text,
    /** `basic`: the user whose password is the secret. */
    user: text,
    /** `oauth`: the token endpoint, and what is sent to it besides the client secret. */
    tokenUrl: Type.Optional(Type.String({ maxLength: maxPullUrl })),
    clientId: text,
    scope: text,
    audience: text,
    resource: text,
    /** `oauth`: how the client authenticates at the token endpoint. */
    method: Type.Optional(Type.Enum(clientMethods)),
  },
  { additionalProperties: false },
);
export type Access = Static<typeof Access>;

/** An attempt to fetch the list. */
export type FetchRow = {
  id: number;
  at: string;
  reason: FetchReason;
  outcome: FetchOutcome;
  error: PullError | null;
  /** What the other system said, or what is wrong with its response, in English. */
  detail: string | null;
  /** The file that the list was stored as (if it is unchanged: last time), as long as it is kept, and its outcome; null: it is not processed yet. */
  fileId: number | null;
  fileOutcome: RunOutcome | null;
  requests: number;
  bytes: number;
  /** How many rows the list has; null: unknown, because the source sent a file. */
  rows: number | null;
  /** Who asked for it; null: the schedule, or a person who has been removed. */
  by: string | null;
};

export type PullSummary = {
  id: number;
  name: string;
  source: (typeof pullSources)[number];
  url: string;
  isOn: boolean;
  repeat: Repeat;
  /** In the time zone of the account. */
  hour: number;
  /** 1 is Monday. */
  weekday: number;
  nextAt: string | null;
  /** Since when every attempt has failed; null: the last one succeeded, or there was none. */
  failingSince: string | null;
  /** Whether it is being fetched, or waits to be fetched because an administrator asked for it. */
  isUnderWay: boolean;
  /** The last attempt. */
  last: FetchRow | null;
};

export type PullView = PullSummary & {
  list: string;
  access: Access;
  hasSecret: boolean;
  /** Whether its list has been read without errors since its address, its access or its secret was changed. */
  isTried: boolean;
  createdAt: string;
  createdBy: string | null;
  /** The last attempts, newest first. */
  fetches: FetchRow[];
};

const fields = {
  name: Type.String({ minLength: 1, maxLength: maxPullName }),
  source: Type.Enum(pullSources),
  url: Type.String({ minLength: 1, maxLength: maxPullUrl }),
  list: Type.String({ maxLength: maxAccessText }),
  access: Access,
  repeat: Type.Enum(repeats),
  hour: Type.Integer({ minimum: 0, maximum: 23 }),
  weekday: Type.Integer({ minimum: 1, maximum: 7 }),
};
const secret = Type.String({ minLength: 1, maxLength: maxSecret });

export const pullsOperations = {
  'GET /pulls': operation<{ pulls: PullSummary[] }>()({ minimumRole: 'Administrator' }),
  /** Creates a pull, which is off, and asks for a dry run. */
  'POST /pulls': operation<{ id: number }>()({
    minimumRole: 'Administrator',
    proof: true,
    body: Type.Object({ ...fields, secret: Type.Optional(secret) }, { additionalProperties: false }),
  }),
  'GET /pulls/{pullId}': operation<PullView>()({ minimumRole: 'Administrator' }),
  /** Changes a pull. A new origin requires the secret again. Another address, list, access or secret turns the pull off until the next dry run. */
  'PATCH /pulls/{pullId}': operation<PullView>()({
    minimumRole: 'Administrator',
    proof: true,
    body: Type.Partial(Type.Object({ ...fields, secret, isOn: Type.Boolean() }), {
      additionalProperties: false,
    }),
  }),
  'DELETE /pulls/{pullId}': operation()({ minimumRole: 'Administrator', proof: true }),
  /** Asks for the list as soon as possible. 409 if it is to be applied before a dry run. 429 after a few within a minute. */
  'POST /pulls/{pullId}/fetch': operation<PullView>()({
    minimumRole: 'Administrator',
    body: Type.Object({ isDryRun: Type.Boolean() }, { additionalProperties: false }),
  }),
};
