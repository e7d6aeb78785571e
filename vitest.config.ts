import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // As many as the cores that the suite is made for; by itself vitest would leave one of two idle.
    maxWorkers: 2,
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
