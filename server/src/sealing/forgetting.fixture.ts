// The attacker of closed weeks, for forgetting.….attack.test.ts: takes everything while a week is open, and searches what exists
// after closing.
import { addWeeks, weekName } from '@soundings/contract/weeks.ts';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { tokenHash } from '../base/crypto/secrets.ts';
import { addClosing } from '../console/asking/asking.sql.ts';
import { inTransaction, type Pool } from '../db/db.ts';
import {
  baseBackup,
  type Dump,
  dumpFile,
  dumpOf,
  filesBelow,
  fragmentsWithBoth,
  readWith,
  type Source,
  tracesOf,
  weekKeysIn,
  withoutCopies,
} from '../testing/attacks/file-attacker.ts';
import { type AnsweredWeek, isForgotten, keyPathOf, keysBeside } from '../testing/attacks/forgetting.ts';
import { bareEnvironment } from '../testing/processes/environment.ts';
import { exec, home, type Service } from '../testing/processes/processes.ts';
import { signIn } from '../testing/signed-in.ts';
import { answerLine, importLines, question, round } from '../testing/surveys.ts';
import { until } from '../testing/until.ts';
import { derived } from './epoch-keys.ts';
import { keyText, readKeyFile } from './key-file.ts';
import { builtProgram } from '../testing/service-build.ts';

/** What the attacker takes while a week is open, and what only the test knows. */
export type Before = {
  asked: AnsweredWeek;
  dump: Dump;
  files: Source[];
  /** Secrets that must not exist anywhere after closing, by name. */
  secrets: Record<string, Uint8Array>;
  respondents: string[];
};

/**
 * Takes everything except the keys while the week is open, and checks that all of it can be read with the key file. `place`: the
 * directory of the cluster's files. Without it, they are not taken.
 */
export async function takeWhileOpen(
  pool: Pool,
  dataDir: string,
  asked: AnsweredWeek,
  place: string | undefined,
): Promise<Before> {
  const keys = keysBeside(dataDir, pool);
  const weekKey = (await keys.of(pool, asked.accountId, asked.week))!;
  const epoch = readKeyFile(keyPathOf(dataDir))!;
  const dump = await dumpOf(pool);
  const files = place === undefined ? [] : filesBelow(join(place, 'postgres'));
  const keyFile = { name: 'key file', bytes: Buffer.from(keyText(epoch)) };
  expect(readOf(asked, [dumpFile(dump), keyFile], dump)).toEqual({
    answers: asked.answers,
    comments: asked.links.length,
  });
  return {
    asked,
    dump,
    files,
    secrets: {
      'week key': weekKey.secret,
      'key of the numbers': derived(weekKey.secret, 'soundings respondent'),
      'key of the answers': derived(weekKey.secret, 'soundings answers'),
      'epoch key': epoch.secret,
    },
    respondents: asked.userIds.map((userId) => weekKey.respondentOf(userId)),
  };
}

/** Returns how many answers and comments of a week the attacker can read by person, with every key found in the sources. */
export function readOf(asked: AnsweredWeek, sources: Source[], dump: Dump) {
  const read = readWith(weekKeysIn(sources, dump, asked), dump);
  return { answers: read.length, comments: read.filter(({ comment }) => comment !== null).length };
}

export const nothing = { read: { answers: 0, comments: 0 }, traces: [], hidden: [], linked: [] };

/**
 * Takes the log, then a base backup, then all files. The backup's checkpoint writes to the files what was only in memory, and may
 * remove log segments. `hasBackup`: false if the files are enough, because they contain everything that a backup would.
 */
export async function filesNow(pool: Pool, dataDir: string, hasBackup = true): Promise<Source[]> {
  const log = filesBelow(join(dataDir, 'postgres', 'pg_wal'));
  if (!hasBackup) {
    await pool`checkpoint`;
    return [...log, ...filesBelow(dataDir)];
  }
  const place = await mkdtemp(join(home, 'backup'));
  await chmod(place, 0o777); // PostgreSQL may run as another user
  const backup = await baseBackup(pool, join(place, 'files'));
  await rm(place, { recursive: true });
  return [...log, ...backup, ...filesBelow(dataDir)];
}

