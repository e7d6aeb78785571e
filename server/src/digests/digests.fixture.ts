// An account with weeks that can be closed one after another, and a sender of its digests, for tests.
import type { MembershipKind } from '@soundings/contract/people/memberships.ts';
import type { Role } from '@soundings/contract/people/roles.ts';
import { addWeeks, type Week, weekName } from '@soundings/contract/weeks.ts';
import { onTestFinished } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction, type Pool } from '../db/db.ts';
import { openMailer } from '../mail/mailer.ts';
import { createGroup } from '../people/groups.ts';
import { createUser } from '../people/users.ts';
import { closeWeekNow } from '../results/close-week.ts';
import { computeStatistics } from '../results/statistics/statistics.ts';
import { openLogLines } from '../testing/log-lines.ts';
import type { TestData } from '../testing/database.ts';
import { answerLine, importLines, kpi, question, round } from '../testing/surveys.ts';
import { openDigestSender } from './digests.ts';

export const publicUrl = 'https://soundings.example';
export const minute = 60_000;
export const day = 24 * 60 * minute;
export const firstWeek: Week = '2026-09-07';

/** Returns the start of the Monday after a week, when that week has ended, in ms since 1970. `week`: 0 is `firstWeek`. */
export const mondayAfter = (week: number): number => Date.parse(`${addWeeks(firstWeek, week + 1)}T00:00:00Z`);

export type SurveyedAccount = { accountId: number; groups: Map<string, number>; weeks: Week[] };

/** How many people each group has. The answers of the team, which has two, are withheld. */
const people = { north: 12, south: 12, team: 2 };

/**
 * Creates an account in UTC with a company, two groups, and a team in the north. Two rounds per week ask them questions; nothing is
 * closed. Comments name their group and week.
 */
export async function surveyed(
  { pool, keys }: TestData,
  count: number,
  names: Partial<Record<string, string>> = {},
): Promise<SurveyedAccount> {
  const { id: accountId } = await inTransaction(pool, (tx) =>
    createAccount(tx, { name: names['account'] ?? 'Nordwind', timezone: 'UTC', threshold: 3 }),
  );
  const groups = new Map<string, number>();
  await inTransaction(pool, async (tx) => {
    for (const [name, parent] of [
      ['company'],
      ['north', 'company'],
      ['south', 'company'],
      ['team', 'north'],
    ]) {
      const parentId = parent === undefined ? null : (groups.get(parent) as number);
      const wanted = { name: names[name as string] ?? `Group ${name}`, externalId: name as string, parentId };
      groups.set(name as string, await createGroup(tx, accountId, wanted));
    }
  });
  const weeks = Array.from({ length: count }, (_, i) => addWeeks(firstWeek, i));
  const asked = Object.entries(people).flatMap(([group, size]) =>
    Array.from({ length: size }, (_, i) => ({ person: `${group}-${i}`, group, i })),
  );
  const all = Object.fromEntries(asked.map(({ person, group }) => [person, [group]]));
  const lines = weeks.flatMap((week, w) =>
    [
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ].flatMap((keysAsked, r) => [
      // The second round lists its own people, as the round of a second schedule would.
      round(weekName(week), r === 0 ? 'company' : 'north', keysAsked, r === 0 ? all : northOf(all)),
      ...asked
        .filter(({ group }) => r === 0 || group !== 'south')
        .flatMap(({ person, group, i }) =>
          keysAsked.map((key, k) =>
            answerLine(
              weekName(week),
              r === 0 ? 'company' : 'north',
              person,
              key,
              answerOf(group, { i, k: k + 3 * r, w }),
              key === 'a' ? `${names['comment'] ?? 'A comment'} of ${group} ${i} in ${week}` : undefined,
            ),
          ),
        ),
    ]),
  );
  const questions = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) =>
    question(key, 1, {
      text: names[key] ?? `Question ${key}`,
      translations: { sv: `Fråga ${key}`, de: `Frage ${key}` },
    }),
  );
  await importLines(
    { pool, keys },
    accountId,
    [
      ...questions,
      kpi('mood', ['a', 'b'], { name: 'Mood' }),
      kpi('work', ['d', 'e'], { name: 'Work' }),
      ...lines,
    ],
    Date.parse(`${firstWeek}T08:00:00Z`),
  );
  return { accountId, groups, weeks };
}

const northOf = (all: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(all).filter(([, [group]]) => group !== 'south'));

/** The north answers better each week, and the south worse. */
const answerOf = (group: string, { i, k, w }: { i: number; k: number; w: number }) =>
  Math.min(5, Math.max(1, group === 'south' ? 4 - w + ((i + k) % 2) : 1 + w + ((i + k) % 3)));

/** Closes a week at `now`, and computes its statistics, unless they are to remain due. */
export async function close(
  { pool, keys }: TestData,
  { accountId, weeks }: SurveyedAccount,
  week: number,
  { now = mondayAfter(week) + 5 * minute, withStatistics = true } = {},
): Promise<void> {
  await closeWeekNow(pool, keys, accountId, weeks[week], now);
  if (withStatistics) await computeStatistics(pool, accountId);
}

/** Creates a person. `of`: the person's groups by kind of membership, each by its name. */
export const newPerson = async (
  { pool }: TestData,
  { accountId, groups }: SurveyedAccount,
  name: string,
  role: Role,
  more: { of?: Partial<Record<MembershipKind, string[]>>; language?: string; timezone?: string } = {},
): Promise<number> => {
  const { of = {}, ...rest } = more;
  const memberships = Object.fromEntries(
    Object.entries(of).map(([kind, list]) => [kind, list.map((one) => groups.get(one) as number)]),
  );
  return inTransaction(pool, (tx) =>
    createUser(tx, accountId, {
      firstName: name,
      lastName: role,
      email: `${name}@example.org`,
      role,
      memberships,
      ...rest,
    }),
  );
};

/** Opens a sender, and returns its log too. */
export function senderOf(pool: Pool, smtpUrl: string, response = 10_000) {
  const { log, lines } = openLogLines();
  const mailer = openMailer(smtpUrl, 'hr@example.com', { connect: 2000, response });
  onTestFinished(() => mailer.close());
  return { send: openDigestSender({ pool, mailer, publicUrl, log }), lines };
}
