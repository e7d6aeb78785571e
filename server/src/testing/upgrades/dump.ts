// A database as plain SQL: the migrations of its version, and a COPY for each table. psql and `restore` read it, on any PostgreSQL
// that the service supports.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { copyOut, openPool, type Pool } from '../../db/db.ts';

type Table = { name: string; columns: string[]; refersTo: string[] };

/** Returns the database as SQL. `migrations`: the text of each migration of its version, in order. Jobs that wait are not in it. */
export async function dump(pool: Pool, migrations: string[]): Promise<string> {
  const tables = inOrder(await tablesOf(pool));
  const names = tables.map(({ name }) => name);
  const parts = [createMigrationsTable, ...migrations.map((sql) => `begin;\n${sql}\ncommit;\n`)];
  parts.push(withoutTriggers(names, 'disable'));
  parts.push(...names.toReversed().map((name) => `delete from ${name};\n`));
  for (const { name, columns } of tables) {
    const source = `${name} (${columns.join(', ')})`;
    const rows = await text(copyOut(pool.unsafe(`copy ${source} to stdout`)));
    if (rows !== '') parts.push(`copy ${source} from stdin;\n${rows}\\.\n`);
  }
  parts.push(withoutTriggers(names, 'enable'), ...(await sequencesOf(pool)));
  return parts.join('');
}

/** Writes a dump into an empty database. */
export async function restore(url: string, sql: string): Promise<void> {
  const pool = openPool(url, 1);
  try {
    let rest = sql;
    for (;;) {
      const found = /^copy .* from stdin;\n/m.exec(rest);
      await pool.unsafe(rest.slice(0, found?.index));
      if (!found) return;
      const start = found.index + found[0].length;
      const end = rest.startsWith('\\.\n', start) ? start : rest.indexOf('\n\\.\n', start) + 1;
      const into = await pool.unsafe(found[0].replace(/;\n$/, '')).writable();
      await pipeline(Readable.from([rest.slice(start, end)]), into);
      rest = rest.slice(end + 3);
    }
  } finally {
    await pool.end({ timeout: 5 });
  }
}

const createMigrationsTable = `create table migrations (
  version     integer     primary key,
  name        text        not null,
  breaking    boolean     not null,
  applied_at  timestamptz not null default now()
);
`;

const withoutTriggers = (names: string[], change: 'disable' | 'enable') =>
  names.map((name) => `alter table ${name} ${change} trigger user;\n`).join('');

async function tablesOf(pool: Pool): Promise<Table[]> {
  return pool<Table[]>`
    select c.relname as name,
           (select array_agg(quote_ident(attname) order by attnum) from pg_attribute
            where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
           array(select confrelid::regclass::text from pg_constraint
                 where conrelid = c.oid and contype = 'f' and confrelid <> c.oid) as "refersTo"
    from   pg_class c
    where  c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
    order  by c.relname`;
}

/** Returns the tables so that each comes after those to which it refers. */
function inOrder(tables: Table[]): Table[] {
  const sorted: Table[] = [];
  const isPlaced = (name: string) => sorted.some((table) => table.name === name);
  while (sorted.length < tables.length) {
    const next = tables.find(({ name, refersTo }) => !isPlaced(name) && refersTo.every(isPlaced));
    if (!next) throw new Error('Tables refer to each other in a circle.');
    sorted.push(next);
  }
  return sorted;
}

async function sequencesOf(pool: Pool): Promise<string[]> {
  const sequences = await pool<{ name: string }[]>`
    select sequencename as name from pg_sequences where schemaname = 'public' order by sequencename`;
  return Promise.all(
    sequences.map(async ({ name }) => {
      const [state] = await pool.unsafe<{ last: string; called: boolean }[]>(
        `select last_value as last, is_called as called from ${name}`,
      );
      return `select setval('${name}', ${state!.last}, ${state!.called});\n`;
    }),
  );
}
