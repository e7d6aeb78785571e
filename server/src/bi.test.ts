// The programs of docs/examples/bi: what docs/bi.md quotes is what they are, and they read what the page says they read.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeAccount } from './accounts/accounts.ts';
import { inTransaction } from './db/db.ts';
import { importHistory } from './history/history.ts';
import { openWorld, type TestAccount, type World } from './testing/world.ts';

const docs = new URL('../../docs/', import.meta.url);
const examples = new URL('examples/bi/', docs);
const page = readFileSync(new URL('bi.md', docs), 'utf8');

/** The blocks of the page with a word after their fence. */
const blocksOf = (word: string) =>
  [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, name]) => name === word).map(([, , text]) => text);

const languages: Record<string, string> = { 'soundings.py': 'python', 'soundings.R': 'r', 'soundings.pq': 'powerquery' };

test.each(Object.entries(languages))('the page quotes %s to the letter, piece by piece, and all of it', (name, word) => {
  const program = readFileSync(new URL(name, examples), 'utf8');
  const quoted = blocksOf(word).join('\n');
  expect(quoted).toBe(program);
});

test('the page names every program that is there', () => {
  for (const name of readdirSync(examples)) expect(page).toContain(`(examples/bi/${name})`);
});

describe('a program reads the company of docs/example.md', () => {
  let world: World;
  let account: TestAccount;
  beforeAll(async () => {
    world = await openWorld();
    account = await world.account();
    await inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { threshold: 3 }));
    const example = readFileSync(new URL('example.md', docs), 'utf8');
    await account.push(/```json groups\n(.*?)```/s.exec(example)?.[1]);
    const survey = fileURLToPath(new URL('examples/survey.ndjson', docs));
    await importHistory(world.pool, account.id, survey, Date.now());
  });
  afterAll(() => world.close());

  /** What a program writes; undefined where the machine has nothing to run it with. */
  async function written(command: string, file: string): Promise<string | undefined> {
    const env = { ...process.env, SOUNDINGS_URL: world.address, SOUNDINGS_TOKEN: account.token };
    try {
      const path = fileURLToPath(new URL(file, examples));
      return (await promisify(execFile)(command, [path], { env })).stdout;
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  const withoutSpaces = (text: string) => text.replace(/ +$/gm, '');
  const [wanted] = blocksOf('text');

  test.each([
    ['python3', 'soundings.py'],
    ['Rscript', 'soundings.R'],
  ])('%s %s, and writes what the page says', async (command, file) => {
    const text = await written(command, file);
    expect(text === undefined ? `SKIPPED: there is no ${command}` : withoutSpaces(text)).toBe(wanted);
  });
});
