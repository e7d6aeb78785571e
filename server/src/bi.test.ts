// The programs in docs/examples/bi: docs/integrators/bi.md quotes them exactly, and their output is what the page shows.
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
const page = readFileSync(new URL('integrators/bi.md', docs), 'utf8');

/** Returns the code blocks of the page in a language. */
const blocksOf = (word: string) =>
  [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === word)
    .map(([, , text]) => text);

const languages = {
  'soundings.pq': 'powerquery',
  'soundings.py': 'python',
  'soundings.R': 'r',
  'soundings.ts': 'ts',
};

const asOneBlankLine = (text: string) => text.replace(/\n\n+/g, '\n\n');

test.each(Object.entries(languages))(
  'the page quotes %s completely and exactly, in several blocks',
  (name, word) => {
    const program = readFileSync(new URL(name, examples), 'utf8');
    expect(asOneBlankLine(blocksOf(word).join('\n'))).toBe(asOneBlankLine(program));
  },
);

test('the page names every program in the folder', () => {
  expect(readdirSync(examples).toSorted()).toEqual(Object.keys(languages).toSorted());
  for (const name of Object.keys(languages)) expect(page).toContain(`(../examples/bi/${name})`);
});

describe('a program that reads the company of docs/start/example.md', () => {
  let world: World;
  let account: TestAccount;
  beforeAll(async () => {
    world = await openWorld();
    account = await world.account();
    await inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { threshold: 3 }));
    const example = readFileSync(new URL('start/example.md', docs), 'utf8');
    await account.push(/```json groups\n(.*?)```/s.exec(example)?.[1]);
    const survey = fileURLToPath(new URL('examples/survey.ndjson', docs));
    await importHistory(world.pool, world.keys, account.id, survey, Date.now());
  });
  afterAll(() => world.close());

  /** Returns the output of a program, or undefined if its interpreter is missing. */
  async function outputOf(command: string, file: string): Promise<string | undefined> {
    const env = { ...process.env, SOUNDINGS_URL: world.address, SOUNDINGS_TOKEN: account.token };
    try {
      const path = fileURLToPath(new URL(file, examples));
      return (await promisify(execFile)(command, [path], { env })).stdout;
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  test.for([
    ['python3', 'soundings.py'],
    ['Rscript', 'soundings.R'],
  ] as const)('%s %s prints what the page shows', async ([command, file], { skip }) => {
    const text = await outputOf(command, file);
    skip(text === undefined, `SKIPPED: ${command} is not installed.`);
    skip(!text?.includes('groups:'), `SKIPPED: ${command} has no jsonlite.`);
    expect(text?.replace(/ +$/gm, '')).toBe(blocksOf('text')[0]);
  });
});
