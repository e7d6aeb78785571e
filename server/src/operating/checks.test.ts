// The checks of soundings doctor on facts: each condition that an operator has to act on is reported, and nothing else is.
import { describe, expect, test } from 'vitest';
import type { DatabaseFacts } from '../db/database-facts.ts';
import {
  checkBackup,
  checkClock,
  checkDatabase,
  checkReplica,
  type DatabaseState,
} from './database-check.ts';
import { checkDisk, diskUses } from './disk-check.ts';
import { type Finding, reportOn, passwordsIn, redacted } from './findings.ts';
import { checkJobs, type JobsState } from './jobs-check.ts';
import { checkKeyFiles, checkKeys } from './keys-check.ts';
import { checkAddressSettings, checkPublicAnswer, type PublicAnswer } from './proxy-check.ts';
import { checkHostKeys, checkHttpPort, checkSftpPort } from './sftp-check.ts';

/** Returns what is not in order, as outcome and code. */
const faults = (findings: Finding[]) =>
  findings.filter(({ outcome }) => outcome !== 'ok').map(({ outcome, code }) => `${outcome} ${code}`);

const facts: DatabaseFacts = {
  version: '18.4',
  versionNumber: 180_004,
  encoding: 'UTF8',
  sizeBytes: 9e6,
  isReadOnly: false,
  role: { isSuperuser: false, canCreateTables: true, canCreateSchemas: true, canCreateTemporaryTables: true },
  foreignTables: [],
  distribution: { citus: null, isDistributed: false, undistributed: [] },
  connections: { free: 90, max: 97 },
  isEncrypted: false,
  isRemote: false,
  schema: { latest: '0054_x.sql', missing: [], unknown: [], isTooNew: false },
};
const state = {
  isEmbedded: false,
  isServiceRunning: false,
  ignoredSettings: [],
  hasSpace: true,
  backupDir: '/b',
};
const database = (other: Partial<DatabaseFacts>, more: Partial<DatabaseState> = {}) =>
  faults(checkDatabase({ facts: { ...facts, ...other }, ...state, ...more }));

test('a warning after eight days without a backup, counted from the first account if there has been none', () => {
  const now = Date.parse('2026-11-26T12:00:00Z');
  const daysAgo = (days: number) => new Date(now - days * 86_400_000);
  expect(faults(checkBackup(null, null, now))).toEqual([]);
  expect(faults(checkBackup(null, daysAgo(7.9), now))).toEqual([]);
  expect(faults(checkBackup(null, daysAgo(8), now))).toEqual(['warning missing']);
  expect(faults(checkBackup(daysAgo(7.9), daysAgo(300), now))).toEqual([]);
  expect(faults(checkBackup(daysAgo(8), daysAgo(300), now))).toEqual(['warning old']);
});

