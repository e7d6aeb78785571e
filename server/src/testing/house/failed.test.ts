// A failed test file may run once more without the load of all others, unless its failure depends on random cases.
import { expect, test } from 'vitest';
import { type Failed, worthAnotherRun } from './failed.ts';

const failed = (file: string, ...messages: string[]): Failed => ({ file, messages });

test('all failed files run once more if none of them has random cases', () => {
  const files = [
    failed('server/src/a.test.ts', 'Test timed out in 120000ms.'),
    failed('console/src/b.e2e.test.ts'),
  ];
  expect(worthAnotherRun(files, 0)).toEqual(['server/src/a.test.ts', 'console/src/b.e2e.test.ts']);
});

test.for([
  [
    'a case that fast-check found',
    failed('server/src/a.test.ts', 'Property failed after 3 tests\n{ seed: 1 }'),
  ],
  ['an attack', failed('server/src/results/disclosure/disclosure.attack.test.ts')],
  ['random uploads and kills', failed('server/src/files/queue.test.ts')],
  ['random requests', failed('server/src/sync/hostile.test.ts')],
] as const)('none runs once more after a failure of %s', ([, one]) => {
  expect(worthAnotherRun([failed('server/src/b.test.ts'), one], 0)).toEqual([]);
});

test('none runs once more after an error outside of the tests', () => {
  expect(worthAnotherRun([failed('server/src/a.test.ts')], 1)).toEqual([]);
});
