// The console: the administrator's own sandbox, an account with the demo company in which they try the interfaces.
import { Type } from 'typebox';
import { type Scope, scopes } from '../operation.ts';
import { operation } from '../console/operation.ts';

/** `creating`: it can't be used yet. `resetting`: it can still be used, and is about to begin again. */
export type SandboxState = 'creating' | 'ready' | 'resetting';

export type SandboxView = {
  /** How many sandboxes the installation allows. 0: they are turned off. */
  most: number;
  /** The number of days without a request after which a sandbox is deleted. */
  days: number;
  /** The address of the service, and of its documentation. */
  address: string;
  documents: string;
  /** Where its SFTP user connects; null: SFTP is off. */
  sftp: { host: string; port: number } | null;
  /** Null: the administrator has none. */
  sandbox: {
    state: SandboxState;
    /** How many requests of others are before this one. */
    before: number;
    /** Whether the demo company has to be created first, and how many of its weeks are done. */
    isPreparing: boolean;
    weeksDone: number;
    weeks: number;
    /** The number of its account; null: it is being created. A reset changes it. */
    accountId: number | null;
    scopes: Scope[];
    sftpUsername: string | null;
    createdAt: string;
    resetAt: string | null;
    /** When its token was last used; null: not since it was created or reset. */
    usedAt: string | null;
    /** When it is deleted, unless it is used before. */
    deletedAfter: string;
    /** The size of its data; null: not measured yet. */
    bytes: number | null;
    /** Why the last attempt to create or reset it failed, and when the next one is due. */
    failure: { message: string; retryAt: string | null } | null;
  } | null;
};

const chosenScopes = Type.Object(
  {
    scopes: Type.Array(Type.Enum([...scopes]), { minItems: 1, maxItems: scopes.length, uniqueItems: true }),
  },
  { additionalProperties: false },
);

export const sandboxOperations = {
  'GET /sandbox': operation<SandboxView>()({ minimumRole: 'Administrator' }),
  /** Requests a sandbox. Its token is returned only here, and works as soon as the sandbox is ready. */
  'POST /sandbox': operation<{ token: string }>()({ minimumRole: 'Administrator', body: chosenScopes }),
  /** Requests a reset. The token stays. */
  'POST /sandbox/reset': operation()({ minimumRole: 'Administrator' }),
  /** Replaces the token, and returns the new one. */
  'POST /sandbox/token': operation<{ token: string }>()({ minimumRole: 'Administrator', body: chosenScopes }),
  'DELETE /sandbox': operation()({ minimumRole: 'Administrator' }),
};
