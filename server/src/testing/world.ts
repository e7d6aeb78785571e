// A running service on a separate database, and its accounts, for tests over HTTP.
import type { Group } from '@soundings/contract/data.ts';
import { type Scope, scopes } from '@soundings/contract/operation.ts';
import type { Report } from '@soundings/contract/organization.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { createAccount } from '../accounts/accounts.ts';
import { createToken } from '../accounts/tokens.ts';
import { type App, startApp } from '../app.ts';
import { type Log, openLog } from '../base/log.ts';
import { inTransaction, type Pool } from '../db/db.ts';
import { createUser } from '../people/users.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { KeyPlace } from '../sealing/epoch-chain.ts';
import { openTestDatabase } from './database.ts';

export type JsonResponse<T> = { status: number; headers: Headers; body: T };

export type TestAccount = {
  id: number;
  /** A token with all scopes. */
  token: string;
  tokenOf(...scopes: Scope[]): Promise<string>;
  /** Pushes an organization request: an object, or the exact text or bytes. */
  push(body: unknown, headers?: Record<string, string>): Promise<JsonResponse<Report & Problem>>;
  groups(): Promise<Group[]>;
};

export type World = {
  app: App;
  address: string;
  databaseUrl: string;
  pool: Pool;
  keys: AnswerKeys;
  /** Where the key of open weeks is. Pass it as `answerKeys` to another process of the same service. */
  keyPlace: KeyPlace;
  /** Creates an account with a token and one manually created administrator. */
  account(settings?: { timezone?: string; language?: string }): Promise<TestAccount>;
  request<T = Problem>(method: string, path: string, init?: RequestInit): Promise<JsonResponse<T>>;
  close(): Promise<void>;
};

export const testConfig: Omit<Parameters<typeof startApp>[0], 'answerKeys'> = {
  host: '127.0.0.1',
  port: 0,
  tls: undefined,
  trustProxy: [],
  httpsOnly: false,
  publicUrl: 'http://localhost',
  corsOrigins: [],
  rateLimit: 0,
  sandboxes: 10,
  sandboxWeeks: 2,
  responseCacheMb: 32,
  backupDir: undefined,
  sftpPort: 0,
  fileDays: 30,
  smtpUrl: undefined,
  mailFrom: 'soundings@localhost',
  smtpConnections: 4,
  dkim: undefined,
  bounces: undefined,
  sms: undefined,
  outgoingNetworks: [],
  auditSyslog: undefined,
  role: 'all' as const,
  pooledUrl: undefined,
  replicaUrl: undefined,
  metricsToken: undefined,
  tracing: undefined,
};

/**
 * Starts a service on a new database. `overrides`: settings that differ from testConfig. `now`: the clock of the service, and of
 * the database unless there is a `clockOfDatabase`. `template`: another database to clone.
 */
export async function openWorld(
  log: Log = openLog('error'),
  overrides: Partial<typeof testConfig> = {},
  now: () => number = Date.now,
  template?: string,
  clockOfDatabase: Parameters<typeof startApp>[4] = async () => now(),
): Promise<World> {
  const database = await openTestDatabase(template);
  const app = await startApp(
    { ...testConfig, answerKeys: database.keyPlace, ...overrides },
    Promise.resolve(database.url),
    log,
    now,
    clockOfDatabase,
  );
  await app.started;
  const { pool, keys } = database;

  async function request<T>(method: string, path: string, init: RequestInit = {}): Promise<JsonResponse<T>> {
    const response = await fetch(app.address + path, { ...init, method });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      body: (isJson ? JSON.parse(text) : text) as T,
    };
  }

  async function account(settings = {}): Promise<TestAccount> {
    const id = await inTransaction(pool, async (tx) => {
      const created = await createAccount(tx, { name: 'Test', ...settings });
      await createUser(tx, created.id, {
        firstName: 'Ada',
        lastName: 'Admin',
        email: 'ada@example.org',
        role: 'Administrator',
      });
      return created.id;
    });
    const tokenOf = async (...granted: Scope[]) =>
      (await createToken(pool, id, { name: 'test', scopes: granted })).token;
    const token = await tokenOf(...scopes);
    return {
      id,
      token,
      tokenOf,
      push: (body, headers = {}) =>
        request('POST', '/v1/organization/organization', {
          headers: { authorization: token, 'content-type': 'application/json', ...headers },
          body:
            typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
        }),
      groups: async () =>
        (await request<Group[]>('GET', '/v1/groups', { headers: { authorization: token } })).body,
    };
  }

  return {
    app,
    address: app.address,
    databaseUrl: database.url,
    pool,
    keys,
    keyPlace: database.keyPlace,
    account,
    request,
    async close() {
      await app.stop(5);
      await database.close();
    },
  };
}
