// SFTP login: a user name and a token (§5.3), sent as a password or through keyboard-interactive authentication. Three attempts
// are allowed, and every refusal takes the same time.
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuthContext, Connection } from 'ssh2';
import { isAllowed } from '../accounts/allowlist.ts';
import { callerBySftp, type SftpCaller } from '../accounts/sftp-callers.ts';
import type { Log } from '../base/log.ts';
import { asFault, type Pool } from '../db/db.ts';
import type { SftpLimits } from './limits.ts';

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
  /** Tokens can't be checked: the connection is to be ended with this reason. */
  onUnavailable: (reason: string) => void;
};

const methods = ['password' as const, 'keyboard-interactive' as const];

/** The maximum number of authentication requests without a token. Clients request the methods once, and may try their keys. */
const maxOtherRequests = 20;

const unavailable = "The service can't check tokens at the moment. Try again later.";

/** Handles the login requests of a connection. */
export function handleLogins(client: Connection, options: LoginOptions): void {
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
    const minimumTime = sleep(options.limits.failureMs);
    caller = await callerFor(options, context.username, token);
    if (caller) return context.accept();
    await minimumTime;
    options.onFailure();
    context.reject([...methods]);
    if (++failures >= options.limits.tries) giveUp();
  }

  /** Ends the connection with a reason. A nightly job would read a refusal as a wrong token, and might never try again. */
  function endUnavailable(): void {
    isOver = true;
    options.onUnavailable(unavailable);
  }

  function begin(context: AuthContext, token: string): void {
    // Real clients wait for the reply before they send another token.
    if (isChecking) return giveUp();
    isChecking = true;
    check(context, token)
      .catch((error: unknown) => {
        options.log.warn({ cause: asFault(error) }, 'SFTP login could not be checked');
        endUnavailable();
      })
      .catch(giveUp) // The library throws if the connection has closed.
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
    // sshpass and other tools wait for this prompt. The response may be an error if the client starts over.
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
  // The user name is not logged, because it may be a token sent by mistake.
  if (!caller) log.info({ reason: 'user name or token' }, 'SFTP login refused');
  if (!caller || isAllowed(caller.allow, address)) return caller;
  const { accountId, tokenId } = caller;
  log.info({ accountId, tokenId, reason: 'address not allowed' }, 'SFTP login refused');
  return undefined;
}
