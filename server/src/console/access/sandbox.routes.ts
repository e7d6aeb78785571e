// The console: the administrator's own sandbox. No operation names a person or an account: each is about the sandbox of the user who is signed in.
import { sandboxLimits } from '@soundings/contract/limits.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import {
  removeSandbox,
  replaceSandboxToken,
  requestReset,
  requestSandbox,
  sandboxOf,
  type SandboxSettings,
} from '../../sandboxes/sandboxes.ts';
import { actorOf, type Console } from '../core/console.ts';

export type SandboxOptions = {
  pool: Promise<Pool>;
  publicUrl: string;
  sftpPort: number;
  sandboxes: SandboxSettings;
};

export function serveSandbox(
  console: Console,
  { pool, publicUrl, sftpPort, sandboxes }: SandboxOptions,
): void {
  const { most } = sandboxes;
  console.serve('GET /sandbox', async (who) => ({
    most,
    days: sandboxLimits.days,
    address: publicUrl,
    documents: `${publicUrl}/docs`,
    sftp: sftpPort === 0 ? null : { host: new URL(publicUrl).hostname, port: sftpPort },
    sandbox: await sandboxOf(await pool, who, sandboxes),
  }));
  console.serve('POST /sandbox', async (who, { body: { scopes } }) => ({
    token: await inTransaction(await pool, (tx) =>
      requestSandbox(tx, who, scopes, { most, by: actorOf(who) }),
    ),
  }));
  console.serve('POST /sandbox/reset', async (who) =>
    inTransaction(await pool, (tx) => requestReset(tx, who, { most, by: actorOf(who) })),
  );
  console.serve('POST /sandbox/token', async (who, { body: { scopes } }) => ({
    token: await inTransaction(await pool, (tx) =>
      replaceSandboxToken(tx, who, scopes, { most, by: actorOf(who) }),
    ),
  }));
  console.serve('DELETE /sandbox', async (who) =>
    inTransaction(await pool, (tx) => removeSandbox(tx, who, actorOf(who))),
  );
}
