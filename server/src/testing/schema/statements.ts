// Listens to what a service sends to PostgreSQL, and explains these statements.
import { onTestFinished } from 'vitest';
import type { Pool } from '../../db/db.ts';
import { passThrough } from '../processes/pass-through.ts';

/** A statement, with the ids of the types of its parameters as the driver declares them; 0: PostgreSQL decides. */
export type Sent = { text: string; types: number[] };

/** Passes connections to a database through until the test ends, and collects their statements. Returns its address there. */
export async function listenTo(
  databaseUrl: string,
): Promise<{ url: string; sent: ReadonlyMap<string, Sent> }> {
  const sent = new Map<string, Sent>();
  const { url, close } = await passThrough(databaseUrl, (client, upstream) => {
    client.on(
      'data',
      messagesIn((type, body) => note(sent, type, body)),
    );
    client.pipe(upstream);
    upstream.pipe(client);
  });
  onTestFinished(close);
  return { url, sent };
}

/** Returns a function that takes what a client sends, and calls `found` with each message after the first one, which has no type. */
function messagesIn(found: (type: string, body: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  let isFirst = true;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = isFirst ? 0 : 1;
      if (rest.length < head + 4) return;
      const end = head + rest.readInt32BE(head);
      if (rest.length < end) return;
      if (!isFirst) found(String.fromCharCode(rest[0] as number), rest.subarray(5, end));
      isFirst = false;
      rest = rest.subarray(end);
    }
  };
}

/** Notes a statement that is parsed or, without parameters, sent as it is. */
function note(sent: Map<string, Sent>, type: string, body: Buffer): void {
  if (type !== 'P' && type !== 'Q') return;
  const start = type === 'P' ? body.indexOf(0) + 1 : 0;
  const end = body.indexOf(0, start);
  const text = body.toString('utf8', start, end);
  const types =
    type === 'Q'
      ? []
      : Array.from({ length: body.readInt16BE(end + 1) }, (_, i) => body.readInt32BE(end + 3 + 4 * i));
  sent.set(text, { text, types });
}

type Plan = { 'Node Type': string; 'Relation Name'?: string; Alias?: string; Plans?: Plan[] } & Record<
  string,
  unknown
>;

/**
 * Returns the tables that a statement reads or writes in rows of any account, as PostgreSQL plans it for any parameters: neither the
 * condition of the table nor that of a join around it names the account. Undefined if it is no such statement.
 */
export async function tablesOfAnyAccount(
  pool: Pool,
  { text, types }: Sent,
  tables: readonly string[],
): Promise<string[] | undefined> {
  if (!/^\s*(select|insert|update|delete|with)\b/i.test(text) || text.includes(';')) return undefined;
  return pool.begin(async (tx) => {
    const names = await tx<{ name: string }[]>`
      select case when t = 0 then 'unknown' else format_type(t::oid, null) end as name
      from   unnest(${types}::bigint[]) with ordinality as u(t, n) order by n`;
    const list = names.length > 0 ? `(${names.map(({ name }) => name).join(', ')})` : '';
    await tx.unsafe(`set local plan_cache_mode = force_generic_plan; prepare explained ${list} as ${text}`);
    const nulls = names.length > 0 ? `(${names.map(() => 'null').join(', ')})` : '';
    const [row] = await tx.unsafe<{ 'QUERY PLAN': { Plan: Plan }[] }[]>(
      `explain (format json) execute explained ${nulls}`,
    );
    await tx.unsafe('deallocate explained');
    return unbound(row!['QUERY PLAN'][0]!.Plan, '', tables);
  });
}

const conditions = [
  'Index Cond',
  'Recheck Cond',
  'Filter',
  'Hash Cond',
  'Merge Cond',
  'Join Filter',
  'One-Time Filter',
];

/** `around`: the conditions of the joins around a node. */
function unbound(node: Plan, around: string, tables: readonly string[]): string[] {
  const own = conditions.map((one) => String(node[one] ?? '')).join(' ');
  const name = node['Relation Name'];
  const isScan = name !== undefined && node['Node Type'] !== 'ModifyTable';
  const isBound =
    own.includes('account_id') ||
    (node.Plans ?? []).some((one) => String(one['Index Cond'] ?? '').includes('account_id')) ||
    around.includes(`${node.Alias ?? name}.account_id`);
  const found = isScan && tables.includes(name) && !isBound ? [name] : [];
  return [...found, ...(node.Plans ?? []).flatMap((one) => unbound(one, `${around} ${own}`, tables))];
}
