// Sends the audit log of all accounts to a syslog server: RFC 5424 over TLS with octet counting (RFC 5425), in the order of the chain
// and at least once. Syslog has no confirmations. A batch counts as received when the server has closed the connection in response
// to ours, which it does after reading everything. After any error, the batch is sent again.
import type { AuditRecord } from '@soundings/contract/audit/audit.ts';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import type { Log } from '../../base/log.ts';
import type { SyslogServer } from '../../base/messages/syslog.ts';
import { type AccountId, inTransaction, type Pool } from '../../db/db.ts';
import { selectChained, selectHashAt } from './chain.sql.ts';
import { canonicalJson, start } from './record.ts';
import { lockCursor, selectAccountsToSend, updateCursor } from './syslog.sql.ts';

/** How many entries are sent over one connection. */
const batch = 500;
/** How long, in milliseconds, the server may be silent. */
const standardTimeoutMs = 15_000;

/** The server, and the host name that messages contain. `timeoutMs` is for tests. */
export type SyslogTarget = { server: SyslogServer; sender: string; timeoutMs?: number };

/** The chain of an account does not continue where the server's part of it ends. */
class BrokenChain extends Error {}

/**
 * Sends everything that the server has not received yet. If it cannot be reached, logs a warning; the next run tries again. A broken
 * chain is logged, and delays no other account.
 */
export async function sendAuditEntries(pool: Pool, target: SyslogTarget, log: Log): Promise<void> {
  try {
    for (const accountId of await selectAccountsToSend(pool)) await sendAccount(pool, accountId, target, log);
  } catch (error) {
    const { host, port } = target.server;
    log.warn(
      { err: error },
      `The audit log cannot be sent to the syslog server ${host}:${port}. It is sent again in a minute`,
    );
  }
}

async function sendAccount(pool: Pool, accountId: AccountId, target: SyslogTarget, log: Log): Promise<void> {
  try {
    while ((await sendBatch(pool, accountId, target)) === batch) {
      // until nothing is left
    }
  } catch (error) {
    if (!(error instanceof BrokenChain)) throw error;
    log.error(
      { accountId, err: error },
      'The audit log of an account was changed in the database, so its new entries are not sent to the syslog server. ' +
        'Run "npx soundings audit verify"',
    );
  }
}

/** Sends the next entries of an account and returns how many they were; none if another process is sending them. */
async function sendBatch(pool: Pool, accountId: AccountId, target: SyslogTarget): Promise<number> {
  return inTransaction(pool, async (tx) => {
    const position = await lockCursor(tx, accountId);
    if (position === undefined) return 0;
    const hash = position === 0 ? start.hash : await selectHashAt(tx, accountId, position);
    if (hash === undefined)
      throw new BrokenChain(`The audit log of account ${accountId} has no entry at position ${position}.`);
    const entries = await selectChained(tx, accountId, { position, hash }, batch);
    const last = entries.at(-1);
    if (!last) return 0;
    await send(
      target,
      entries.map((entry) => syslogFrame(entry, target.sender)),
    );
    await updateCursor(tx, accountId, last.position);
    return entries.length;
  });
}

/** Returns an entry as a syslog message with its length. Priority 110: log audit, informational. The message is the exported line. */
export function syslogFrame(entry: AuditRecord, sender: string): Buffer {
  const message = Buffer.from(`<110>1 ${entry.at} ${sender} soundings - audit - ${canonicalJson(entry)}`);
  return Buffer.concat([Buffer.from(`${message.length} `), message]);
}

/** Sends the frames over one connection. Throws unless the server has read them all. */
async function send(
  { server, timeoutMs = standardTimeoutMs }: SyslogTarget,
  frames: Buffer[],
): Promise<void> {
  const { host, port, ca } = server;
  const named = isIP(host) === 0 && { servername: host };
  // With allowHalfOpen, which the types don't know, we decide when our side ends.
  const options = { host, port, ca, ...named, minVersion: 'TLSv1.2' as const, allowHalfOpen: true };
  const socket = connect(options);
  socket.setTimeout(timeoutMs, () =>
    socket.destroy(new Error(`The server did not respond for ${timeoutMs} ms.`)),
  );
  const failed = once(socket, 'error').then(([error]) => Promise.reject(error));
  try {
    await Promise.race([writeAll(socket, frames), failed]);
  } finally {
    failed.catch(() => {});
    socket.on('error', () => {}).destroy();
  }
}

/** Writes the frames and waits until the server has read them and closes the connection. */
async function writeAll(socket: TLSSocket, frames: Buffer[]): Promise<void> {
  let hasLeft = false;
  socket.once('end', () => (hasLeft = true)).resume();
  const ended = once(socket, 'end');
  ended.catch(() => {});
  await once(socket, 'secureConnect');
  for (const frame of frames) if (!socket.write(frame)) await once(socket, 'drain');
  // Only once everything was passed on and the server is still there, its end means that it has read everything.
  await new Promise<void>((resolve, reject) =>
    socket.write('', (error) => (error ? reject(error) : resolve())),
  );
  if (hasLeft) throw new Error('The server closed the connection before it had everything.');
  socket.end();
  await ended;
}
