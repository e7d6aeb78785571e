// Uploads: each file has its own progress and error, and files are sent one at a time in the order in which they were chosen.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { oneAtATime, storedSizeText, withError, without, withProgress, withUpload } from './upload-list.ts';

const people = { name: 'people.csv', size: 1200 };
const two = withUpload(withUpload([], 1, people), 2, people);

test('a file appears without progress', () => {
  expect(two[0]).toEqual({ key: 1, name: 'people.csv', size: 1200, share: 0 });
});

test('two files with the same name have their own progress and error', () => {
  const later = withError(withProgress(two, 2, 0.5), 2, 'too large');
  expect(later).toEqual([two[0], { ...two[1], share: 0.5, error: 'too large' }]);
});

test('a failed file stays until it is dismissed; a file that is no longer in the list does not come back', () => {
  const failed = withError(two, 1, 'too large');
  expect(without(failed, 1)).toEqual([two[1]]);
  expect(withProgress(without(failed, 1), 1, 1)).toEqual([two[1]]);
});

test('files are sent one at a time, in order, also after a failed one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 8 }), fc.scheduler(), async (fails, scheduler) => {
      const run = oneAtATime();
      const happened: string[] = [];
      const all = fails.map((isFailing, i) =>
        run(async () => {
          happened.push(`begin ${i}`);
          await scheduler.schedule(Promise.resolve(), `file ${i}`);
          happened.push(`end ${i}`);
          if (isFailing) throw new Error(`file ${i}`);
        }),
      );
      const settled = Promise.allSettled(all);
      await scheduler.waitFor(settled);
      expect(happened).toEqual(fails.flatMap((_, i) => [`begin ${i}`, `end ${i}`]));
      expect((await settled).map(({ status }) => status === 'rejected')).toEqual(fails);
    }),
    { numRuns: 50 },
  );
});

test('the size of a refused upload is not shown as zero', () => {
  const bytes = (size: number) => `${size} B`;
  expect(storedSizeText({ isKept: true, size: 4 }, bytes)).toBe('4 B');
  expect(storedSizeText({ isKept: false, size: 0 }, bytes)).toBeUndefined();
});
