// schema.sql, which people read, matches the migrations.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { databaseAt } from '../testing/postgres.ts';
import { openPool, type Pool } from './db.ts';

let migrated: TestDatabase;
let admin: Pool;
let written: Pool;
const name = `schema_${randomUUID().replaceAll('-', '')}`;

beforeAll(async () => {
  migrated = await openTestDatabase();
  admin = openPool(inject('databaseUrl'), 1);
  await admin.unsafe(`create database ${name}`);
  written = openPool(databaseAt(inject('databaseUrl'), name), 1);
  await written.unsafe(readFileSync(new URL('schema.sql', import.meta.url), 'utf8'));
});

afterAll(async () => {
  await written.end();
  await admin.unsafe(`drop database ${name} with (force)`);
  await admin.end();
  await migrated.close();
});

/** Returns the whole schema as lines of text. */
async function catalogOf(pool: Pool): Promise<string[]> {
  const rows = await pool<{ line: string }[]>`
    select format('column %s.%s %s%s default %s identity %s storage %s comment %s', c.relname, a.attname,
                  format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' end,
                  pg_get_expr(d.adbin, d.adrelid), a.attidentity, a.attstorage,
                  col_description(c.oid, a.attnum)) as line
    from   pg_class c
    join   pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left   join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where  c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
    union  all
    select format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
    from   pg_constraint where connamespace = 'public'::regnamespace
    union  all
    select indexdef from pg_indexes where schemaname = 'public'
    union  all
    select format('table %s comment %s', relname, obj_description(oid))
    from   pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
    order  by 1`;
  return rows.map(({ line }) => line);
}

test('schema.sql creates exactly the schema that the migrations create', async () => {
  const [inFile, byMigrations] = [await catalogOf(written), await catalogOf(migrated.pool)];
  expect(byMigrations.length).toBeGreaterThan(50);
  expect(inFile).toEqual(byMigrations);
});
