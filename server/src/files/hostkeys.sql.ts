// SQL of the keys by which SFTP clients know the service. Writer: hostkeys.ts.
import type { Db } from '../db/db.ts';

/** `privateKey`: sealed, as base64. */
export type HostKeyRow = { kind: 'ed25519' | 'rsa'; privateKey: string };

export async function selectHostKeys(db: Db): Promise<HostKeyRow[]> {
  return db<HostKeyRow[]>`
    select kind as "kind", private_key as "privateKey" from sftp_host_keys order by kind`;
}

/** Of processes that make keys at the same time one writes both of its own, and the others none. */
export async function insertHostKeys(db: Db, keys: { ed25519: string; rsa: string }): Promise<void> {
  await db`
    insert into sftp_host_keys (kind, private_key)
    values ('ed25519', ${keys.ed25519}), ('rsa', ${keys.rsa})
    on conflict (kind) do nothing`;
}

export async function updateHostKey(db: Db, { kind, privateKey }: HostKeyRow): Promise<void> {
  await db`update sftp_host_keys set private_key = ${privateKey} where kind = ${kind}`;
}

export async function deleteHostKeys(db: Db): Promise<void> {
  await db`delete from sftp_host_keys`;
}