describe('the database', () => {
  test.each([14, 15, 18, 19])('PostgreSQL %i: versions from 15 to 18 are supported', (major) => {
    const expected = { 14: ['problem tooOld'], 19: ['warning untested'] }[major] ?? [];
    expect(database({ version: `${major}.3`, versionNumber: major * 10_000 + 3 })).toEqual(expected);
  });

  test('its role needs rights, and better not those of a superuser, unless it is the embedded one', () => {
    const { role } = facts;
    expect(database({ role: { ...role, canCreateSchemas: false } })).toEqual(['problem rights']);
    expect(database({ role: { ...role, canCreateTables: false } })).toEqual(['problem rights']);
    expect(database({ role: { ...role, canCreateTemporaryTables: false } })).toEqual([
      'warning temporaryTables',
    ]);
    expect(database({ foreignTables: ['users'] })).toEqual(['problem foreignTables']);
    const onCitus = { citus: '13.2-1', isDistributed: true };
    expect(database({ distribution: { ...onCitus, undistributed: ['users'] } })).toEqual([
      'problem undistributed',
    ]);
    expect(database({ distribution: { ...onCitus, undistributed: [] } })).toEqual([]);
    expect(database({ role: { ...role, isSuperuser: true } })).toEqual(['warning superuser']);
    expect(database({ role: { ...role, isSuperuser: true } }, { isEmbedded: true })).toEqual([]);
  });

  test('has to accept changes and every letter, and has to have space', () => {
    expect(database({ isReadOnly: true })).toEqual(['problem readOnly']);
    expect(database({ encoding: 'LATIN1' })).toEqual(['problem encoding']);
    expect(database({}, { hasSpace: false })).toEqual(['problem full']);
  });

  test('needs 60 free connections for a process, unless it is running already', () => {
    expect(database({ connections: { free: 59, max: 97 } })).toEqual(['warning connectionsUsed']);
    expect(database({ connections: { free: 60, max: 97 } })).toEqual([]);
    expect(database({ connections: { free: 20, max: 97 } }, { isServiceRunning: true })).toEqual([]);
    expect(database({ connections: { free: 50, max: 50 } })).toEqual(['warning fewConnections']);
  });

  test('on another machine, the connection should be encrypted', () => {
    expect(database({ isRemote: true })).toEqual(['warning unencrypted']);
    expect(database({ isRemote: true, isEncrypted: true })).toEqual([]);
  });

  test('settings that a pooler ignores are named', () => {
    expect(database({}, { ignoredSettings: ['lock_timeout'] })).toEqual(['warning ignoredSettings']);
  });

  test('a replica that can’t be read is a warning, because the primary server is read instead', () => {
    const codes = (found: 'ok' | 'unreachable' | 'foreign' | 'primary') =>
      checkReplica({ state: found, behind: undefined }).map(({ outcome, code }) => `${outcome} ${code}`);
    expect(codes('ok')).toEqual(['ok replica']);
    expect(codes('unreachable')).toEqual(['warning replicaUnreachable']);
    expect(codes('foreign')).toEqual(['warning replicaForeign']);
    expect(codes('primary')).toEqual(['warning replicaNone']);
    expect(checkReplica({ state: 'ok', behind: 2e6 })[0]?.text).toMatch(/2 MB of the log behind/);
  });

  test('a schema of another version is reported by whether this version can use it', () => {
    const { schema } = facts;
    expect(database({ schema: { ...schema, latest: null, missing: ['0001_x.sql'] } })).toEqual([]);
    expect(database({ schema: { ...schema, missing: ['0055_y.sql'] } })).toEqual(['warning notMigrated']);
    const outdated = { ...facts, schema: { ...schema, missing: ['0055_y.sql'] } };
    const texts = (backupDir?: string) =>
      checkDatabase({ facts: outdated, ...state, backupDir }).map(({ text }) => text);
    expect(texts('/b').join()).toContain('first creates a backup in /b');
    expect(texts().join()).toContain('No backup is created before it');
    const unknown = ['0099_z.sql'];
    expect(database({ schema: { ...schema, unknown } })).toEqual(['warning newer']);
    expect(database({ schema: { ...schema, unknown, isTooNew: true } })).toEqual(['problem tooNew']);
  });
});

test('clocks may differ by seconds; from 5 minutes on, weeks neither open nor close', () => {
  const at = (aheadMs: number | undefined, isSynchronized?: boolean) =>
    faults(checkClock({ aheadMs, isSynchronized }));
  expect([at(4_000), at(-4_000, true), at(undefined)]).toEqual([[], [], []]);
  expect([at(6_000), at(-299_000)]).toEqual([['warning differsSlightly'], ['warning differsSlightly']]);
  expect([at(301_000), at(-301_000)]).toEqual([['problem differs'], ['problem differs']]);
  expect(at(0, false)).toEqual(['warning notSynchronized']);
  const text = (aheadMs: number) => checkClock({ aheadMs, isSynchronized: true })[0]?.text;
  expect(text(301_000)).toContain('is 5 minutes ahead of the database’s');
  expect(text(-301_000)).toContain('is 5 minutes behind the database’s');
});

test('the disk needs space, files, the right to write, and has to outlive a restart', () => {
  const disk = {
    path: '/data',
    examined: '/data',
    freeBytes: 50e9,
    totalBytes: 99e9,
    freeFiles: null,
    isTemporary: false,
    writeFault: null,
  };
  const of = (other: Partial<typeof disk> | { freeFiles: number } | { writeFault: string }) =>
    faults(checkDisk({ ...disk, ...other }, diskUses.database));
  expect(of({})).toEqual([]);
  expect(of({ freeBytes: 4.9e9 })).toEqual(['warning space']);
  expect(of({ freeBytes: 0.9e9 })).toEqual(['problem full']);
  expect(of({ freeFiles: 10 })).toEqual(['problem noFiles']);
  expect(of({ writeFault: 'EROFS' })).toEqual(['problem notWritable']);
  expect(of({ isTemporary: true })).toEqual(['warning temporary']);
  expect(faults(checkDisk({ ...disk, isTemporary: true }, diskUses.temporary))).toEqual([]);
  expect(faults(checkDisk({ ...disk, freeBytes: 0.9e9 }, diskUses.keys))).toEqual([]);
});

