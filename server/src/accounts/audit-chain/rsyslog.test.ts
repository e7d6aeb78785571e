// The audit log over syslog to a real rsyslog, as docs/operators/monitoring.md configures it, with restarts while entries are sent.
import type { AuditRecord } from '@soundings/contract/audit/audit.ts';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { openLog } from '../../base/log.ts';
import { inTransaction } from '../../db/db.ts';
import { certificate } from '../../mail/certificate.fixture.ts';
import { openTestDatabase } from '../../testing/database.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { until } from '../../testing/until.ts';
import { createAccount } from '../accounts.ts';
import { chainAllEntries } from './chain.ts';
import { start } from './record.ts';
import { sendAuditEntries } from './syslog.ts';
import { selectUnsent } from './syslog.sql.ts';
import { chainFault } from './verify.ts';

const document = readFileSync(new URL('../../../../docs/operators/monitoring.md', import.meta.url), 'utf8');

/** Returns the configuration of the document, for this folder and port. */
function configurationIn(folder: string, port: number): string {
  const written = /^module\(load="imtcp"[\s\S]*?(?=```)/m.exec(document)?.[0] ?? '';
  return written
    .replaceAll('/etc/rsyslog/', `${folder}/`)
    .replaceAll('/var/log/', `${folder}/`)
    .replace('"6514"', `"${port}"`)
    .replace('global(', `global(workDirectory="${folder}" `);
}

test('rsyslog has every entry, in order, after restarts while entries were sent', async (context) => {
  const rsyslogd = '/usr/sbin/rsyslogd';
  const hasTls = existsSync('/usr/lib/x86_64-linux-gnu/rsyslog/lmnsd_gtls.so');
  if (!existsSync(rsyslogd) || !hasTls)
    return context.skip('SKIPPED: rsyslog is missing (Debian: rsyslog, rsyslog-gnutls)');
  const folder = mkdtempSync(join(tmpdir(), 'soundings-rsyslog-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const pair = (await certificate({ name: 'IP:127.0.0.1' }))!;
  for (const [name, text] of [
    ['ca', pair.cert],
    ['cert', pair.cert],
    ['key', pair.key],
  ] as const)
    writeFileSync(join(folder, `${name}.pem`), text);
  const port = await freePort();
  writeFileSync(join(folder, 'rsyslog.conf'), configurationIn(folder, port));
  const options = ['-f', join(folder, 'rsyslog.conf'), '-i', join(folder, 'pid')];
  await promisify(execFile)(rsyslogd, ['-N1', ...options]);
  const run = async (): Promise<ChildProcess> => {
    const child = spawn(rsyslogd, ['-n', ...options], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    await until(async () => {
      const socket = connect(port, '127.0.0.1');
      const [result] = await Promise.race([
        once(socket, 'connect').then(() => [true]),
        once(socket, 'error').then(() => [false]),
      ]).catch(() => [false]);
      socket.destroy();
      return result;
    });
    return child;
  };
  /** Ends rsyslog as an upgrade of the system does: it stores what it has read. */
  const end = async (child: ChildProcess) => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  };

  const database = await openTestDatabase();
  onTestFinished(() => database.close());
  const { pool } = database;
  const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Test' }));
  const target = {
    server: { host: '127.0.0.1', port, ca: pair.cert },
    sender: 'surveys.example.com',
    timeoutMs: 5000,
  };
  const write = (count: number) => pool`
    insert into audit_entries (account_id, origin, action, subject, details)
    select ${id}, 'service', 'run applied', n::text, jsonb_build_object('text', 'é 😀 %msg% \n', 'filler', repeat('x', n))
    from   generate_series(1, ${count}::integer) n`;
  const send = async () => {
    await chainAllEntries(pool);
    await sendAuditEntries(pool, target, openLog('silent'));
  };
  await write(700);
  await send(); // no one listens yet
  let server = await run();
  for (let restarts = 0; restarts < 3; restarts++) {
    await write(1500);
    const sending = send();
    await end(server);
    await sending;
    server = await run();
  }
  await send();
  expect(await selectUnsent(pool)).toEqual({ count: 0, oldestSeconds: 0 });
  await end(server);

  const lines = readFileSync(join(folder, 'soundings-audit.jsonl'), 'utf8').split('\n').slice(0, -1);
  const records = lines.map((line) => JSON.parse(line) as AuditRecord);
  const first = [...new Map(records.map((record) => [record.position, record])).values()];
  expect(first.length).toBeGreaterThanOrEqual(5200);
  expect(first.map((record, i) => chainFault(first[i - 1] ?? start, record)).filter(Boolean)).toEqual([]);
});
