// Listing files and reading their reports over HTTPS.
import { FileReport } from '@soundings/contract/storage.ts';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import { openUpload } from './store.ts';
import { listPath, database, newAccount, request, upload, refusal, useStorage } from './storage.fixture.ts';

useStorage();

describe(`GET ${listPath}`, () => {
  test('200: lists each name of the account once, in ascending order, and only complete files', async () => {
    const [account, other] = [await newAccount(), await newAccount()];
    expect(await account.list()).toEqual([]);
    for (const name of ['b.csv', 'B.csv', 'å.csv', 'a10.csv', 'a2.csv', '🌊.csv', '\uff21.csv', 'b.csv']) {
      expect((await upload(account.token, name)).status).toBe(200);
    }
    await upload(other.token, 'theirs.csv');
    const open = await openUpload(
      database.pool,
      { accountId: account.id, via: 'https', tokenId: account.tokenId, address: '192.0.2.1' },
      'open.csv',
    );
    await open.write(0, Buffer.from('x'));
    expect(await account.list()).toEqual([
      'B.csv',
      'a10.csv',
      'a2.csv',
      'b.csv',
      'å.csv',
      '\uff21.csv',
      '🌊.csv',
    ]);
    expect(await other.list()).toEqual(['theirs.csv']);
    const { status, headers, text } = await request('HEAD', listPath, account.token);
    expect([status, text, headers.get('content-type')]).toEqual([200, '', 'application/json; charset=utf-8']);
  });

  test('400: a query parameter', async () => {
    const { token } = await newAccount();
    expect(refusal(await request('GET', `${listPath}?all`, token))).toMatch(/^400 unknown parameter/);
  });
});

