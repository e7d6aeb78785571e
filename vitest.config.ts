import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest, longest first: begun last, one of them would keep one worker busy while the other has nothing left. */
const longest = [
  'bench/src/smoke.test.ts',
  'sync/hostile.test.ts',
  'server/src/failures.test.ts',
  'sealing/forgetting.attack.test.ts',
  'console/pages.e2e.test.ts',
  'server/src/cli.test.ts',
  'server/src/cli.keys.test.ts',
  'console/runs.e2e.test.ts',
  'console/signing-in.e2e.test.ts',
  'rolling.failures.test.ts',
  'surroundings.failures.test.ts',
  'asking.failures.test.ts',
  'files/queue.test.ts',
  'files/queue.test.ts',
  'http/readers.test.ts',
  'answers/browser.test.ts',
  'db/embedded.test.ts',
  'http/isolation.test.ts',
  'results/anonymity.test.ts',
  'console/asking.e2e.test.ts',
  'console/administering.e2e.test.ts',
  'sync/real-data.test.ts',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = longest.findIndex((name) => moduleId.endsWith(name));
      return found < 0 ? longest.length : found;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- the runner's own, of that name
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    // One more than the cores that the suite is made for: now and then each waits for another process.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'house',
          include: ['server/src/house.test.ts'],
        },
      },
      {
        test: {
          name: 'all',
          include: ['{contract,server,bench}/src/**/*.test.ts'],
          exclude: ['server/src/house.test.ts', 'node_modules'],
          globalSetup: [
            'server/src/testing/postgres.ts',
            'server/src/testing/browser.ts',
            'server/src/testing/console-build.ts',
          ],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
