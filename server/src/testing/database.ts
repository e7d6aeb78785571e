// A database of its own for a test file: a clone of the migrated template, or of another.
import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { openPool, type Pool } from '../db/db.ts';
import { databaseAt, templateName } from './postgres.ts';

export type TestDatabase = { url: string; pool: Pool; close(): Promise<void> };

export async function openTestDatabase(template = templateName): Promise<TestDatabase> {
  const server = inject('databaseUrl');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const admin = openPool(server, 1);
  await admin.unsafe(`create database ${name} template ${template}`);
  const url = databaseAt(server, name);
  const pool = openPool(url, 5);
  return {
    url,
    pool,
    async close() {
      await pool.end({ timeout: 5 });
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}
