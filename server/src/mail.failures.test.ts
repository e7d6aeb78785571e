// What people and administrators see while the mail server is unavailable, refuses, defers or stays silent: responses are the
// same as always, other work continues, the log says what is wrong, and mail is sent once the server accepts it.
import { type FileReport, isUnderWay } from '@soundings/contract/storage.ts';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inTransaction } from './db/db.ts';
import { createUser } from './people/users.ts';
import { freePort } from './testing/processes/free-port.ts';
import { openSmtp } from './testing/smtp.ts';
import { until } from './testing/until.ts';
import { openWorld, type World } from './testing/world.ts';

let closing: (() => unknown)[];
beforeEach(() => (closing = []));
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
});

/** Opens a service with a mail server, and users who forget their passwords. */
async function openService(port: number) {
  const lines: string[] = [];
  const log = pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(line) });
  const world = await openWorld(log, { smtpUrl: `smtp://127.0.0.1:${port}` });
  closing.push(() => world.close());
  const account = await world.account();
  const emails = Array.from({ length: 8 }, (_, i) => `kim${i}@example.org`);
  await inTransaction(world.pool, async (tx) => {
    for (const email of emails) {
      const kim = { firstName: 'Kim', lastName: 'Lind', email, role: 'Manager' };
      await createUser(tx, account.id, kim);
    }
  });
  const forgotten = async (email: string) => {
    const response = await fetch(`${world.address}/api/password/forgotten`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email }),
      signal: AbortSignal.timeout(30_000),
    });
    return response.status;
  };
  return { world, account, emails, forgotten, lines };
}

/** Retries what has failed, as would happen after some time. */
const tryAgain = ({ pool }: World) =>
  pool`select graphile_worker.reschedule_jobs(array_agg(id), run_at := now()) from graphile_worker._private_jobs`;

test('unavailable: the response is the same, the log says why, and the email is sent once it is back', async () => {
  const port = await freePort();
  const { world, emails, forgotten, lines } = await openService(port);
  expect(await forgotten(emails[0]!)).toBe(204);
  await until(async () => lines.some((line) => /The email could not be sent.*ECONNREFUSED/.test(line)));
  const smtp = await openSmtp({ port });
  closing.push(() => smtp.close());
  await tryAgain(world);
  await smtp.arrived(1);
});

test('deferring (4xx): as if it were unavailable', async () => {
  let isBusy = true;
  const smtp = await openSmtp({ refuseRecipient: () => (isBusy ? '451 4.7.1 come back later' : undefined) });
  closing.push(() => smtp.close());
  const { world, emails, forgotten, lines } = await openService(smtp.port);
  expect(await forgotten(emails[0]!)).toBe(204);
  await until(async () => lines.some((line) => line.includes('come back later')));
  isBusy = false;
  await tryAgain(world);
  await smtp.arrived(1);
});

test('refusing (5xx): the log says whose mail and why, without the address, and it is not sent again', async () => {
  const smtp = await openSmtp({ refuseRecipient: (to) => `550 5.1.1 ${to} is unknown` });
  closing.push(() => smtp.close());
  const { world, emails, forgotten, lines } = await openService(smtp.port);
  expect(await forgotten(emails[0]!)).toBe(204);
  const line = await until(async () => lines.find((one) => one.includes('The mail server rejected')));
  expect(line).toMatch(/"userId":\d+.*550 5\.1\.1/);
  expect(lines.join()).not.toContain(emails[0]);
  await until(async () => {
    const rows = await world.pool`select from graphile_worker._private_jobs where attempts > 0`;
    return rows.length === 0;
  });
});

test('silent: responses come at once, and mails to many people do not delay other work', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on('error', () => {}))).listen(
    0,
    '127.0.0.1',
  );
  await once(silent, 'listening');
  closing.push(() => silent.close());
  const { world, account, emails, forgotten } = await openService((silent.address() as AddressInfo).port);
  // Closing the sockets ends the emails that are being sent.
  closing.push(() => sockets.forEach((socket) => socket.destroy()));
  expect(await Promise.all(emails.map(forgotten))).toEqual(emails.map(() => 204));
  await until(async () => sockets.length > 0);
  const form = new FormData();
  form.append('file', new Blob(['EmployeeID;FirstName;LastName\n1;Bo;Ek\n']), 'users.csv');
  const headers = { authorization: account.token };
  const path = '/v1/storage/files/users.csv/report';
  expect((await world.request('POST', '/v1/storage/uploadFile', { headers, body: form })).status).toBe(200);
  // Less than the 30 seconds after which an email to a silent server fails, and no longer delays anything.
  await until(async () => {
    const { body } = await world.request<FileReport>('GET', path, { headers });
    return !isUnderWay(body.outcome);
  }, 25_000);
  expect((await world.request('GET', '/health/ready')).status).toBe(200);
});
