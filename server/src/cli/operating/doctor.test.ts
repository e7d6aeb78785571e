// `soundings doctor`: what it prints, its exit status, and that it works without a database.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Finding } from '../../operating/findings.ts';
import { runHere } from '../cli.fixture.ts';

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'soundings-cli-doctor-'));
});
afterAll(() => rmSync(home, { recursive: true }));

const env = () => ({ DATA_DIR: join(home, 'none'), PORT: '0', SFTP_PORT: '0' });

test('prints a line for each finding; without a problem the exit status is 0', async () => {
  const { status, out, err } = await runHere(['doctor'], env());
  expect([status, err]).toEqual([0, '']);
  expect(out).toMatch(/^OK +settings +All settings are valid\.$/m);
  expect(out).toMatch(/^OK +database +There is no database yet\./m);
  expect(existsSync(join(home, 'none'))).toBe(false);
});

test('with a problem the exit status is 1; with --json as well', async () => {
  const wrong = { ...env(), DATABASE_URL: 'postgres://soundings:hunter2@127.0.0.1:9/soundings' };
  const { status, out } = await runHere(['doctor'], wrong);
  expect(status).toBe(1);
  expect(out).toMatch(/^Problem +database +The database at 127\.0\.0\.1:9\/soundings can’t be used\./m);
  const json = await runHere(['doctor', '--json'], wrong);
  expect([json.status, json.out.includes('hunter2')]).toEqual([1, false]);
  const problems = (JSON.parse(json.out) as Finding[]).filter(({ outcome }) => outcome === 'problem');
  expect(problems).toEqual([
    {
      check: 'database',
      outcome: 'problem',
      code: 'failed',
      text: expect.stringContaining('Nothing listens'),
    },
  ]);
});
