// Rounds: a set of questions asked of everyone in a group, in a week. Opening one fixes who is asked and in which groups
// the answers count (decision A11): later moves and removals change nothing.
import type { Week } from '@soundings/contract/weeks.ts';
import { addWeeks, dayIn, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { raiseVersion } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { wayUp } from '../people/tree.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import {
  copyAssignments,
  insertRound,
  insertWeek,
  lockSurvey,
  lockWeekRow,
  selectMembers,
  selectOpenWeeks,
  selectParents,
  selectRounds,
  tryLockSurvey,
  upsertAsked,
} from './rounds.sql.ts';

export { lockSurvey, selectParents as parentsOf, selectRounds as roundsOf, tryLockSurvey };

/**
 * A person to ask, and the person's own groups within the asked group. A user is known by the internal id, so that no other
 * name leads to the answers (P12); who is asked by an imported file alone, and is no user, by the name in it.
 */
export type AskedPerson = { person: PersonRef; memberOf: number[] };
export type PersonRef = { userId: number } | { stranger: string };

/** The groups of an account by id, each with the one above it. */
export type Parents = ReadonlyMap<number, number | null>;

/**
 * Opens the week if it is not open yet, and locks it until the transaction ends. Returns its key. Throws a Fault when it has
 * closed: what is published is never changed (P1). `isBrief`: the caller closes the week in the same transaction, or stores
 * its key before the end (AnswerKeys.keep).
 */
export async function openWeek(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  week: Week,
  isBrief = false,
): Promise<WeekKey> {
  if (await insertWeek(tx, accountId, week)) {
    await lockWeekRow(tx, accountId, week);
    return isBrief ? keys.temporary(accountId, week) : keys.create(tx, accountId, week);
  }
  const row = await lockWeekRow(tx, accountId, week);
  const key = row && !row.isClosed ? await keys.of(tx, accountId, week) : undefined;
  if (key) return key;
  throw new Fault(
    'conflict',
    'week closed',
    `The week ${weekName(week)} is closed: nothing can be added to it.`,
  );
}

/** The number under which a person answers in a week: only the week's key tells whose it is (P9, P12). */
export const respondentOf = (key: WeekKey, person: PersonRef): string =>
  'userId' in person ? key.respondentOf(person.userId) : key.respondentOfStranger(person.stranger);

/** A round to open. `asked`: each person once. */
export type NewRound = {
  week: Week;
  groupId: number;
  questionIds: number[];
  asked: AskedPerson[];
  parents: Parents;
  /** The schedule that asks. */
  scheduleId?: number;
  /** Groups beneath the asked one whose people are not asked. */
  without?: ReadonlySet<number>;
};

/**
 * Opens a round in a week that the caller has opened. Returns its id and the numbers of the people, in their order. The
 * caller holds the account's lock, has made sure that the week has no round of this group from the same source, and that
 * everybody's groups are the asked one or beneath it.
 */
export async function openRound(
  tx: Transaction,
  accountId: AccountId,
  key: WeekKey,
  round: NewRound,
): Promise<{ roundId: number; respondents: string[] }> {
  const { week, groupId, questionIds, asked, parents, scheduleId = null, without = new Set() } = round;
  const aboveIds = wayUp(groupId, parents).slice(1);
  const roundId = await insertRound(tx, accountId, { week, groupId, questionIds, aboveIds, scheduleId });
  const concerned = groupsBeneath(groupId, parents).filter((id) => !without.has(id));
  await upsertAsked(tx, accountId, week, concerned, questionIds);
  const respondents = asked.map(({ person }) => respondentOf(key, person));
  const groupsOf = (one: AskedPerson) =>
    one.memberOf.length === 1
      ? wayUp(one.memberOf[0] as number, parents)
      : [...new Set(one.memberOf.flatMap((own) => wayUp(own, parents)))];
  const people = asked.map((one, i) => ({ respondent: respondents[i] as string, groupIds: groupsOf(one) }));
  // In the order of the numbers, which tells nothing: in that of the people, a dump would tell whose number is whose.
  await copyAssignments(
    tx,
    accountId,
    week,
    roundId,
    people.toSorted((a, b) => (a.respondent < b.respondent ? -1 : 1)),
  );
  await raiseVersion(tx, accountId);
  return { roundId, respondents };
}

/** A group and all beneath it. */
export function groupsBeneath(groupId: number, parents: Parents): number[] {
  return [...parents.keys()].filter((id) => wayUp(id, parents).includes(groupId));
}

/** Everyone who is an active member of the group or of one of its descendants now. */
export async function membersNow(
  db: Db,
  accountId: AccountId,
  groupId: number,
  parents: Parents,
): Promise<AskedPerson[]> {
  const members = await selectMembers(db, accountId, groupsBeneath(groupId, parents));
  return members.map(({ userId, memberOf }) => ({ person: { userId }, memberOf }));
}

/** Open weeks, of all accounts, whose last day is over in the account's time zone. `now`: milliseconds since 1970. */
export async function weeksToClose(db: Db, now: number): Promise<{ accountId: AccountId; week: Week }[]> {
  const tomorrow = dayIn('UTC', now + 86_400_000);
  const open = await selectOpenWeeks(db, tomorrow);
  return open.filter(({ week, timezone }) => hasEnded(week, timezone, now));
}

/** Whether a week's Sunday is over in a time zone. */
export const hasEnded = (week: Week, timezone: string, now: number): boolean =>
  weekOf(dayIn(timezone, now)) >= addWeeks(week, 1);
