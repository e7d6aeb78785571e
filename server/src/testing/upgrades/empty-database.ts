// An empty database on the server of the test run.
import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { openPool } from '../../db/db.ts';
import { databaseAt } from '../postgres.ts';

export type EmptyDatabase = { url: string; drop(): Promise<void> };

export async function createEmptyDatabase(): Promise<EmptyDatabase> {
  const name = `empty_${randomUUID().replaceAll('-', '')}`;
  const admin = openPool(inject('databaseUrl'), 1);
  await admin.unsafe(`create database ${name}`);
  return {
    url: databaseAt(inject('databaseUrl'), name),
    async drop() {
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}
