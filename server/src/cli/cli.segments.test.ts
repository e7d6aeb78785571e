// The commands for segments: list, simulate, open, close and remove.
import { expect, test } from 'vitest';
import { json, newAccount, pool, refused, soundings, useDatabase } from './cli.fixture.ts';

useDatabase();

const segments = (verb: string, id: string, ...more: string[]) => [
  'segments',
  verb,
  '--account',
  id,
  ...more,
];
const text = async (args: string[]) => (await soundings(args)).out;

async function accountWithAttributes(): Promise<string> {
  const id = await newAccount();
  for (const name of ['site', 'born']) await json(['attribute', 'define', '--account', id, '--name', name]);
  return id;
}

test('kinds are opened, listed, closed and removed, and each change is recorded', async () => {
  const id = await accountWithAttributes();
  expect(await text(segments('list', id))).toContain('Results are not shown by segments.');
  const site = await json<{ id: number }>(segments('open', id, '--name', 'Site', '--attribute', 'site'));
  const age = await json<{ id: number }>(
    segments('open', id, '--name', 'Age', '--attribute', 'born', '--bands', '30,50'),
  );
  const both = `${site.id},${age.id}`;
  await json(segments('open', id, '--name', 'Both', '--combine', both));
  const list = await text(segments('list', id));
  expect(list).toMatch(/Site +site /);
  expect(list).toMatch(/Age +born \(years: 30, 50\) /);
  expect(list).toMatch(/Both +Site and Age /);
  expect(await refused(segments('remove', id, '--id', String(site.id)))).toContain('remove "Both" first');
});

test('a simulation says what a kind would show, and changes nothing', async () => {
  const id = await accountWithAttributes();
  const out = await text(segments('simulate', id, '--name', 'Site', '--attribute', 'site'));
  expect(out).toContain('active people have a value');
  expect(out).toContain("Results by group and by kinds that are already open don't change.");
  expect(await pool`select 1 from segment_kinds where account_id = ${id}`).toHaveLength(0);
});

test('wrong bands are refused with the reason', async () => {
  const id = await accountWithAttributes();
  const open = segments('open', id, '--name', 'Age', '--attribute', 'born', '--bands', '50,30');
  expect(await refused(open)).toContain('ascending numbers of years');
  expect(await refused(segments('close', id, '--id', '999999'))).toContain('do not exist');
});
