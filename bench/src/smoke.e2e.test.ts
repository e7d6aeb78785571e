// Every benchmark still works: at its smallest size, on one shared service, it completes, and its rows have a floor if they name one.
// Times at this size mean nothing, so no target is checked.
import { hasBrowser, noBrowser } from '@soundings/server/src/testing/browser/browser.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { benches, trials } from './benches.ts';
import type { BenchRow } from './measuring/measure.ts';
import { type Service, startService } from './measuring/service.ts';
import { hasSftp, noSftp } from './sftp.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** The reason why a benchmark can't run on this machine. */
const obstacles: Record<string, () => string | undefined> = {
  console: () => (hasBrowser() ? undefined : noBrowser),
  'console:scale': () => (hasBrowser() ? undefined : noBrowser),
  results: () => (hasBrowser() ? undefined : noBrowser),
  sftp: () => (hasSftp() ? undefined : noSftp),
};

const isPositive = (text: string) => Number.parseFloat(text) > 0 && Number.isFinite(Number.parseFloat(text));

/** Without OpenSSH's server there is no floor, and the row says so. */
const isSane = ({ floor, ratio }: BenchRow) =>
  floor === undefined || floor === 'no sshd'
    ? ratio === undefined
    : isPositive(floor) && (ratio === undefined || isPositive(ratio));

// `data:small` is `data` with other sizes.
const { 'data:small': _, ...others } = trials;

// The backup comes first, because it copies what the others leave in the shared database.
const backup = benches['backup'] as (typeof benches)[string];

test.for(Object.entries({ backup, ...benches, ...others }))(
  '%s works',
  async ([name, { smoke }], { skip }) => {
    const obstacle = obstacles[name]?.();
    if (obstacle !== undefined) skip(`SKIPPED: ${obstacle}`);
    const shared = { ...service, stop: async () => {} };
    const { rows } = await smoke(
      () => {},
      async () => shared,
    );
    expect(rows).not.toEqual([]);
    expect(rows.filter((row) => !isSane(row))).toEqual([]);
    expect(rows.filter(({ target, met }) => target !== undefined || met !== undefined)).toEqual([]);
    // Even a few hostile inputs show failures of the service and errors in its log, on a machine of any speed.
    const mustBeZero = name === 'hostile' ? rows.slice(0, 2) : [];
    expect(mustBeZero.filter(({ measured }) => measured !== '0')).toEqual([]);
  },
);
