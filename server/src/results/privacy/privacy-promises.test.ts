// The privacy report follows what was read: each input value changes the report, in codes and texts, and each limit and promise
// appears and disappears with the setting that it depends on.
import type { PrivacyLimit, PrivacyReport, PrivacyRules } from '@soundings/contract/console/privacy.ts';
import { describe, expect, test } from 'vitest';
import { privacyText } from '../../cli/privacy.ts';
import { type Installation, type PrivacyFacts, privacyReportOf } from './privacy-promises.ts';

const rules: PrivacyRules = {
  threshold: 5,
  distributionThreshold: 10,
  commentThreshold: 12,
  isLive: false,
  noise: 1,
};
const seenAt = '2026-11-18T11:59:00.000Z';

/** An installation with as few limits as possible. */
const facts: PrivacyFacts = {
  account: {
    id: 4,
    name: 'Acme',
    timezone: 'Europe/Stockholm',
    rules,
    groups: 60,
    people: 500,
    manual: 3,
    unreachable: 0,
    cards: 0,
    auditSince: new Date('2025-01-07T00:00:00Z'),
  },
  openWeeks: [],
  breakdowns: [],
  changes: [],
  closedWeeks: { count: 26, first: '2026-05-18', afterCopies: 26 },
  left: [],
  roles: [
    { role: 'Administrator', people: 2, canSignIn: 1 },
    { role: 'Manager', people: 60, canSignIn: 50 },
    { role: 'Auditor', people: 4, canSignIn: 7 },
    { role: 'User', people: 434, canSignIn: 9 },
  ],
  bases: [
    { basis: 'adminOf', managers: 51, groups: 41 },
    { basis: 'inheritedAdminOf', managers: 8, groups: 30 },
    { basis: 'interestOf', managers: 6, groups: 11 },
    { basis: null, managers: 13, groups: 0 },
  ],
  tokens: [
    {
      name: 'Power BI',
      createdAt: '2026-03-01T09:00:00.000Z',
      lastUsedAt: '2026-11-17T06:00:00.000Z',
      expiresAt: '2027-12-31T23:59:00.000Z',
    },
  ],
  exports: [],
  database: { walBytes: 2 ** 30, isArchived: false, replicas: 0 },
};
const installation: Installation = {
  keys: {
    place: 'file',
    path: '/data/keys/answers',
    state: 'ready',
    epoch: 7,
    exportedAt: null,
    exportedUntil: null,
    inDatabaseUntil: null,
    processes: [{ name: 'one', epoch: 8, seenAt, isBehind: false }],
  },
  version: '1.2.3',
  fileDays: 30,
  hasMail: true,
  publicUrl: 'https://surveys.example.com',
  now: Date.parse('2026-11-18T12:00:00Z'),
};
/** The same with every limit, so that every value is read. */
const troubled: { facts: PrivacyFacts; installation: Installation } = {
  facts: {
    ...facts,
    account: { ...facts.account, unreachable: 17, rules: { ...rules, isLive: true, noise: 0 } },
    openWeeks: [
      { week: '2026-11-16', people: 480, rules: { ...rules, threshold: 6, isLive: true, noise: 0 } },
    ],
    left: ['answers'],
    exports: [
      { week: '2026-W47', origin: 'console', times: 2, people: 120, lastAt: '2026-11-16T09:00:00.000Z' },
    ],
  },
  installation: {
    ...installation,
    keys: {
      place: 'database',
      path: null,
      state: 'missing',
      epoch: 7,
      exportedAt: '2026-11-10T10:00:00.000Z',
      exportedUntil: '2026-11-11T10:00:00.000Z',
      inDatabaseUntil: '2026-11-09T10:00:00.000Z',
      processes: [{ name: 'one', epoch: 5, seenAt, isBehind: true }],
    },
    publicUrl: 'http://surveys.example.com',
  },
};

type Path = (string | number)[];

