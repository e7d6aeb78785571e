// What the tests of processing files share: accounts, sending files, and queries of the stored organization.
import { afterAll, beforeAll } from 'vitest';
import { changeAccount, createAccount } from '../accounts/accounts.ts';
import type { AccountSettings } from '../accounts/accounts.sql.ts';
import { createToken } from '../accounts/tokens.ts';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { inTransaction, type Pool } from '../db/db.ts';
import { createUser } from '../people/users.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { pushOrganization } from '../sync/push.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import type { StoredFileReport } from './process.sql.ts';
import { processFiles } from './queue.ts';
import { openUpload } from './store.ts';

export let database: TestDatabase;
export let pool: Pool;

/** Opens a database for a test file, and closes it at its end. */
export function useDatabase(): void {
  beforeAll(async () => {
    database = await openTestDatabase();
    pool = database.pool;
    logged.length = 0;
  });
  afterAll(() => database.close());
}

/** What was logged. */
export const logged: unknown[] = [];
export const log = { warn: (about: unknown) => logged.push(about), error: () => {} } as unknown as Log;

export type Company = { id: number; tokenId: number };

export async function company(settings: Partial<AccountSettings> = {}): Promise<Company> {
  const id = await inTransaction(pool, async (tx) => {
    const account = await createAccount(tx, { name: 'Acme' });
    await createUser(tx, account.id, { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' });
    await changeAccount(tx, account.id, settings);
    return account.id;
  });
  const { id: tokenId } = await createToken(pool, id, { name: 'nightly', scopes: ['files'] });
  return { id, tokenId };
}

/** Uploads a file without processing it. */
export async function arrive({ id, tokenId }: Company, name: string, text: string | Buffer): Promise<void> {
  const upload = await openUpload(pool, { accountId: id, via: 'https', tokenId, address: '192.0.2.1' }, name);
  await upload.write(0, Buffer.from(text as string));
  await upload.finish(name);
}

/** Uploads and processes a file, and returns its report. */
export async function send(acme: Company, name: string, text: string | Buffer): Promise<StoredFileReport> {
  await arrive(acme, name, text);
  await processFiles(pool, acme.id, deleteGroupResults, log);
  return lastReport(acme);
}

export async function lastReport({ id }: Company): Promise<StoredFileReport> {
  const [row] = await pool<{ report: StoredFileReport }[]>`
    select report from files where account_id = ${id} and report is not null order by arrival desc limit 1`;
  return row!.report;
}

/** Returns the container of an old workbook, which begins correctly but is empty. */
export function oldWorkbookWithoutSheets(): Buffer {
  const bytes = Buffer.alloc(2048);
  bytes.write('d0cf11e0a1b11ae1', 'hex');
  bytes.writeUInt16LE(9, 30);
  bytes[512 + 66] = 5;
  return bytes;
}

export const lines = (...rows: string[]) => `${rows.join('\r\n')}\r\n`;
export const groupsFile = lines('Id;Name;Parent', 'top;Everyone;', 'north;North;top', 'south;South;top');
export const header = 'EmployeeID;FirstName;LastName;Email;Department';
export const three = lines(
  header,
  '001;Anna;Ask;anna@example.com;north',
  '002;Bo;Berg;bo@example.com;north;',
  '003;Cilla;Chen;;south',
);

export async function peopleOf({ id }: Company) {
  return pool<{ id: string; name: string; email: string | null; active: boolean; groups: string[] }[]>`
    select u.external_id as id, u.first_name || ' ' || u.last_name as name, u.email, u.active,
           array(select g.name from memberships m join groups g using (account_id, group_id)
                 where m.account_id = u.account_id and m.user_id = u.user_id and m.kind = 'memberOf'
                 order by 1) as groups
    from   users u
    where  u.account_id = ${id} and u.managed
    order  by 1`;
}

export const groupsOf = async ({ id }: Company) => {
  const rows = await pool<{ name: string }[]>`
    select name from groups where account_id = ${id} and managed order by name`;
  return rows.map(({ name }) => name);
};

export const push = (acme: Company, data: object) =>
  pushOrganization(
    pool,
    acme.id,
    { id: newId(), source: 'api', tokenId: null, address: null, file: null },
    {
      bytes: new TextEncoder().encode(JSON.stringify({ settings: { validateOnly: false }, data })),
      gzip: false,
    },
    { deleteGroupResults },
  );
