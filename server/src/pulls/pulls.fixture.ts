// HR systems on this machine that respond in the shapes of real ones, and an account that pulls from them.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Access } from '@soundings/contract/pulls/pulls.ts';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { changeAccount, createAccount } from '../accounts/accounts.ts';
import type { AccountSettings } from '../accounts/accounts.sql.ts';
import { openLog } from '../base/log.ts';
import { inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { processFiles } from '../files/queue.ts';
import { startJobs } from '../jobs/jobs.ts';
import { createUser } from '../people/users.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { openTestDatabase, type TestData, type TestDatabase } from '../testing/database.ts';
import { type Fetching, fetchPull } from './fetch-pull.ts';
import { changePull, createPull, pullById, requestFetch } from './pulls.ts';
import { claimPulls } from './claims.sql.ts';
import type { Entered } from './pulls.sql.ts';

export const networks = ['127.0.0.0/8'];
export const silent = openLog('silent');

export type HrServer = {
  /** Such as http://127.0.0.1:40000. */
  url: string;
  host: string;
  /** The paths and the Authorization headers of all requests. */
  seen: {
    path: string;
    authorization: string | undefined;
    body: string;
    headers: IncomingMessage['headers'];
  }[];
  respond: RequestListener;
};

/** Opens a server, which is closed at the end of the test. */
export async function openHr(respond: RequestListener = (_, response) => response.end()): Promise<HrServer> {
  const hr: HrServer = { url: '', host: '', seen: [], respond };
  const server = createServer((request, response) => {
    void (async () => {
      const body = (await request.toArray()).join('');
      const { authorization } = request.headers;
      hr.seen.push({ path: request.url ?? '', authorization, body, headers: request.headers });
      hr.respond(request, response);
    })().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  hr.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  hr.url = `http://${hr.host}`;
  return hr;
}

export const sendJson = (response: ServerResponse, value: unknown, headers: Record<string, string> = {}) =>
  response
    .writeHead(200, { 'content-type': 'application/json', ...headers })
    .end(typeof value === 'string' ? value : JSON.stringify(value));

/** The database of a test file that calls `usePullDatabase`. */
export let database: TestDatabase;

/** Opens a database with job tables, so that jobs can be added, for all tests of a file. */
export function usePullDatabase(): void {
  beforeAll(async () => {
    database = await openTestDatabase();
    const jobs = await startJobs(database.url, { recurring: [], tasks: {} }, silent);
    await jobs.stop();
    await database.keys.secrets.prepare();
  });
  afterAll(() => database.close());
}

export type Company = { id: number; userId: number };

export const newCompany = (pool: Pool, settings: Partial<AccountSettings> = {}): Promise<Company> =>
  inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Nordwind', timezone: 'Europe/Berlin' });
    const ada = { firstName: 'Ada', lastName: 'Admin', email: 'ada@example.org', role: 'Administrator' };
    const userId = await createUser(tx, id, ada);
    await changeAccount(tx, id, { createGroupsFromUsers: true, ...settings });
    return { id, userId };
  });

const contextOf = ({ keys }: TestData, { userId }: Company, now: number) => ({
  actor: { origin: 'console' as const, userId, address: '127.0.0.1' },
  secrets: keys.secrets,
  networks,
  now,
});

export const basicAccess: Access = { kind: 'basic', user: 'ISU_Soundings' };

export type Values = Partial<Entered> & { url: string; secret?: string };

/** Creates a pull. Its dry run is still wanted. */
export const newPull = (
  data: TestData,
  company: Company,
  values: Values,
  now = Date.now(),
): Promise<number> => {
  const usual = {
    name: 'People',
    source: 'other' as const,
    list: '',
    repeat: 'daily' as const,
    hour: 6,
    weekday: 1,
  };
  const access = values.access ?? { kind: 'none' as const };
  return inTransaction(data.pool, (tx) =>
    createPull(tx, company.id, { ...usual, access, ...values }, contextOf(data, company, now)),
  );
};

export const change = (
  data: TestData,
  company: Company,
  pullId: number,
  changes: Parameters<typeof changePull>[3],
  now = Date.now(),
): Promise<void> => inTransaction(data.pool, (tx) => changeIn(tx, data, company, pullId, changes, now));

/** The same in a transaction that has already begun. */
export const changeIn = (
  tx: Transaction,
  data: TestData,
  company: Company,
  pullId: number,
  changes: Parameters<typeof changePull>[3],
  now = Date.now(),
): Promise<void> => changePull(tx, company.id, pullId, changes, contextOf(data, company, now));

export const ask = (data: TestData, company: Company, pullId: number, isDryRun: boolean, now = Date.now()) =>
  inTransaction(data.pool, (tx) =>
    requestFetch(tx, company.id, pullId, { isDryRun }, contextOf(data, company, now)),
  );

export const times = { connect: 1_000, response: 1_000, body: 1_000 };

export const fetchingOf = ({ pool, keys }: TestData, now: () => number = Date.now): Fetching => ({
  pool,
  secrets: keys.secrets,
  networks,
  times,
  canMail: true,
  log: silent,
  now,
});

/** Fetches everything that is due, without processing the files. Returns how many pulls were fetched. */
export async function fetchDue(data: TestData, now = Date.now()): Promise<number> {
  const claims = { claim: crypto.randomUUID(), count: 100, now, until: now + 60_000 };
  const claimed = await claimPulls(data.pool, claims);
  for (const one of claimed)
    await fetchPull(
      fetchingOf(data, () => now),
      one,
    );
  return claimed.length;
}

/** Fetches what is due and processes its files. Returns the last attempt with the outcome of its file. */
export async function pullDue(data: TestData, company: Company, now = Date.now()) {
  await fetchDue(data, now);
  await processFiles(data.pool, company.id, deleteGroupResults, silent);
  return lastFetch(data.pool, company);
}

export async function lastFetch(pool: Pool, { id }: Company) {
  const [row] = await pool<
    {
      outcome: string;
      error: string | null;
      detail: string | null;
      reason: string;
      rows: number | null;
      file: string | null;
      fileOutcome: string | null;
      details: { type: string; message: string }[] | null;
    }[]
  >`
    select f.outcome, f.error, f.detail, f.reason, f.rows, s.name as file, s.report ->> 'outcome' as "fileOutcome",
           s.report -> 'details' as details
    from   pull_fetches f
    left   join files s on s.account_id = f.account_id and s.file_id = f.file_id
    where  f.account_id = ${id}
    order  by f.fetch_id desc limit 1`;
  return row;
}

/** Returns the managed people with their groups, and the groups that they own. */
export async function peopleIn(pool: Pool, { id }: Company) {
  return pool<{ id: string; name: string; email: string | null; active: boolean; groups: string[] }[]>`
    select u.external_id as id, u.first_name || ' ' || u.last_name as name, u.email, u.active,
           array(select g.name || case m.kind when 'memberOf' then '' else ' (' || m.kind || ')' end
                 from   memberships m join groups g using (account_id, group_id)
                 where  m.account_id = u.account_id and m.user_id = u.user_id
                 order  by 1) as groups
    from   users u
    where  u.account_id = ${id} and u.managed
    order  by 1`;
}

/** An entry of a list. */
export const person = (n: number, more: object = {}) => ({
  EmployeeID: String(n),
  FirstName: `P${n}`,
  LastName: 'X',
  Department: 'Ops',
  ...more,
});

export const peopleList = (count: number) => Array.from({ length: count }, (_, i) => person(i + 1));

/**
 * A pull that is on, whose list of 10 people was applied once. `at` is 2 hours after it is due next, in ms: no later time of its schedule is
 * near, whatever the time of day is.
 */
export async function steadyPull(data: TestData, settings: Partial<AccountSettings> = {}) {
  const hr = await openHr((_, response) => sendJson(response, peopleList(10)));
  const company = await newCompany(data.pool, settings);
  const id = await newPull(data, company, { url: `${hr.url}/list` });
  await pullDue(data, company);
  await change(data, company, id, { isOn: true });
  await ask(data, company, id, false);
  const applied = await pullDue(data, company);
  if (applied?.fileOutcome !== 'applied')
    throw new Error(`The list was not applied: ${JSON.stringify(applied)}`);
  const { nextAt } = await pullById(data.pool, company.id, id);
  return { hr, company, id, at: Date.parse(nextAt!) + 7_200_000 };
}