describe('GET /v1/storage/files/{name}/report', () => {
  const report = (token: string, name: string) =>
    request('GET', `${listPath}/${encodeURIComponent(name)}/report`, token);
  const isReport = Compile(FileReport);
  const summary = { created: 1, updated: 1, deleted: 0, unchanged: 0 };

  /** Stores a report as at the end of processing. */
  async function settle(accountId: number, name: string, outcome: string, more: object) {
    const stored = {
      file: name,
      receivedAt: new Date().toISOString(),
      outcome,
      message: `${outcome}.`,
      details: [],
      warnings: [],
      ...more,
    };
    const runId = crypto.randomUUID();
    await database.pool`
      insert into runs (account_id, run_id, source, file, validate_only, outcome)
      values (${accountId}, ${runId}, 'file', ${name}, false, ${outcome})`;
    await database.pool`
      insert into run_changes (account_id, run_id, position, entity, external_id, action, fields)
      values (${accountId}, ${runId}, 1, 'user', 'u', 'update', ${database.pool.json({ email: { from: null, to: 'u@example.org' } })}),
             (${accountId}, ${runId}, 0, 'group', 'g', 'create', null)`;
    await database.pool`
      update files set processed_at = now(), run_id = ${runId}, report = ${database.pool.json(stored)}
      where account_id = ${accountId} and name = ${name} and processed_at is null`;
    return { ...stored, runId };
  }

  test('200: a waiting file', async () => {
    const { id, token } = await newAccount();
    await upload(token, 'ä b.csv');
    const { status, body } = await report(token, 'ä b.csv');
    expect(status).toBe(200);
    expect(body).toEqual({
      file: 'ä b.csv',
      receivedAt: expect.any(String),
      outcome: 'waiting',
      place: 1,
      message: 'The file is waiting to be processed. It is number 1 in the queue.',
      details: [],
      warnings: [],
    });
    expect([...isReport.Errors(body)]).toEqual([]);
    expect(Math.abs(Date.now() - Date.parse((body as FileReport).receivedAt))).toBeLessThan(60_000);
    expect((await report(token, 'a\u0308 b.csv')).body).toEqual(body);
    await upload(token, 'next.csv');
    expect((await report(token, 'next.csv')).body).toMatchObject({ outcome: 'waiting', place: 2 });
    await database.pool`update files set turn = gen_random_uuid() where account_id = ${id} and name = 'ä b.csv'`;
    const first = (await report(token, 'ä b.csv')).body;
    expect(first).toEqual({
      ...(body as object),
      outcome: 'processing',
      message: 'The file is being processed.',
      place: undefined,
    });
    expect([...isReport.Errors(first)]).toEqual([]);
    expect((await report(token, 'next.csv')).body).toMatchObject({ outcome: 'waiting', place: 1 });
  });

  test('200: why an upload was refused, while the file accepted before is kept', async () => {
    const { id, token, list, contents } = await newAccount();
    await upload(token, 'a.csv', 'a,b');
    await upload(token, 'a.csv', '%PDF-1.7');
    const { status, body } = await report(token, 'a.csv');
    expect([status, body]).toMatchObject([
      200,
      {
        outcome: 'refused',
        details: [{ type: 'file validation', message: expect.stringContaining('a PDF') }],
      },
    ]);
    expect([...isReport.Errors(body)]).toEqual([]);
    expect(await list()).toEqual(['a.csv']);
    expect(await contents()).toEqual({ 'a.csv': 'a,b' });
    await upload(token, 'b.exe', 'x');
    expect((await report(token, 'b.exe')).body).toMatchObject({ outcome: 'refused' });
    // Only the last refused upload of each name is kept, and at most a hundred in an account.
    for (let i = 0; i < 105; i++) await upload(token, `${i}.exe`, 'x');
    await upload(token, '104.exe', 'x');
    const stored =
      await database.pool`select name from files where account_id = ${id} and is_refused order by arrival`;
    expect(stored.length).toBeLessThanOrEqual(100);
    expect(stored.filter(({ name }) => name === '104.exe')).toHaveLength(1);
    expect((await report(token, 'b.exe')).status).toBe(404);
    await upload(token, 'a.csv', 'c,d');
    expect((await report(token, 'a.csv')).body).toMatchObject({ outcome: 'waiting' });
  });

  test('200: the outcome of the last file with the name, with the changes of its run', async () => {
    const { id, token } = await newAccount();
    await upload(token, 'a.csv');
    const { runId: _, ...stored } = await settle(id, 'a.csv', 'applied', {
      summary: { users: summary, groups: summary },
    });
    const { body } = await report(token, 'a.csv');
    expect(body).toEqual({
      ...stored,
      changes: [
        { entity: 'group', externalId: 'g', action: 'create' },
        {
          entity: 'user',
          externalId: 'u',
          action: 'update',
          fields: { email: { from: null, to: 'u@example.org' } },
        },
      ],
    });
    expect([...isReport.Errors(body)]).toEqual([]);
    await upload(token, 'a.csv');
    expect((await report(token, 'a.csv')).body).toMatchObject({ outcome: 'waiting' });
    const details = [
      { type: 'missing field', message: 'm', sheet: 's', row: 2, column: 'c', value: '<b>"\u2028' },
    ];
    await settle(id, 'a.csv', 'refused', { details });
    const refused = (await report(token, 'a.csv')).body as FileReport;
    expect([refused.outcome, refused.details, refused.changes]).toEqual(['refused', details, undefined]);
    expect([...isReport.Errors(refused)]).toEqual([]);
  });

  test('404: an unknown file, a file of another account and an incomplete one, with the same message', async () => {
    const [account, other] = [await newAccount(), await newAccount()];
    await upload(other.token, 'a.csv');
    await openUpload(
      database.pool,
      { accountId: account.id, via: 'https', tokenId: account.tokenId, address: '192.0.2.1' },
      'a.csv',
    );
    expect(refusal(await report(account.token, 'a.csv'))).toBe(
      '404 file not found: File "a.csv" does not exist. It may have been deleted. Send it again.',
    );
    for (const name of ['b.csv', '../a.csv', '.', 'x'.repeat(5000), "' or 1=1"]) {
      expect(refusal(await report(account.token, name))).toMatch(/^404 (file )?not (found|downloadable)/);
    }
    expect(refusal(await report(account.token, 'a\0.csv'))).toMatch(/^400 invalid parameter/);
  });
});
