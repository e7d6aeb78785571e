// Logging in by SFTP: a user name and a token (§5.3), as password or as the answer to one question. Three tries; whatever
// is refused is refused after the same time.
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuthContext, Connection } from 'ssh2';
import { isAllowed } from '../accounts/allowlist.ts';
import { callerBySftp, type SftpCaller } from '../accounts/doors.ts';
import type { Log } from '../base/log.ts';
import { asFault, type Pool } from '../db/db.ts';
import type { SftpLimits } from './gate.ts';

export type LoginOptions = {
  pool: Pool;
  log: Log;
  limits: SftpLimits;
  address: string;
  onCaller: (caller: SftpCaller) => void;
  /** A token was refused. */
  onFailure: () => void;
  /** The connection is to be ended. */
  onGiveUp: () => void;
  /** It cannot be decided who it is: the connection is to be ended, with these words. */
  onAway: (words: string) => void;
};

const methods = ['password' as const, 'keyboard-interactive' as const];

/** Requests on a connection that bring no token: clients ask once what there is, and may try their keys. */
const maxOtherRequests = 20;

const awayWords = 'The service cannot check tokens at the moment. Try again later.';

/** Answers the log-in requests of a connection. */
export function takeLogins(client: Connection, options: LoginOptions): void {
  let caller: SftpCaller | undefined;
  let failures = 0;
  let others = 0;
  let isChecking = false;
  let isOver = false;

  function giveUp(): void {
    isOver = true;
    options.onGiveUp();
  }

  async function check(context: AuthContext, token: string): Promise<void> {
    const answered = sleep(options.limits.failureMs);
    caller = await callerFor(options, context.username, token);
    if (caller) return context.accept();
    await answered;
    options.onFailure();
    context.reject([...methods]);
    if (++failures >= options.limits.tries) giveUp();
  }

  /** A refusal would be taken for a wrong token, by a nightly job for ever. */
  function endAway(): void {
    isOver = true;
    options.onAway(awayWords);
  }

  function begin(context: AuthContext, token: string): void {
    // A client that does not wait for the answer is no client.
    if (isChecking) return giveUp();
    isChecking = true;
    check(context, token)
      .catch((error: unknown) => {
        options.log.warn({ cause: asFault(error) }, 'A log-in by SFTP could not be decided');
        endAway();
      })
      .catch(giveUp) // it is gone: then the library throws
      .finally(() => (isChecking = false));
  }

  client.on('ready', () => options.onCaller(caller as SftpCaller));
  client.on('authentication', (context) => {
    if (isOver) return;
    if (context.method === 'password' && typeof context.password === 'string') {
      return begin(context, context.password);
    }
    if (++others > maxOtherRequests) return giveUp();
    if (context.method !== 'keyboard-interactive') return context.reject([...methods]);
    // The word is what sshpass and others wait for. The answer may be an error, when the client begins anew.
    context.prompt([{ prompt: 'Password: ', echo: false }], (given: unknown) => {
      if (Array.isArray(given)) begin(context, String(given[0] ?? ''));
    });
  });
}

async function callerFor(
  { pool, log, address }: LoginOptions,
  username: string,
  token: string,
): Promise<SftpCaller | undefined> {
  const caller = await callerBySftp(pool, username, token, address);
  // What was sent as the user name may be a token: it is not logged.
  if (!caller) log.info({ reason: 'user name or token' }, 'A log-in by SFTP was refused');
  if (!caller || isAllowed(caller.allow, address)) return caller;
  const { accountId, tokenId } = caller;
  log.info({ accountId, tokenId, reason: 'address not allowed' }, 'A log-in by SFTP was refused');
  return undefined;
}
