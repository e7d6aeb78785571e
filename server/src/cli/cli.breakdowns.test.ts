// The commands for breakdowns: list, simulate, open, close and remove.
import { expect, test } from 'vitest';
import { json, newAccount, pool, refused, soundings, useDatabase } from './cli.fixture.ts';

useDatabase();

const breakdown = (verb: string, id: string, ...more: string[]) => [
  'breakdown',
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

test('breakdowns are opened, listed, closed and removed, and each change is recorded', async () => {
  const id = await accountWithAttributes();
  expect(await text(breakdown('list', id))).toContain('Results are shown by group only.');
  const site = await json<{ id: number }>(breakdown('open', id, '--name', 'Site', '--attribute', 'site'));
  const age = await json<{ id: number }>(
    breakdown('open', id, '--name', 'Age', '--attribute', 'born', '--bands', '30,50'),
  );
  const both = `${site.id},${age.id}`;
  await json(breakdown('open', id, '--name', 'Both', '--combine', both));
  const list = await text(breakdown('list', id));
  expect(list).toMatch(/Site +site /);
  expect(list).toMatch(/Age +born \(years: 30, 50\) /);
  expect(list).toMatch(/Both +Site and Age /);
  expect(await refused(breakdown('remove', id, '--id', String(site.id)))).toContain('remove "Both" first');
});

test('a simulation says what a breakdown would show, and changes nothing', async () => {
  const id = await accountWithAttributes();
  const out = await text(breakdown('simulate', id, '--name', 'Site', '--attribute', 'site'));
  expect(out).toContain('active people have a value');
  expect(out).toContain("Results by group and by breakdowns that are already open don't change.");
  expect(await pool`select 1 from breakdowns where account_id = ${id}`).toHaveLength(0);
});

test('wrong bands are refused with the reason', async () => {
  const id = await accountWithAttributes();
  const open = breakdown('open', id, '--name', 'Age', '--attribute', 'born', '--bands', '50,30');
  expect(await refused(open)).toContain('ascending numbers of years');
  expect(await refused(breakdown('close', id, '--id', '999999'))).toContain('does not exist');
});
