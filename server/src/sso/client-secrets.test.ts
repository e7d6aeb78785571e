// Client secrets follow the secrets key when it is replaced.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { Secrets } from '../sealing/secrets.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { openClientSecret, sealClientSecret } from './client-secrets.ts';
import { insertProvider, type Provider, selectProviders } from './providers.sql.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database?.close());

test('client secrets stay readable when the secrets key moves to a file, and not after it is lost', async () => {
  const { pool } = database;
  const { directory } = database.keyPlace;
  const before = new Secrets(pool, { place: 'database', directory });
  const publicKey = 'a-key-of-provider';
  const provider = await inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Test' });
    const clientSecret = await sealClientSecret(before, { publicKey }, 'the secret');
    await insertProvider(tx, id, {
      publicKey,
      name: 'Work',
      issuer: 'https://x.example',
      clientId: 'c',
      clientSecret,
      enabled: true,
      domains: [],
      trustsDomains: false,
      createsPeople: false,
      roleClaim: null,
      roleValues: [],
      sessionHours: null,
    });
    return (await selectProviders(tx, id))[0] as Provider;
  });
  const moved = new Secrets(pool, { place: 'file', directory });
  expect(await moved.prepare()).toBe(true);
  const [resealed] = await selectProviders(pool, provider.accountId);
  expect(resealed?.clientSecret.equals(provider.clientSecret)).toBe(false);
  expect(await openClientSecret(moved, resealed as Provider)).toBe('the secret');
  await expect(openClientSecret(moved, provider)).rejects.toMatchObject({ refusal: 'client refused' });
  await expect(
    openClientSecret(moved, { ...(resealed as Provider), publicKey: 'another' }),
  ).rejects.toMatchObject({
    refusal: 'client refused',
  });
});