test('keys are here, open every open week, are up to date and can be read by the service only', () => {
  const present = { answers: 'ready', secrets: 'ready', openWeeks: { count: 2, lost: 0 } } as const;
  const keys = { ...present, outOfDate: [], opener: undefined };
  const of = (other: object) => faults(checkKeys({ ...keys, ...other }, 'keys'));
  expect(of({})).toEqual([]);
  expect(of({ answers: 'none', secrets: 'none' })).toEqual([]);
  expect(of({ answers: 'missing' })).toEqual(['problem answersMissing']);
  expect(of({ answers: 'missing', openWeeks: { count: 0, lost: 0 } })).toEqual(['warning answersMissing']);
  expect(of({ openWeeks: { count: 2, lost: 1 } })).toEqual(['problem weeksLost']);
  expect(of({ secrets: 'missing' })).toEqual(['problem secretsMissing']);
  expect(of({ secrets: 'moving' })).toEqual(['warning moving']);
  expect(of({ outOfDate: ['old:/data'] })).toEqual(['warning outOfDate']);
  const file = { path: 'keys/answers', mode: 0o600, isForeign: false };
  expect(faults(checkKeyFiles([file], false))).toEqual([]);
  expect(faults(checkKeyFiles([{ ...file, mode: 0o640 }], true))).toEqual(['problem readable']);
  expect(faults(checkKeyFiles([{ ...file, isForeign: true }], false))).toEqual(['problem foreign']);
  expect(faults(checkKeyFiles([{ ...file, isForeign: true }], true))).toEqual([]);
});

test('addresses: PUBLIC_URL, HTTPS and TRUST_PROXY fit together', () => {
  const sound = {
    host: '127.0.0.1',
    publicUrl: 'https://surveys.example.com',
    isPublicUrlSet: true,
    hasTls: false,
    trustProxy: ['127.0.0.1'],
  };
  const of = (other: Partial<typeof sound>) => faults(checkAddressSettings({ ...sound, ...other }));
  expect(of({})).toEqual([]);
  expect(of({ trustProxy: [], hasTls: true })).toEqual([]);
  expect(of({ trustProxy: [] })).toEqual(['warning noTrustProxy']);
  expect(of({ publicUrl: 'http://surveys.example.com' })).toEqual(['warning plainHttp']);
  const unset = { isPublicUrlSet: false, publicUrl: 'http://127.0.0.1:8080' };
  expect(of(unset)).toEqual(['warning noPublicUrl']);
  expect(of({ ...unset, trustProxy: [] })).toEqual([]);
  expect(of({ ...unset, trustProxy: [], host: '0.0.0.0' })).toEqual(['warning noPublicUrl']);
});

test('PUBLIC_URL leads to this service, through a proxy that the service knows', () => {
  const sound = { live: 200, isOurs: true, ready: 200, isMetricsPublic: false, isPlainHttpRefused: false };
  const how = { publicUrl: 'https://surveys.example.com', isDirect: false, isServiceRunning: true };
  const of = (other: Partial<typeof sound>, more = {}) =>
    faults(checkPublicAnswer({ ...sound, ...other }, { ...how, ...more }));
  expect(of({})).toEqual([]);
  expect(of({ live: 301, isOurs: false })).toEqual(['warning redirected']);
  expect(of({ isOurs: false })).toEqual(['problem otherService']);
  expect(of({ isOurs: false, live: 502 }, { isServiceRunning: false })).toEqual(['warning otherService']);
  expect(of({ ready: 503 })).toEqual(['problem notReady']);
  expect(of({ isMetricsPublic: true })).toEqual(['problem metricsPublic']);
  expect(of({ isMetricsPublic: true }, { isDirect: true })).toEqual([]);
  expect(of({ isPlainHttpRefused: true })).toEqual(['problem proxyRefused']);
  const unreachable: PublicAnswer = { error: 'ENOTFOUND' };
  expect(faults(checkPublicAnswer(unreachable, how))).toEqual(['warning unreachable']);
  expect(faults(checkPublicAnswer(unreachable, { ...how, isServiceRunning: false }))).toEqual([]);
});