/** Returns the paths of all values that are not objects or lists. */
function leavesOf(value: unknown, path: Path = []): Path[] {
  if (value === null || typeof value !== 'object' || value instanceof Date) return [path];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce((inner, key) => (inner as Record<string, unknown>)[key], value);

/** Returns a copy with another value at one path. */
function changedAt<T>(value: T, path: Path): T {
  const copy = structuredClone(value);
  const last = path.at(-1) as string;
  const holder = valueAt(copy, path.slice(0, -1)) as Record<string, unknown>;
  holder[last] = otherThan(holder[last], last);
  return copy;
}

function otherThan(value: unknown, name: string): unknown {
  if (name === 'noise') return value === 0 ? 1 : 0;
  if (typeof value === 'number') return value + 86_400_001;
  if (typeof value === 'boolean') return !value;
  if (value === null) return '2024-02-03T04:05:06.000Z';
  if (value instanceof Date) return new Date('2024-02-03T04:05:06Z');
  const others: Record<string, string> = {
    week: '2025-03-03',
    first: '2025-03-03',
    publicUrl: 'http://other.example.com',
    timezone: 'Asia/Tokyo',
    origin: 'command',
    place: value === 'file' ? 'database' : 'file',
    state: value === 'ready' ? 'missing' : 'ready',
    role: 'Somebody',
    basis: 'nothing',
  };
  if (others[name] !== undefined) return others[name];
  return /^\d{4}-\d\d-\d\dT/.test(String(value)) ? '2024-02-03T04:05:06.000Z' : `other ${String(value)}`;
}

const reportOf = (given: typeof troubled) => privacyReportOf(given.facts, given.installation);

describe('every value that is read', () => {
  const leaves = leavesOf(troubled)
    .map((path) => [path.join('.'), path] as const)
    // Managers without groups have none.
    .filter(([name]) => name !== 'facts.bases.3.groups')
    // Mentioned only if the keys are in a file, see below.
    .filter(([name]) => name !== 'facts.closedWeeks.afterCopies');

  test('there are many', () => expect(leaves.length).toBeGreaterThan(60));

  test.each(leaves)('changing %s changes the report and its text', (_, path) => {
    const [before, after] = [troubled, changedAt(troubled, path)].map(reportOf) as [
      PrivacyReport,
      PrivacyReport,
    ];
    expect(after).not.toEqual(before);
    expect(privacyText(after)).not.toBe(privacyText(before));
  });

  test('every value of the report appears in the text', () => {
    const report = reportOf(troubled);
    // These decide which sentence is shown, and where.
    const left = leavesOf(report)
      .filter((path) => !['weight', 'code'].includes(path.at(-1) as string))
      .filter((path) => valueAt(report, path) !== null && !path.includes('sees'))
      .filter((path) => privacyText(changedAt(report, path)) === privacyText(report));
    expect(left.map((path) => path.join('.'))).toEqual([]);
  });
});

type Changes = { facts?: Partial<PrivacyFacts>; installation?: Partial<Installation> };
const changed = ({ facts: more, installation: own }: Changes) =>
  privacyReportOf({ ...facts, ...more }, { ...installation, ...own });
const codes = (report: PrivacyReport) => report.limits.map(({ code }) => code);
const limit = (report: PrivacyReport, code: PrivacyLimit['code']) =>
  report.limits.find((one) => one.code === code);
const withRules = (own: Partial<PrivacyRules>): Changes => ({
  facts: { account: { ...facts.account, rules: { ...rules, ...own } } },
});
const openWeek = (own: Partial<PrivacyRules> = {}): Changes => ({
  facts: { openWeeks: [{ week: '2026-11-16', people: 480, rules: { ...rules, ...own } }] },
});
const ofKeys = (own: Partial<Installation['keys']>): Changes => ({
  installation: { keys: { ...installation.keys, ...own } },
});

describe('limits', () => {
  test('with the safest settings, only those of any survey are left', () => {
    expect(codes(changed({}))).toEqual(['betweenWeeks', 'unanimity', 'colleagues', 'invented']);
  });

  test('weeks with several noise levels list what can be guessed at each', () => {
    const { limits } = changed({
      facts: { ...withRules({ noise: 2 }).facts, ...openWeek({ noise: 0 }).facts },
    });
    expect(limits.filter(({ code }) => code === 'betweenWeeks')).toMatchObject([
      { noise: 0, isSetting: false, weeks: ['2026-W47'] },
      { noise: 2, isSetting: true, weeks: [] },
    ]);
  });

  test.each<[string, Changes, PrivacyLimit]>([
    [
      'a threshold of 1',
      withRules({ threshold: 1 }),
      { weight: 'broken', code: 'notAnonymous', isSetting: true, weeks: [] },
    ],
    [
      'a threshold of 1 in an open week',
      openWeek({ threshold: 1 }),
      { weight: 'broken', code: 'notAnonymous', isSetting: false, weeks: ['2026-W47'] },
    ],
    [
      'live results',
      withRules({ isLive: true }),
      { weight: 'weaker', code: 'live', threshold: 5, isSetting: true, weeks: [] },
    ],
    [
      'live results in an open week',
      openWeek({ isLive: true, threshold: 7 }),
      { weight: 'weaker', code: 'live', threshold: 7, isSetting: false, weeks: ['2026-W47'] },
    ],
    [
      'no noise',
      withRules({ noise: 0 }),
      {
        weight: 'weaker',
        code: 'betweenWeeks',
        noise: 0,
        right: 81,
        shuffled: 99,
        commonest: 40,
        isSetting: true,
        weeks: [],
      },
    ],
    [
      'noise, which hides less where groups change',
      withRules({ noise: 1 }),
      {
        weight: 'inherent',
        code: 'betweenWeeks',
        noise: 1,
        right: 46,
        shuffled: 75,
        commonest: 40,
        isSetting: true,
        weeks: [],
      },
    ],
    [
      'more noise',
      withRules({ noise: 2 }),
      {
        weight: 'inherent',
        code: 'betweenWeeks',
        noise: 2,
        right: 43,
        shuffled: 61,
        commonest: 40,
        isSetting: true,
        weeks: [],
      },
    ],
    [
      'rows of closed weeks',
      { facts: { left: ['links'] } },
      { weight: 'broken', code: 'leftAfterClosing', tables: ['links'] },
    ],
    [
      'a missing key',
      ofKeys({ state: 'missing' }),
      { weight: 'broken', code: 'keysMissing', path: '/data/keys/answers', weeks: [] },
    ],
    [
      'keys in the database',
      ofKeys({ place: 'database', path: null }),
      { weight: 'weaker', code: 'keysInDatabase', walBytes: 2 ** 30, isArchived: false, replicas: 0 },
    ],
    [
      'a process that is behind',
      ofKeys({
        processes: [
          { name: 'old', epoch: 6, seenAt, isBehind: true },
          { name: 'new', epoch: 7, seenAt, isBehind: false },
        ],
      }),
      { weight: 'broken', code: 'keysBehind', processes: [{ name: 'old', seenAt }] },
    ],
    [
      'an exported key',
      ofKeys({ exportedAt: seenAt }),
      { weight: 'weaker', code: 'keysExported', lastAt: seenAt },
    ],
    [
      'an exported key that was replaced',
      ofKeys({ exportedAt: '2026-11-01T10:00:00.000Z', exportedUntil: seenAt }),
      { weight: 'weaker', code: 'keysWereExported', lastAt: '2026-11-01T10:00:00.000Z', until: seenAt },
    ],
    [
      'keys that were in the database',
      ofKeys({ inDatabaseUntil: seenAt }),
      { weight: 'weaker', code: 'keysWereInDatabase', until: seenAt },
    ],
    [
      'no mail server',
      { installation: { hasMail: false } },
      { weight: 'weaker', code: 'noMail', people: 500 },
    ],
    [
      'people without an address',
      { facts: { account: { ...facts.account, unreachable: 12 } } },
      { weight: 'weaker', code: 'noAddress', people: 12, all: 500 },
    ],
    [
      'handed-out links',
      {
        facts: {
          exports: [
            { week: '2026-W47', origin: 'console', times: 1, people: 120, lastAt: seenAt },
            { week: null, origin: 'command', times: 1, people: null, lastAt: seenAt },
          ],
        },
      },
      { weight: 'weaker', code: 'linksHandedOut', people: 120, weeks: 8 },
    ],
    [
      'printed cards',
      { facts: { account: { ...facts.account, cards: 40 } } },
      { weight: 'weaker', code: 'cardsPrinted', people: 40 },
    ],
    [
      'plain HTTP',
      { installation: { publicUrl: 'http://surveys.example.com' } },
      { weight: 'weaker', code: 'plainHttp', address: 'http://surveys.example.com' },
    ],
    ['an open week', openWeek(), { weight: 'inherent', code: 'weekOpen', weeks: ['2026-W47'], people: 480 }],
    ['a threshold', withRules({ threshold: 7 }), { weight: 'inherent', code: 'unanimity', threshold: 7 }],
    [
      'a threshold, again',
      withRules({ threshold: 7 }),
      { weight: 'inherent', code: 'colleagues', others: 6 },
    ],
    [
      'people who were created manually',
      { facts: { account: { ...facts.account, manual: 41 } } },
      { weight: 'inherent', code: 'invented', administrators: 2, manual: 41, people: 500 },
    ],
  ])('%s', (_, changes, wanted) => {
    expect(limit(changed(changes), wanted.code)).toEqual(wanted);
  });

  test('are sorted by weight', () => {
    const weights = reportOf(troubled).limits.map(({ weight }) => weight);
    expect(weights).toEqual(weights.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
    expect(new Set(weights).size).toBe(3);
  });
  const order = ['broken', 'weaker', 'inherent'];

  test('the server itself does not count as a network', () => {
    for (const publicUrl of ['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080'])
      expect(codes(changed({ installation: { publicUrl } }))).not.toContain('plainHttp');
  });
});

describe('what is never shown', () => {
  const never = (changes: Changes) => changed(changes).never;

  test('follows from the thresholds', () => {
    expect(never({})).toEqual([
      { code: 'figures', below: 5 },
      { code: 'differences', below: 5 },
      { code: 'distributions', below: 10 },
      { code: 'comments', below: 12 },
      { code: 'openWeek' },
      { code: 'whoAnswered', step: 10 },
      { code: 'whoSaidWhat', closedWeeks: 26 },
    ]);
  });

  test('uses the lowest thresholds of the account and the open weeks', () => {
    expect(
      never(openWeek({ threshold: 3, distributionThreshold: 6, commentThreshold: 40 })).slice(0, 4),
    ).toEqual([
      { code: 'figures', below: 3 },
      { code: 'differences', below: 3 },
      { code: 'distributions', below: 6 },
      { code: 'comments', below: 12 },
    ]);
  });

  test.each<[string, Partial<Installation['keys']>]>([
    ['the keys had left the database', { inDatabaseUntil: seenAt }],
    ['an exported key was replaced', { exportedAt: seenAt, exportedUntil: seenAt }],
  ])('lists who said what for weeks that started after %s', (_, keys) => {
    const closedWeeks = { ...facts.closedWeeks, afterCopies: 4 };
    expect(never({ ...ofKeys(keys), facts: { closedWeeks } }).at(-1)).toEqual({
      code: 'whoSaidWhat',
      closedWeeks: 4,
    });
  });

  test.each<[string, Changes, string[]]>([
    ['nothing of figures where anything is not anonymous', withRules({ threshold: 1 }), ['whoSaidWhat']],
    ['the same in an open week', openWeek({ threshold: 1 }), ['whoSaidWhat']],
  ])('%s', (_, changes, left) => {
    expect(never(changes).map(({ code }) => code)).toEqual(left);
  });

  test.each<[string, Changes, string]>([
    ['live results', withRules({ isLive: true }), 'openWeek'],
    ['an open live week', openWeek({ isLive: true }), 'openWeek'],
    ['keys in the database', ofKeys({ place: 'database' }), 'whoSaidWhat'],
    ['a missing key', ofKeys({ state: 'missing' }), 'whoSaidWhat'],
    [
      'a process that is behind',
      ofKeys({ processes: [{ name: 'old', epoch: 6, seenAt, isBehind: true }] }),
      'whoSaidWhat',
    ],
    ['an exported key, however long ago', ofKeys({ exportedAt: '2020-01-01T00:00:00.000Z' }), 'whoSaidWhat'],
    ['rows of closed weeks', { facts: { left: ['links'] } }, 'whoSaidWhat'],
  ])('%s removes a promise', (_, changes, code) => {
    expect(never({}).some((one) => one.code === code)).toBe(true);
    expect(never(changes).some((one) => one.code === code)).toBe(false);
  });
});

test("lists for each role what the console's operations let it see", () => {
  const sees = Object.fromEntries(changed({}).roles.map((one) => [one.role, one.sees]));
  expect(sees).toEqual({
    Administrator: ['results', 'people', 'settings', 'audit', 'report', 'profile'],
    Manager: ['results', 'report', 'profile'],
    Auditor: ['report', 'profile'],
    User: ['profile'],
  });
});
