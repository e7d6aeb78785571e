// Attacks on the audit log: an operator who changes it in the database, and a token that reads more than the console shows.
import type { AuditRecord } from '@soundings/contract/audit/audit.ts';
import type { AuditEntry } from '@soundings/contract/console/access.ts';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Pool } from '../../db/db.ts';
import { createUser } from '../../people/users.ts';
import { inTransaction } from '../../db/db.ts';
import { signInNew } from '../../testing/signed-in.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';
import { audit } from '../audit.ts';
import { createToken } from '../tokens.ts';
import { chained, type Head, start } from './record.ts';
import { verifyChain } from './verify.ts';

let world: World;
let account: TestAccount;
beforeAll(async () => {
  world = await openWorld();
  account = await world.account();
});
afterAll(() => world.close());

const read = async (token: string, query = '') => {
  const { status, body } = await world.request<string>('GET', `/v1/audit${query}`, {
    headers: { authorization: token },
  });
  return {
    status,
    lines: status === 200 ? body.split('\n').slice(0, -1) : [],
    problem: body as unknown as { details: { type: string }[] },
  };
};
const recordsOf = async (token: string) =>
  (await read(token, '?limit=10000')).lines.map((line) => JSON.parse(line) as AuditRecord);

/** What the ten lines of docs/integrators/audit.md do: checks exported lines and returns the last position and hash. */
function faultOfLines(lines: string[], last: Head = start): string | undefined {
  for (const line of lines) {
    const { hash, ...entry } = JSON.parse(line) as AuditRecord;
    if (entry.previous !== last.hash || entry.position !== last.position + 1) return `after ${last.position}`;
    // Exported lines have sorted keys; only the hash has to be cut out.
    const text = line.replace(`"hash":"${hash}",`, '');
    if (createHash('sha256').update(text).digest('hex') !== hash) return `at ${entry.position}`;
    last = { position: entry.position, hash };
  }
  return undefined;
}

