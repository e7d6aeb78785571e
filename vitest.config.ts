import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import {
  longestFirst,
  type ProjectName,
  projectNames,
  testsByProject,
} from './server/src/testing/house/projects.ts';
import { FailedReporter } from './server/src/testing/house/failed.ts';
import { SkippedReporter } from './server/src/testing/house/skipped.ts';
import { folderOfRun } from './server/src/testing/folder-of-run.ts';

// Compiled modules are kept: each process that a test starts is ready in half the time.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/modules');

/**
 * Runs one project after another, and the longest files of each first. A worker keeps its modules only if the next file is of
 * the same project.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = longestFirst.findIndex((path) => moduleId.endsWith(path));
      return found < 0 ? longestFirst.length : found;
    };
    const projectOf = ({ project: { name } }: TestSpecification) => projectNames.indexOf(name as ProjectName);
    // oxlint-disable-next-line unicorn/no-array-sort -- the runner's own, of that name
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => projectOf(a) - projectOf(b) || place(a) - place(b));
  }
}

const tests = testsByProject();
/** A test may take long on a busy machine. What it waits for (expect.poll) may, too. */
const timeouts = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 60_000 } } };
/** A worker loads each module once, for all its test files. So what a module keeps stays from one file to the next. */
const shared = { isolate: false };
/** Node loads the sources itself, as it does outside of tests. Transforming them would take longer, and their code would be slower. */
const native = { experimental: { viteModuleRunner: false, nodeLoader: false } };
const withDatabase = {
  globalSetup: ['server/src/testing/postgres.ts', 'server/src/testing/service-build.ts'],
  setupFiles: ['server/src/testing/service-build.setup.ts'],
  env: { TMPDIR: folderOfRun() },
};

const project = <T extends object>(name: ProjectName, more: T) => ({
  test: { name, include: tests[name], ...more },
});

/** Where .ci/suite finds the files that failed. */
const failedFiles = process.env['FAILED_FILES'];

export default defineConfig({
  test: {
    // Twice the cores that the suite is written for: a worker often waits for another process.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    coverage: {
      include: ['{contract,client,console,server}/src/**/*.{ts,tsx}'],
      exclude: ['server/src/testing/**', '**/*.fixture.ts'],
      reporter: ['text-summary', 'html'],
      reportsDirectory: 'node_modules/.cache/coverage',
    },
    reporters: ['default', new SkippedReporter(), ...(failedFiles ? [new FailedReporter(failedFiles)] : [])],
    projects: [
      project('house', { ...timeouts, ...native }),
      project('unit', { ...timeouts, ...shared, ...native }),
      project('mocked', { ...timeouts, ...withDatabase }),
      project('server', { ...timeouts, ...shared, ...native, ...withDatabase }),
      project('browser', {
        ...timeouts,
        ...shared,
        ...native,
        setupFiles: withDatabase.setupFiles,
        globalSetup: [
          ...withDatabase.globalSetup,
          'server/src/testing/browser/browser.ts',
          'server/src/testing/browser/console-build.ts',
        ],
      }),
    ],
  },
});
