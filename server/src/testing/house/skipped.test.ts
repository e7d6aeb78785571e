// The end of a test run lists the skipped tests with the reasons.
import { expect, test } from 'vitest';
import { describeSkipped, type Skipped } from './skipped.ts';

const skipped = (name: string, more: Partial<Skipped> = {}): Skipped => ({
  file: 'a.test.ts',
  name,
  project: 'server',
  note: undefined,
  ...more,
});

test('prints nothing if no test was skipped', () => {
  expect(describeSkipped([])).toBe('');
});

test('lists every skipped test once, under its reason', () => {
  const lftp = 'needs lftp (Debian: lftp)';
  const text = describeSkipped([
    skipped('lftp > sends a file', { note: `SKIPPED: ${lftp}` }),
    skipped('naughty strings (skipped: ../shared/data/lists is absent)'),
    skipped('lftp > goes on', { note: lftp }),
    skipped('exports of HR systems (../shared/data/hr-exports) > are read'),
    skipped('every page', { project: 'browser' }),
    skipped('as root > runs as the owner'),
  ]);
  expect(text.trim().split('\n')).toEqual([
    'Tests that were skipped: 6',
    'Skipped: needs lftp (Debian: lftp)',
    '  a.test.ts: lftp > sends a file',
    '  a.test.ts: lftp > goes on',
    'Skipped: ../shared/data/lists is absent',
    '  a.test.ts: naughty strings (skipped: ../shared/data/lists is absent)',
    'Skipped: ../shared/data/hr-exports is absent',
    '  a.test.ts: exports of HR systems (../shared/data/hr-exports) > are read',
    'Skipped: there is no Chromium on this machine',
    '  a.test.ts: every page',
    'Skipped: something is missing that a.test.ts looks for',
    '  a.test.ts: as root > runs as the owner',
  ]);
});
