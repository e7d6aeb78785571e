// Surveys for tests: short forms of history lines, and their import.
import type { Week } from '@soundings/contract/weeks.ts';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from '../db/db.ts';
import { type Imported, importHistory } from '../history/history.ts';
import { newLinks } from '../rounds/links.ts';
import type { TestData } from './database.ts';

/** A time after all weeks that tests import, and one before. */
export const later = Date.parse('2026-11-21T12:00:00Z');

type GroupName = string | { id: number };

export const question = (key: string, type: number, more: object = {}) => ({
  question: { key, type, text: `${key}?`, language: 'en', ...more },
});
export const kpi = (id: string, questions: string[], more: object = {}) => ({
  kpi: { id, name: id, questions, ...more },
});
export const round = (
  week: string,
  group: GroupName,
  questions: string[],
  people: Record<string, GroupName[]>,
) => ({
  round: {
    week,
    group,
    questions,
    asked: Object.entries(people).map(([person, memberOf]) => ({ person, memberOf })),
  },
});
export const answerLine = (
  week: string,
  group: GroupName,
  person: string,
  questionKey: string,
  value: unknown,
  comment?: string,
) => ({ answer: { week, group, person, question: questionKey, value, comment } });
export const skip = (week: string, group: GroupName, person: string, questionKey: string) => ({
  answer: { week, group, person, question: questionKey, skipped: true },
});

/** Imports lines. Each is an object or the exact text of a line. */
export async function importLines(
  { pool, keys }: TestData,
  accountId: number,
  lines: (object | string)[],
  now = later,
): Promise<Imported> {
  const path = join(tmpdir(), `soundings-history-${randomUUID()}.ndjson`);
  await writeFile(
    path,
    lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
  );
  try {
    return await importHistory(pool, keys, accountId, path, now);
  } finally {
    await rm(path);
  }
}

/** Returns a person's link for an imported open week. Only weeks that a schedule opens have participants automatically. */
export async function linkOf(
  pool: Pool,
  { accountId, userId, week }: { accountId: number; userId: number; week: Week },
): Promise<string> {
  await pool`
    insert into participants (account_id, user_id, week) values (${accountId}, ${userId}, ${week})
    on conflict do nothing`;
  const [link] = await newLinks(pool, [{ accountId, userId, week }]);
  return link as string;
}