describe('an operator with the database', () => {
  /** What the operator does to the log of an account with ten entries. Triggers don't stop the owner of the tables. */
  type Attack = (db: Pool, accountId: number) => Promise<unknown>;
  const attacks: Record<string, Attack> = {
    'edits the subject of an entry': (db, id) =>
      db`update audit_entries set subject = 'other' where account_id = ${id} and position = 4`,
    'edits the details of an entry': (db, id) =>
      db`update audit_entries set details = '{"n": 40}' where account_id = ${id} and position = 4`,
    'moves an entry by a microsecond': (db, id) =>
      db`update audit_entries set at = at + interval '1 microsecond' where account_id = ${id} and position = 4`,
    'gives an entry to another user': (db, id) =>
      db`update audit_entries set user_id = 77 where account_id = ${id} and position = 4`,
    'deletes the first entry': (db, id) =>
      db`delete from audit_entries where account_id = ${id} and position = 1`,
    'deletes an entry': (db, id) => db`delete from audit_entries where account_id = ${id} and position = 4`,
    'deletes an entry and closes the gap': async (db, id) => {
      await db`delete from audit_entries where account_id = ${id} and position = 4`;
      for (const position of [5, 6, 7, 8, 9, 10])
        await db`update audit_entries set position = ${position - 1} where account_id = ${id} and position = ${position}`;
      await db`update audit_heads set position = 9 where account_id = ${id}`;
    },
    'swaps two entries': async (db, id) => {
      for (const [from, to] of [
        [4, 99],
        [5, 4],
        [99, 5],
      ] as const)
        await db`update audit_entries set position = ${to} where account_id = ${id} and position = ${from}`;
    },
    'swaps the contents of two entries': (db, id) => db`
      update audit_entries e set subject = o.subject from audit_entries o
      where  e.account_id = ${id} and o.account_id = ${id} and e.position + o.position = 9 and e.position in (4, 5)`,
    'changes an entry and its hash': async (db, id) => {
      await db`
        update audit_entries set subject = 'other', hash = sha256(convert_to('other', 'UTF8'))
        where  account_id = ${id} and position = 4`;
    },
    'deletes the last entries': (db, id) =>
      db`delete from audit_entries where account_id = ${id} and position > 7`,
    'puts another entry at the end': (db, id) =>
      db`update audit_entries set hash = sha256('') where account_id = ${id} and position = 10`,
  };

  const withEntries = async () => {
    const { id, tokenOf } = await world.account();
    const token = await tokenOf('audit');
    for (let n = (await recordsOf(token)).length; n < 10; n++)
      await audit(world.pool, id, { origin: 'service' }, 'run applied', { subject: n, details: { n } });
    const records = await recordsOf(token);
    expect(records).toHaveLength(10);
    return { id, token, last: records.at(-1) as AuditRecord };
  };
  const asOwner = async (work: (db: Pool) => Promise<unknown>) =>
    world.pool.begin(async (tx) => {
      await tx`alter table audit_entries disable trigger user`;
      await work(tx as unknown as Pool);
      await tx`alter table audit_entries enable trigger user`;
    });

  test.each(Object.entries(attacks))(
    '%s: the check of the database shows it, also after new entries',
    async (_name, attack) => {
      const { id } = await withEntries();
      expect(await verifyChain(world.pool, id, undefined)).toMatchObject({ entries: 10, fault: undefined });
      await asOwner((db) => attack(db, id));
      expect((await verifyChain(world.pool, id, undefined)).fault).toMatch(/position/i);
      await audit(world.pool, id, { origin: 'service' }, 'run applied');
      expect((await verifyChain(world.pool, id, undefined)).fault).toMatch(/position/i);
    },
  );

  const hidden: Record<string, Attack> = {
    'deletes the last entries and makes the chain end there': async (db, id) => {
      await db`delete from audit_entries where account_id = ${id} and position > 7`;
      await db`
        update audit_heads h set position = 7, hash = e.hash from audit_entries e
        where  h.account_id = ${id} and e.account_id = ${id} and e.position = 7`;
    },
    'changes an entry and writes all hashes again': async (db, id) => {
      await db`update audit_entries set details = '{"n": 40}' where account_id = ${id} and position = 4`;
      let last: Head = start;
      for (const { hash: _, previous: __, position: ___, ...content } of await changedRecords(db, id)) {
        last = chained(last, content);
        await db`update audit_entries set hash = decode(${last.hash}, 'hex') where account_id = ${id} and position = ${last.position}`;
      }
      await db`update audit_heads set hash = decode(${last.hash}, 'hex') where account_id = ${id}`;
    },
  };
  /** Returns the entries of the log as they are now. */
  const changedRecords = async (db: Pool, id: number) => {
    const { selectChained } = await import('./chain.sql.ts');
    return selectChained(db, id, start, 100);
  };

  test.each(Object.entries(hidden))(
    '%s: the database is consistent, but anyone who kept the last hash sees it',
    async (_name, attack) => {
      const { id, token, last } = await withEntries();
      await asOwner((db) => attack(db, id));
      expect((await verifyChain(world.pool, id, undefined)).fault).toBeUndefined();
      expect((await verifyChain(world.pool, id, last)).fault).toContain('position 10'.slice(-2));
      const { status, problem } = await read(token, `?after=10&hash=${last.hash}`);
      expect([status, problem.details[0]?.type]).toEqual([409, 'audit log changed']);
      // New entries don't hide it.
      for (let n = 0; n < 5; n++) await audit(world.pool, id, { origin: 'service' }, 'run applied');
      expect((await read(token, `?after=10&hash=${last.hash}`)).status).toBe(409);
      expect((await verifyChain(world.pool, id, last)).fault).toContain('10');
    },
  );

  test('anyone who has an exported file sees a changed, missing, added or moved line', async () => {
    const { token } = await withEntries();
    const { lines } = await read(token);
    expect(faultOfLines(lines)).toBeUndefined();
    expect(faultOfLines(lines.with(3, (lines[3] as string).replace('"n":', '"m":')))).toBe('at 4');
    expect(faultOfLines(lines.toSpliced(3, 1))).toBe('after 3');
    expect(faultOfLines(lines.toSpliced(3, 0, lines[2] as string))).toBe('after 3');
    expect(faultOfLines(lines.with(3, lines[4] as string).with(4, lines[3] as string))).toBe('after 3');
    // A part is checked against the last entry that was kept.
    expect(faultOfLines(lines.slice(4), JSON.parse(lines[3] as string) as AuditRecord)).toBeUndefined();
    expect(faultOfLines(lines.slice(4), JSON.parse(lines[2] as string) as AuditRecord)).toBe('after 3');
  });
});

