// The package as integrators get it: it installs into an empty project, its types check, and the examples of its README run, in each Node of
// this machine.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync, realpathSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openLog } from '@soundings/server/src/base/log.ts';
import {
  answerLine,
  importLines,
  kpi,
  later,
  question,
  round,
} from '@soundings/server/src/testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '@soundings/server/src/testing/world.ts';
import { apply, unit } from '@soundings/server/src/testing/organizations.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
let folder: string;
let project: string;
let world: World;

function distinct(paths: string[]): string[] {
  return [...new Set(paths.map((one) => realpathSync(one)))];
}

/** The programs called node that this machine has, besides the project's own. npm runs with any of them. */
const nodes = distinct([
  process.execPath,
  ...(process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((one) => !one.includes('node_modules'))
    .map((one) => join(one, 'node'))
    .filter((one) => existsSync(one)),
]);

async function pack(into: string): Promise<Buffer> {
  await mkdir(into, { recursive: true });
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', into, join(folder, 'built')];
  const { stdout } = await run('npm', args);
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return readFile(join(into, filename));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'soundings-package-'));
  await run(process.execPath, [join(root, 'client/build.js'), join(folder, 'built')]);
  project = join(folder, 'project');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'client.tgz'), await pack(join(folder, 'first')));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, 'client.tgz')], {
    cwd: project,
  });
  world = await openWorld(openLog('fatal'), {}, () => later);
});
afterAll(async () => {
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Checks the types of programs with a compiler. Returns what it reports. */
async function checked(files: string[], compiler: string, more: object): Promise<string> {
  const compilerOptions = { strict: true, module: 'nodenext', noEmit: true, target: 'es2022', ...more };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const { stdout } = await run(process.execPath, [join(compiler, 'bin/tsc'), '-p', project]).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

const compilers = ['node_modules/typescript', 'server/node_modules/typescript'].map((path) =>
  join(root, path),
);

/** Requests that do not compile. If one did, the compiler would report it. */
const wrong = `
  import { type FeedRow, type Plan, type PushResult, Soundings } from '@soundings/client';
  declare const soundings: Soundings;
  declare const plan: Plan;
  declare const result: PushResult;
  // @ts-expect-error the token is missing
  new Soundings({ url: 'https://soundings.example.com' });
  // @ts-expect-error the group is missing
  await soundings.results({ subgroups: true });
  // @ts-expect-error both days of a period
  await soundings.results({ group: 1, period: { from: '2026-01-01' } });
  // @ts-expect-error no such metric
  soundings.feed({ metrics: ['kpis'] });
  // @ts-expect-error a push without a decision
  await soundings.organization.push({ users: [] }, {});
  // @ts-expect-error the client decides what is a dry run
  await soundings.organization.plan({}, { settings: { validateOnly: false } });
  // @ts-expect-error a user has a last name
  await soundings.organization.plan({ users: [{ externalId: '1', firstName: 'A' }] });
  // @ts-expect-error only of an applied push
  result.runId;
  if (result.outcome === 'applied') result.runId satisfies string | undefined;
  if (result.outcome === 'plan changed') result.current satisfies Plan;
  plan.limits[0]?.setting satisfies 'maxUsersCreated' | 'maxUsersUpdated' | 'maxUsersDeleted' | 'maxGroupsCreated' | 'maxGroupsUpdated' | 'maxGroupsDeleted' | undefined;
  for await (const row of soundings.feed()) {
    row satisfies FeedRow;
    // @ts-expect-error a value may be null
    row.value.toFixed();
  }
  for await (const entry of soundings.audit()) entry.position satisfies number;
  const [kpi] = await soundings.kpis();
  // @ts-expect-error there may be none
  kpi.id;
`;

describe('the package', () => {
  test('has the same bytes each time, and only what it needs', async () => {
    expect((await pack(join(folder, 'second'))).equals(await readFile(join(folder, 'client.tgz')))).toBe(
      true,
    );
    const manifest = JSON.parse(
      await readFile(join(project, 'node_modules/@soundings/client/package.json'), 'utf8'),
    );
    expect(manifest).toMatchObject({ license: 'Apache-2.0', engines: { node: '>=20' } });
    expect([manifest.private, manifest.dependencies, manifest.scripts]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const { stdout } = await run('tar', ['-tzf', join(folder, 'client.tgz')]);
    const others = stdout
      .trim()
      .split('\n')
      .filter((one) => !/^package\/[\w-]+(\.d\.ts|\.js)$/.test(one));
    expect(others.toSorted()).toEqual(['package/LICENSE', 'package/README.md', 'package/package.json']);
  });

  test.each(compilers)('allows what it documents, and nothing else, for %s', async (compiler) => {
    await writeFile(join(project, 'wrong.ts'), wrong);
    await writeFile(join(project, 'readme.ts'), await examples());
    const types = join(project, 'node_modules/@types');
    await rm(types, { recursive: true, force: true });
    const strict = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
    // In a browser, without the types of Node.
    const dom = { lib: ['es2022', 'dom', 'dom.iterable'], types: [] };
    expect(await checked(['wrong.ts'], compiler, { ...strict, ...dom })).toBe('');
    await mkdir(types, { recursive: true });
    await cp(join(root, 'node_modules/@types/node'), join(types, 'node'), { recursive: true });
    await symlink(join(root, 'node_modules/undici-types'), join(project, 'node_modules/undici-types')).catch(
      () => {},
    );
    const node = { lib: ['es2022'], types: ['node'] };
    expect(await checked(['wrong.ts', 'readme.ts'], compiler, { ...strict, ...node })).toBe('');
  });
});

/** Returns the examples of the README as one program. */
async function examples(): Promise<string> {
  const readme = await readFile(join(root, 'client/README.md'), 'utf8');
  return [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code]) => code).join('\n');
}

/** Creates an account with a group and a week of results. */
async function companyOf(): Promise<TestAccount> {
  const account = await world.account();
  await apply(account, { groups: [unit('team')] });
  const people = Array.from({ length: 6 }, (_, i) => `person ${i}`);
  await importLines(world, account.id, [
    question('mood', 1),
    kpi('energy', ['mood']),
    round('2026-W46', 'team', ['mood'], Object.fromEntries(people.map((one) => [one, ['team']]))),
    ...people.map((one) => answerLine('2026-W46', 'team', one, 'mood', 4)),
  ]);
  return account;
}

describe('the examples of the README', () => {
  test.each(nodes)('run with %s', async (node) => {
    const account = await companyOf();
    const [team] = await account.groups();
    await writeFile(join(project, 'readme.js'), stripTypeScriptTypes(await examples()));
    const environment = { SOUNDINGS_URL: world.address, SOUNDINGS_TOKEN: account.token };
    const { stdout, stderr } = await run(node, ['readme.js'], { cwd: project, env: environment });
    expect(stderr).toBe('');
    expect(stdout).toContain(`energy ${team?.id} 2026-W46 0.75\n`);
    expect(stdout).toMatch(/^energy team 2026-W46 0\.75$/m);
    expect(stdout).toMatch(/^applied$/m);
    expect(stdout).toMatch(/^applied .*people\.csv/m);
    expect(stdout).toMatch(/^\/data\/groups\/0\/externalId /m);
    expect(stdout).not.toContain(account.token);
  });
});
