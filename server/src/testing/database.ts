// A separate database for a test file: a clone of the migrated template, or of another one.
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { openPool, type Pool } from '../db/db.ts';
import { AnswerKeys } from '../sealing/answer-keys.ts';
import type { KeyPlace } from '../sealing/epoch-chain.ts';
import { databaseAt, templateName } from './postgres.ts';

/** A database, and the keys of its open weeks. */
export type TestData = { pool: Pool; keys: AnswerKeys };
export type TestDatabase = TestData & { url: string; keyPlace: KeyPlace; close(): Promise<void> };

/** Opens a clone. A template other than the default contains its key, so the clone has the key as well. */
export async function openTestDatabase(template = templateName): Promise<TestDatabase> {
  const server = inject('databaseUrl');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const admin = openPool(server, 1);
  await admin.unsafe(`create database ${name} template ${template}`);
  const url = databaseAt(server, name);
  const pool = openPool(url, 5);
  const keyPlace: KeyPlace = {
    place: template === templateName ? 'file' : 'database',
    directory: join(tmpdir(), `soundings-keys-${name}`),
  };
  return {
    url,
    pool,
    keyPlace,
    keys: new AnswerKeys(pool, keyPlace),
    async close() {
      await pool.end({ timeout: 5 });
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
      await rm(keyPlace.directory, { recursive: true, force: true });
    },
  };
}

/** Opens what another process with the same database and keys has, until the end of the test. `max`: its connections. */
export function otherProcess({ url, keyPlace }: TestDatabase, max: number): TestData {
  const pool = openPool(url, max);
  onTestFinished(() => pool.end({ timeout: 5 }));
  return { pool, keys: new AnswerKeys(pool, keyPlace) };
}