test('ports are free, or belong to the service', () => {
  const refused = (fault?: string) => ({ answer: 'refused' as const, fault });
  const ssh = { answer: { line: 'SSH-2.0-Soundings' }, fault: undefined };
  const other = { answer: 'silent' as const, fault: undefined };
  expect(faults(checkHttpPort(8080, refused(), false))).toEqual([]);
  expect(faults(checkHttpPort(8080, other, true))).toEqual([]);
  expect(faults(checkHttpPort(8080, other, false))).toEqual(['problem portTaken']);
  expect(faults(checkHttpPort(80, refused('EACCES'), false))).toEqual(['problem portFault']);
  expect(faults(checkSftpPort(0, refused('EACCES'), false))).toEqual([]);
  expect(faults(checkSftpPort(2222, refused(), false))).toEqual([]);
  expect(faults(checkSftpPort(2222, refused(), true))).toEqual(['problem notListening']);
  expect(faults(checkSftpPort(2222, refused('EADDRINUSE'), false))).toEqual(['problem portFault']);
  expect(faults(checkSftpPort(2222, ssh, true))).toEqual([]);
  expect(faults(checkSftpPort(2222, ssh, false))).toEqual(['problem portTaken']);
  expect(faults(checkSftpPort(2222, other, true))).toEqual(['problem portTaken']);
});

test('SFTP host keys can be opened and read', () => {
  const of = (one: 'ready' | 'damaged' | 'sealed') =>
    faults(checkHostKeys(2222, [{ kind: 'rsa', state: one }]));
  expect([of('ready'), of('damaged'), of('sealed')]).toEqual([
    [],
    ['warning hostKeysDamaged'],
    ['problem hostKeysSealed'],
  ]);
  expect(faults(checkHostKeys(0, [{ kind: 'rsa', state: 'sealed' }]))).toEqual([]);
});

test('jobs, files and invitations wait no longer than the console accepts, and ended weeks are closed', () => {
  const none = { count: 0, oldestSeconds: 0 };
  const jobs = { waiting: none, dead: 0, processes: 1 };
  const work = { files: none, messages: none, 'text messages': none };
  const of = (other: Partial<JobsState>) => faults(checkJobs({ jobs, work, lateWeeks: 0, ...other }));
  const waiting = (oldestSeconds: number) => ({ count: 3, oldestSeconds });
  expect(of({})).toEqual([]);
  expect(faults(checkJobs({ jobs: undefined, work, lateWeeks: 0 }))).toEqual([]);
  expect(of({ jobs: { ...jobs, waiting: waiting(890) } })).toEqual([]);
  expect(of({ jobs: { ...jobs, waiting: waiting(910) } })).toEqual(['problem late']);
  expect(of({ jobs: { ...jobs, waiting: waiting(910), processes: 0 } })).toEqual(['warning stopped']);
  expect(of({ jobs: { ...jobs, dead: 1 } })).toEqual(['warning dead']);
  expect(of({ work: { ...work, files: waiting(910) } })).toEqual(['warning oldFile']);
  expect(of({ work: { ...work, 'text messages': waiting(3610) } })).toEqual(['warning oldMessage']);
  expect(of({ lateWeeks: 1 })).toEqual(['problem lateWeek']);
});

test('no secret is printed, neither as it is nor escaped', () => {
  const secrets = passwordsIn('smtp://us%40er:p%2Fss%20word@mail.example.com');
  expect(secrets).toEqual(['p%2Fss%20word', 'p/ss word']);
  const { problem } = reportOn('mail');
  const text = 'refused: p/ss word, p%2Fss%20word';
  expect(redacted(problem('x', text), secrets).text).toBe('refused: …, …');
  expect(passwordsIn('not an address')).toEqual([]);
  expect(passwordsIn('smtp://user:%E0%A4%A@host')).toEqual(['%E0%A4%A']);
});