/** Returns everything that the attacker finds after a week has closed. `logged`: the service's log. */
export async function attack(pool: Pool, before: Before, dataDir: string, logged = '') {
  return foundIn(before, [...(await filesNow(pool, dataDir)), ...(await textsNow(pool, logged))]);
}

/** Returns a dump and the service's log. */
export const textsNow = async (pool: Pool, logged: string): Promise<Source[]> => [
  dumpFile(await dumpOf(pool)),
  { name: 'log of the service', bytes: Buffer.from(logged) },
];

/** Returns what the attacker finds in the sources from after closing and in those taken before. */
export function foundIn(before: Before, after: Source[]) {
  const sources = withoutCopies([...before.files, dumpFile(before.dump), ...after]);
  const { asked } = before;
  const mark = Buffer.from(asked.shownMark);
  expect(after.some(({ bytes }) => bytes.includes(mark))).toBe(true); // it is published
  const traces = tracesOf({ ...before.secrets, hidden: Buffer.from(asked.hiddenMark) }, sources);
  return {
    read: readOf(asked, sources, before.dump),
    traces: traces.filter((one) => !one.startsWith('hidden ')),
    hidden: traces.filter((one) => one.startsWith('hidden ')),
    linked: linkedFragments(before, mark, sources),
  };
}

/** Returns log records and pages in which a published comment stands next to something that leads to a person. */
function linkedFragments({ asked, respondents }: Before, mark: Buffer, sources: Source[]): string[] {
  const names = [
    ...respondents.map((one) => Buffer.from(one)),
    ...respondents.map((one) => Buffer.from(one.replaceAll('-', ''), 'hex')),
    ...asked.links.map((link) => Buffer.from(link)),
    ...asked.links.map(tokenHash),
    ...['Large', 'large'].map((name) => Buffer.from(asked.shownMark.replace('shown', `${name}-`))),
  ];
  return fragmentsWithBoth(
    [mark],
    names,
    sources.filter(({ name }) => name.includes('/postgres/')),
  );
}

/** Requests that a week is closed, as an administrator does in the console. */
export async function requestClose(service: Service, pool: Pool, { accountId, adminId, week }: AnsweredWeek) {
  const request = await signIn({ pool, address: service.address }, accountId, adminId);
  expect((await request(`POST /rounds/${week}/close`)).status).toBe(204);
}

export const untilForgotten = (pool: Pool, asked: AnsweredWeek, ...dataDirs: string[]) =>
  until(() => isForgotten(pool, asked, dataDirs));

/** Requests that a week is closed like `requestClose`, but without the console, which would wait for locks that the test has. */
export const addClosingOf = (pool: Pool, { accountId, week }: AnsweredWeek) =>
  inTransaction(pool, (tx) => addClosing(tx, accountId, week));

/** Imports a later week of the same account, which stays open. */
export async function importNextWeek(pool: Pool, dataDir: string, { accountId, week }: AnsweredWeek) {
  const next = weekName(addWeeks(week, 1));
  const people = Array.from({ length: 6 }, (_, i) => `stranger ${i}`);
  await importLines(
    { pool, keys: keysBeside(dataDir, pool) },
    accountId,
    [
      question('mood', 1),
      round(next, 'Large', ['mood'], Object.fromEntries(people.map((one) => [one, ['Large']]))),
      ...people.map((one) => answerLine(next, 'Large', one, 'mood', 3, 'imported comment')),
    ],
    Date.now(),
  );
}

/** Waits until a connection of the service, with this database user, waits for a lock in a matching statement. */
export const untilBlocked = (pool: Pool, statement: string, user = 'soundings') =>
  until(async () => {
    const rows = await pool`
      select 1 from pg_stat_activity
      where  datname = current_database() and wait_event_type = 'Lock' and application_name = 'soundings'
        and  usename = ${user} and query ilike ${`%${statement}%`}`;
    return rows.length > 0;
  });

const cli = builtProgram('command');

/** Runs a soundings command and returns its output. */
export async function command(args: string[], env: Record<string, string>, input = ''): Promise<string> {
  const done = exec(process.execPath, [cli, ...args], { env: { ...bareEnvironment, ...env } });
  done.child.stdin?.end(input);
  return (await done).stdout;
}
