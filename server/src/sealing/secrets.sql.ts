// SQL of the secrets key. Writers: secrets.ts.
import type { Db, Transaction } from '../db/db.ts';

/** `secret`: the key itself, only with ANSWER_KEYS=database. */
export type SecretsKeyRow = { name: Buffer; secret: Buffer | null };

/** Returns the key of the installation; undefined before the first start. */
export async function selectSecretsKey(db: Db): Promise<SecretsKeyRow | undefined> {
  const [row] = await db<SecretsKeyRow[]>`
    select name as "name", secret as "secret" from secrets_keys`;
  return row;
}

/** Stores a key and replaces the previous one. */
export async function replaceSecretsKey(tx: Transaction, { name, secret }: SecretsKeyRow): Promise<void> {
  await tx`
    insert into secrets_keys (name, secret)
    values (${name}, ${secret})
    on conflict (only_one) do update set name = excluded.name, secret = excluded.secret, created_at = now()`;
}
