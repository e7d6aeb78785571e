// node server/src/testing/upgrades/keep.ts NAME [COMMIT]
// Keeps a data set: a company that was created by the program of a commit (by default the last one), and what the data interface
// responds. CONTRIBUTING.md says when to run it.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dayIn } from '@soundings/contract/weeks.ts';
import { projectFolder } from '../../base/places.ts';
import { openPool } from '../../db/db.ts';
import { weekdayOf } from '../../rounds/send-times.ts';
import { freePort } from '../processes/free-port.ts';
import { openSmtp } from '../smtp.ts';
import { createCompany } from './company.ts';
import { readAll } from './data-requests.ts';
import { dump } from './dump.ts';
import { type KeptSet, writeKeptSet } from './kept-sets.ts';
import { checkOut, type Program, run, startProgram } from './older-program.ts';

const [name = '', wanted = 'HEAD'] = process.argv.slice(2);
if (!/^[\w.-]+$/.test(name)) {
  process.stderr.write('Usage: node server/src/testing/upgrades/keep.ts NAME [COMMIT]\n');
  process.exit(2);
}
const commit = execFileSync('git', ['rev-parse', wanted], { cwd: projectFolder, encoding: 'utf8' }).trim();
const home = await mkdtemp(join(tmpdir(), 'soundings-keep-'));
try {
  const set = await keep(join(home, 'program'), join(home, 'data'));
  await writeKeptSet(name, set);
  process.stdout.write(`Kept ${Object.keys(set.responses.open).length} responses of ${set.about.schema}.\n`);
} finally {
  await rm(home, { recursive: true, force: true });
}

async function keep(folder: string, dataDir: string): Promise<KeptSet> {
  await mkdir(folder);
  await checkOut(commit, folder);
  const migrationsFolder = join(folder, 'server/src/db/migrations');
  const names = (await readdir(migrationsFolder)).filter((file) => file.endsWith('.sql')).toSorted();
  const migrations = await Promise.all(names.map((file) => readFile(join(migrationsFolder, file), 'utf8')));
  const schema = names.at(-1) as string;
  const smtp = await openSmtp();
  const environment = {
    DATA_DIR: dataDir,
    PORT: String(await freePort()),
    SFTP_PORT: String(await freePort()),
    DRAIN_SECONDS: '0',
    LOG_LEVEL: 'warn',
    RATE_LIMIT: '0',
    SMTP_URL: smtp.url,
  };
  const program: Program = { folder, environment };
  const running = await startProgram(program);
  try {
    const { address } = running;
    const at = Date.now();
    const today = dayIn('Europe/Stockholm', at);
    const number = Number.parseInt(schema, 10);
    const site = { program, address, smtp, schema: number, today, weekday: weekdayOf(today) };
    const company = await createCompany(site);
    const readBoth = async () => ({
      plain: await readAll(address, company.tokens.all),
      quoted: await readAll(address, company.tokens.quoted),
    });
    const open = await readBoth();
    const sql = await dumped(dataDir, migrations);
    const shown = await run(program, ['sftp', 'hostkeys']);
    const hostKeys = JSON.stringify(shown).match(/SHA256:[\w+/]+/g) ?? [];
    const keys = await keysIn(join(dataDir, 'keys'));
    await run(program, ['week', 'close', '--account', String(company.account), '--week', company.open.week]);
    const closed = await readBoth();
    return { about: { commit, schema, at, company, keys, hostKeys }, sql, responses: { open, closed } };
  } finally {
    await running.stop();
    await smtp.close();
  }
}

async function dumped(dataDir: string, migrations: string[]): Promise<string> {
  const password = (await readFile(join(dataDir, 'postgres.password'), 'utf8')).trim();
  const port = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[3];
  const pool = openPool(`postgres://soundings:${password}@127.0.0.1:${port}/soundings`, 1);
  try {
    return await dump(pool, migrations);
  } finally {
    await pool.end({ timeout: 5 });
  }
}

/** Returns the files of the keys. They are needed to read the open week, and protect nothing: no one is in this company. */
async function keysIn(folder: string): Promise<Record<string, string>> {
  const files = (await readdir(folder, { withFileTypes: true })).filter((file) => file.isFile());
  const contents = files.map(
    async ({ name: file }) => [file, await readFile(join(folder, file), 'base64')] as const,
  );
  return Object.fromEntries(await Promise.all(contents));
}
