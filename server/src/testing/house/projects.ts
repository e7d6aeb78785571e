// Which project of vitest.config.ts a test file runs in. What the file imports decides, so no one has to list it anywhere.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The test files that take longest, longest first within each project. If one of them started last, the other workers would wait for it. */
export const longestFirst: readonly string[] = [
  'bench/src/smoke.e2e.test.ts',
  'server/src/console/core/pages.e2e.test.ts',
  'server/src/console/results/results.e2e.test.ts',
  'server/src/console/access/administering.e2e.test.ts',
  'server/src/console/runs/runs.e2e.test.ts',
  'server/src/console/session/signing-in.e2e.test.ts',
  'server/src/console/asking/first-start.e2e.test.ts',
  'server/src/answers/entry/kiosk.e2e.test.ts',
  'server/src/answers/answering.e2e.test.ts',
  'server/src/console/asking/asking.e2e.test.ts',
  'server/src/console/results/segments.e2e.test.ts',
  'server/src/console/reports/reports.e2e.test.ts',
  'server/src/answers/slow-network.e2e.test.ts',
  'server/src/http/reference/reference.e2e.test.ts',
  'server/src/citus.running.test.ts',
  'server/src/replica.test.ts',
  'server/src/languages.e2e.test.ts',
  'server/src/console/people/cards.e2e.test.ts',
  'server/src/examples.test.ts',
  'server/src/failures.test.ts',
  'server/src/http/reference/code-samples.test.ts',
  'server/src/http/readers.test.ts',
  'server/src/console/added-figures.attack.test.ts',
  'server/src/sealing/forgetting.attack.test.ts',
  'client/src/killed.failures.test.ts',
  'server/src/sync/parts/parts.killed.test.ts',
  'server/src/webhooks.failures.test.ts',
  'server/src/sync/hostile.test.ts',
  'server/src/rolling-upgrade.failures.test.ts',
  'server/src/results/data/statistics.reference.test.ts',
  'server/src/surroundings.failures.test.ts',
  'server/src/results/in-the-week.attack.test.ts',
  'server/src/results/data/stories.attack.test.ts',
  'server/src/asking.failures.test.ts',
  'server/src/sealing/forgetting.mutants.attack.test.ts',
  'server/src/db/embedded.test.ts',
  'server/src/rounds/messages/messages.test.ts',
  'server/src/console/runs/runs.test.ts',
  'server/src/sync/real-data.test.ts',
  'server/src/db/embedded.running.test.ts',
  'server/src/files/storage.interrupted.test.ts',
  'server/src/cli/cli.accounts.test.ts',
  'server/src/backup/backup.test.ts',
  'server/src/sftp/clients.test.ts',
  'client/src/package.test.ts',
  'server/src/testing/house/release.test.ts',
  'server/src/sheets/sheet.test.ts',
  'server/src/history/history.large.test.ts',
  'server/src/files/process.values.test.ts',
  'server/src/http/bounds.attack.test.ts',
  'server/src/cli/cli.test.ts',
  'server/src/results/segments/segments.test.ts',
  'server/src/files/process.test.ts',
  'server/src/operating/doctor.test.ts',
  'server/src/db/migrate.test.ts',
  'server/src/accounts/audit-chain/audit.test.ts',
  'server/src/sync/organization.requests.test.ts',
  'server/src/upgrade.test.ts',
  'server/src/results/disclosure/between-weeks.attack.test.ts',
  'server/src/console/people/invitations.test.ts',
  'server/src/rounds/messages/bounces.test.ts',
  'server/src/sheets/confined.test.ts',
  'server/src/console/session/takeover.orders.attack.test.ts',
  'server/src/console/reports/reports.test.ts',
  'server/src/http/server.organization.test.ts',
  'server/src/cli/cli.organization.test.ts',
  'server/src/simulation/simulation.test.ts',
  'server/src/sync/administrators.attack.test.ts',
  'server/src/history/history.invalid-lines.test.ts',
  'server/src/results/data/feed.test.ts',
  'server/src/cli/cli.surveys.test.ts',
  'server/src/mail/mailer.test.ts',
  'server/src/http/isolation.test.ts',
  'server/src/files/process.turns.test.ts',
  'server/src/history/history.test.ts',
  'server/src/focus/focus.test.ts',
  'server/src/proxies.test.ts',
  'server/src/results/close-week.test.ts',
  'server/src/sftp/server.limits.test.ts',
  'server/src/sealing/forgetting.killed.attack.test.ts',
  'server/src/digests/digests.test.ts',
  'server/src/mail.failures.test.ts',
];

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** In the order in which they run: the one with the shortest files is last, so that no worker waits for another one at the end. */
export const projectNames = ['browser', 'server', 'mocked', 'house', 'unit'] as const;
export type ProjectName = (typeof projectNames)[number];

const house = /^server\/src\/house(\.[a-z]+)?\.test\.ts$/;
const browser = 'server/src/testing/browser/browser.ts';
/** A file that imports one of these uses a database, a process or a thread. */
const outside = ['server/src/testing/postgres.ts', 'node:child_process', 'node:worker_threads'];

/** Returns the paths of all test files, from the root of the repository, by the project that they run in. */
export function testsByProject(): Record<ProjectName, string[]> {
  const files = globSync('{contract,client,console,server,bench}/src/**/*.test.{ts,tsx}', {
    cwd: root,
  }).toSorted();
  const byName = Map.groupBy(files, projectOf);
  return Object.fromEntries(projectNames.map((name) => [name, byName.get(name) ?? []])) as never;
}

/**
 * Returns the project of a test file: `browser` if it opens a browser; `mocked` if it replaces a module (`vi.mock`), so that it
 * can't share modules with other files; `server` if it uses a database, a process or a thread, or is an attack by random cases
 * (`*.attack.test.ts`), which takes long; otherwise `unit`.
 */
export function projectOf(file: string): ProjectName {
  if (house.test(file)) return 'house';
  const imported = importedBy(file);
  if (imported.has(browser)) return 'browser';
  if (textOf(file).includes('vi.mock(')) return 'mocked';
  const isOutside = outside.some((one) => imported.has(one));
  return isOutside || file.endsWith('.attack.test.ts') ? 'server' : 'unit';
}

/** Returns everything that is loaded when a file is imported. */
function importedBy(file: string, found = new Set<string>()): Set<string> {
  for (const one of importsOf(file)) {
    if (found.has(one)) continue;
    found.add(one);
    if (existsSync(join(root, one))) importedBy(one, found);
  }
  return found;
}

const known = new Map<string, string[]>();

/** Returns what a file imports, without types: paths of our own files, and the names of packages. */
function importsOf(file: string): string[] {
  const before = known.get(file);
  if (before) return before;
  const statements = (/\.tsx?$/.test(file) ? textOf(file) : '').matchAll(
    /^(?:import|export)\s(?!type\s)(?:[^;']*?\sfrom\s+)?'([^']+)'|import\('([^']+)'\)/gm,
  );
  const imports = [...statements].map(([, named, dynamic]) => pathOf(file, (named ?? dynamic) as string));
  known.set(file, imports);
  return imports;
}

const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

const pathOf = (file: string, specifier: string): string =>
  specifier.startsWith('.')
    ? normalize(join(dirname(file), specifier))
    : specifier
        .replace(/^@soundings\/(client|contract)\//, '$1/src/')
        .replace(/^@soundings\/(?=server\/)/, '');
