// SQL for the SFTP host keys. Written by host-keys.ts.
import type { Db } from '../db/db.ts';

/** `privateKey` is sealed, in base64. */
export type HostKeyRow = { kind: 'ed25519' | 'rsa'; privateKey: string };

export async function selectHostKeys(db: Db): Promise<HostKeyRow[]> {
  return db<HostKeyRow[]>`
    select kind as "kind", private_key as "privateKey" from sftp_host_keys order by kind`;
}

/** Stores a key, replacing `before` if there is one. Returns false if another process has stored one in the meantime. */
export async function replaceHostKey(
  db: Db,
  { kind, privateKey }: HostKeyRow,
  before: string | undefined,
): Promise<boolean> {
  const rows = await db`
    insert into sftp_host_keys as kept (kind, private_key)
    values (${kind}, ${privateKey})
    on conflict (kind) do update set private_key = excluded.private_key, created_at = now()
    where  kept.private_key = ${before ?? null}
    returning 1`;
  return rows.length > 0;
}

export async function updateHostKey(db: Db, { kind, privateKey }: HostKeyRow): Promise<void> {
  await db`update sftp_host_keys set private_key = ${privateKey} where kind = ${kind}`;
}

export async function deleteHostKeys(db: Db): Promise<void> {
  await db`delete from sftp_host_keys`;
}