test('the program of docs/integrators/audit.md accepts an export, and no changed one', async (context) => {
  const document = readFileSync(new URL('../../../../docs/integrators/audit.md', import.meta.url), 'utf8');
  const program = /```python\n([\s\S]*?)```/.exec(document)?.[1] as string;
  const check = (lines: string[], ...last: string[]) =>
    spawnSync('python3', ['-c', program, ...last], {
      input: lines.map((line) => `${line}\n`).join(''),
      encoding: 'utf8',
    });
  if (check([]).error) return context.skip('SKIPPED: python3 is missing');
  const other = await world.account();
  for (let n = 0; n < 3; n++) await audit(world.pool, other.id, { origin: 'service' }, 'run applied');
  await audit(world.pool, other.id, { origin: 'service' }, 'run applied', {
    subject: 'ä 😀 \u2028 " \\',
    details: { 'z ö': [1, 0.5, -3, true, null, { b: 'x', a: '' }], 10: 'ten', 9: 'nine' },
  });
  const { lines } = await read(other.token);
  const last = JSON.parse(lines.at(-1) as string) as AuditRecord;
  expect(check(lines).stdout).toBe(`${last.position} ${last.hash}\n`);
  const kept = JSON.parse(lines[0] as string) as AuditRecord;
  expect(check(lines.slice(1), String(kept.position), kept.hash).stdout).toContain(last.hash);
  const { stderr, status } = check(lines.with(1, (lines[1] as string).replace('"id":', '"id":1')));
  expect([stderr, status]).toEqual(['The audit log is not intact after position 1.\n', 1]);
  expect(check(lines.toSpliced(0, 1)).status).toBe(1);
});

describe('an integrator with the audit scope', () => {
  test('learns nothing that an administrator does not see in the console', async () => {
    const { request } = await signInNew(world, account.id, 'Administrator');
    await createToken(world.pool, account.id, { name: 'HR', scopes: ['data'] });
    await account.push({ data: { users: [{ externalId: 'a', firstName: 'Anna', lastName: 'Berg' }] } });
    const records = await recordsOf(await account.tokenOf('audit'));
    const { body } = await request<{ rows: AuditEntry[] }>('GET /audit?limit=200');
    expect(records.length).toBeGreaterThan(3);
    for (const { id, at, position: _, previous: __, hash: ___, accountId, ...rest } of records) {
      const { who: ____, about: _____, at: shownAt, ...shown } = body.rows.find((row) => row.id === id)!;
      expect({ ...rest, id, at: new Date(at).toISOString() }).toEqual({ ...shown, at: shownAt });
      expect(accountId).toBe(account.id);
    }
  });

  test('reads no names of people, so that nothing stays with a receiver after a person is removed', async () => {
    const { request } = await signInNew(world, account.id, 'Administrator');
    const person = { firstName: 'Zebulon', lastName: 'Quux', email: 'zebulon@example.org' };
    const id = await inTransaction(world.pool, (tx) => createUser(tx, account.id, person));
    expect((await request(`PATCH /users/${id}`, { firstName: 'Zebedee' })).status).toBe(200);
    expect((await request(`DELETE /users/${id}`)).status).toBeLessThan(300);
    const { lines } = await read(await account.tokenOf('audit'), '?limit=10000');
    expect(lines.some((line) => line.includes('person removed'))).toBe(true);
    expect(lines.join('')).not.toMatch(/zeb|quux/i);
  });

  test('reads nothing with another scope, and nothing else with this one', async () => {
    const audits = await account.tokenOf('audit');
    expect((await read(await account.tokenOf('data', 'organization', 'files'))).status).toBe(403);
    for (const path of ['/v1/groups', '/v1/feed', '/v1/storage/files'])
      expect((await world.request('GET', path, { headers: { authorization: audits } })).status).toBe(403);
  });
});
