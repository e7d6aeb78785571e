// Rounds: a set of questions asked of everyone in a group, in a week. Opening one fixes who is asked and in which groups
// the answers count (decision A11): later moves and removals change nothing.
import type { Week } from '@soundings/contract/weeks.ts';
import { addWeeks, dayIn, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { hash, randomBytes } from 'node:crypto';
import { raiseVersion } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { wayUp } from '../people/tree.ts';
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

/** A person as the sender calls them, and the person's own groups within the asked group. */
export type AskedPerson = { person: string; memberOf: number[] };

/** The groups of an account by id, each with the one above it. */
export type Parents = ReadonlyMap<number, number | null>;

/**
 * Opens the week if it is not open yet, and locks it until the transaction ends. Returns the key that makes the numbers
 * of its people. Throws a Fault when it has closed: what is published is never changed (P1).
 */
export async function openWeek(tx: Transaction, accountId: AccountId, week: Week): Promise<Buffer> {
  await insertWeek(tx, accountId, week, randomBytes(32));
  const row = await lockWeekRow(tx, accountId, week);
  if (row?.respondentKey) return row.respondentKey;
  throw new Fault(
    'conflict',
    'week closed',
    `The week ${weekName(week)} is closed: nothing can be added to it.`,
  );
}

/**
 * The number, of 53 bits, under which a person answers in a week: only the week's key tells whose it is (P9). SHA-256 of
 * the key and the person: of so short a part of it nothing can be continued, and it takes a tenth of the time of HMAC.
 */
export function respondentOf(key: Uint8Array, person: string): number {
  const bytes = hash('sha256', Buffer.concat([key, Buffer.from(person)]), 'buffer');
  return bytes.readUInt32BE(0) * 2 ** 21 + (bytes.readUInt32BE(4) >>> 11);
}

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
  key: Uint8Array,
  round: NewRound,
): Promise<{ roundId: number; respondents: number[] }> {
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
  const people = asked.map((one, i) => ({ respondent: respondents[i] as number, groupIds: groupsOf(one) }));
  // In the order of the numbers, which tells nothing: in that of the people, a dump would tell whose number is whose.
  await copyAssignments(
    tx,
    accountId,
    week,
    roundId,
    people.toSorted((a, b) => a.respondent - b.respondent),
  );
  await raiseVersion(tx, accountId);
  return { roundId, respondents };
}

/** A group and all beneath it. */
export function groupsBeneath(groupId: number, parents: Parents): number[] {
  return [...parents.keys()].filter((id) => wayUp(id, parents).includes(groupId));
}

/**
 * Everyone who is an active member of the group or of one beneath it now. A person is called by externalId, or by
 * U+0001, which no externalId has, and the id where there is none.
 */
export async function membersNow(
  db: Db,
  accountId: AccountId,
  groupId: number,
  parents: Parents,
): Promise<AskedPerson[]> {
  const members = await selectMembers(db, accountId, groupsBeneath(groupId, parents));
  return members.map(({ userId, externalId, memberOf }) => ({
    person: externalId ?? `\u0001${userId}`,
    memberOf,
  }));
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
