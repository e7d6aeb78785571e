// What the tests of the SFTP server share: a server, an account, and queries of its files.
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import {
  openRawSession,
  type Company,
  type SftpFixture,
  type RawSession,
  openSftpFixture,
} from './sftp.fixture.ts';
import { type Reply, types } from './packets.fixture.ts';
import { contentOf } from '../files/store.ts';
import { selectFiles } from '../files/store.sql.ts';

export const failureMs = 250;

export let fixture: SftpFixture;
export let acme: Company;

/** Starts a server for a test file, and stops it at its end. */
export function useSftpServer(): void {
  beforeAll(async () => {
    fixture = await openSftpFixture({ limits: { failureMs } });
    acme = await fixture.company();
  });
  afterAll(() => fixture.close());
}

export const users = Buffer.from('EmployeeID;FirstName\r\n1;Åsa\r\n');
export const tenMegabytes = 10 * 1024 * 1024;

export async function openSession(company = acme): Promise<RawSession> {
  const session = await openRawSession(fixture.port, company);
  onTestFinished(session.end);
  return session;
}

export const namesOf = async ({ id }: Company) =>
  (await selectFiles(fixture.pool, id)).map(({ name }) => name);

export async function textOf({ id }: Company, name: string): Promise<string | undefined> {
  const file = (await selectFiles(fixture.pool, id)).find((one) => one.name === name);
  return file && (await contentOf(fixture.pool, id, file.id)).toString();
}

/** Returns the number of uploads that have not become files. */
export async function unfinished({ id }: Company): Promise<number> {
  const rows = await fixture.pool`select from files where account_id = ${id} and arrival is null`;
  return rows.length;
}

export async function put(session: RawSession, name: string, bytes: Buffer = users): Promise<Reply> {
  const handle = await session.open(name);
  await session.request(types.write, handle, 0n, bytes);
  return session.request(types.close, handle);
}

export const statusOf = ({ code: status, text }: Reply) => [status, text];
export const refusal = 'Files can only be uploaded and listed';
