// A round asks a set of questions to everyone in a group in one week. Opening it fixes who is asked and in which groups the answers
// count. People who move or leave later do not change this (decision A11).
import { addWeeks, dayIn, type Week, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { raiseVersion } from '../accounts/accounts.sql.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { ancestorsOf } from '../people/tree.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import {
  type AssignmentRow,
  copyAssignments,
  insertRounds,
  insertWeek,
  lockWeekRow,
  selectMembers,
  selectOpenWeeksBefore,
  upsertAsked,
} from './rounds.sql.ts';

/**
 * A person to ask, and the groups within the asked group that the person is a member of. Users are identified by their internal id,
 * so that no other id leads to their answers (P12). People who appear only in an imported file are identified by their name in it.
 */
export type AskedPerson = { person: PersonRef; memberOf: number[] };
export type PersonRef = { userId: number } | { stranger: string };

/** The groups of an account by id, each with its parent. */
export type Parents = ReadonlyMap<number, number | null>;

/**
 * Opens the week if it is not open yet, locks it until the transaction ends, and returns its key, and whether the week is new. The key of a new
 * week is not stored: call AnswerKeys.keep at the end of the transaction, unless the week closes in it. Throws a Fault if the week has closed,
 * because published figures never change (P1).
 */
export async function openWeek(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  week: Week,
): Promise<{ key: WeekKey; isNew: boolean }> {
  // No one else can see a row that was just inserted, so it needs no lock.
  if (await insertWeek(tx, accountId, week)) return { key: keys.temporary(accountId, week), isNew: true };
  const row = await lockWeekRow(tx, accountId, week);
  const key = row && !row.isClosed ? await keys.of(tx, accountId, week) : undefined;
  if (key) return { key, isNew: false };
  throw weekClosed(week);
}

/** Returns the Fault for a week that is closed. */
export const weekClosed = (week: Week): Fault =>
  new Fault('conflict', 'week closed', `Week ${weekName(week)} is closed. You can't add anything to it.`);

/** Returns the Fault for a week in which no round was open. */
export const weekNotFound = (week?: Week): Fault => {
  const name = week === undefined ? 'that week' : `week ${weekName(week)}`;
  return new Fault('not_found', 'week not found', `No questions were asked in ${name}. Choose another week.`);
};

/** Returns the number under which a person answers in a week. Only the week's key reveals whose number it is (P9, P12). */
export const respondentOf = (key: WeekKey, person: PersonRef): string =>
  'userId' in person ? key.respondentOf(person.userId) : key.respondentOfStranger(person.stranger);

/** Rounds to open in a week, which ask the same questions. */
export type NewRounds = {
  week: Week;
  questionIds: number[];
  parents: Parents;
  /** The schedule that opens the rounds, if any. */
  scheduleId?: number | null;
  /** Descendants of the asked groups whose members are not asked. */
  without?: ReadonlySet<number>;
};

/** The people that a round asks. `asked`: lists each person once. */
export type PeopleToAsk = {
  asked: AskedPerson[];
  parents: Parents;
  /** The sealed segments of each person by respondent number (frozen-segments.ts); undefined if there are none. */
  sealedSegments?: ReadonlyMap<string, Buffer> | undefined;
};

/** The people of a round. `respondents`: their numbers in the order of `asked`. `rows`: what is stored, ordered by number. */
type PeopleOfRound = { respondents: string[]; rows: AssignmentRow[] };

/** After this number of people, other work gets its turn. */
const peopleInTurn = 1_000;

/** Returns the people of a round as they are stored. Computes in short turns, so that the caller can write other rows meanwhile. */
export async function peopleOfRound(
  key: WeekKey,
  { asked, parents, sealedSegments }: PeopleToAsk,
): Promise<PeopleOfRound> {
  // Everyone in a team shares one list, so that it is created and written as text once.
  const known = new Map<number, readonly number[]>();
  const groupsOf = ({ memberOf }: AskedPerson): readonly number[] => {
    const [own] = memberOf;
    if (own === undefined || memberOf.length > 1)
      return [...new Set(memberOf.flatMap((id) => ancestorsOf(id, parents)))];
    const groups = known.get(own) ?? ancestorsOf(own, parents);
    known.set(own, groups);
    return groups;
  };
  const rows: AssignmentRow[] = [];
  for (const one of asked) {
    if (rows.length % peopleInTurn === peopleInTurn - 1) await nextTurn();
    const respondent = respondentOf(key, one.person);
    rows.push({
      respondent,
      groupIds: groupsOf(one),
      sealedSegments: sealedSegments?.get(respondent) ?? null,
    });
  }
  const respondents = rows.map(({ respondent }) => respondent);
  // Ordered by number. In the order of the people, a database dump would reveal whose number is whose.
  return { respondents, rows: rows.toSorted((a, b) => (a.respondent < b.respondent ? -1 : 1)) };
}

/**
 * Adds a round for each of these groups to a week that the caller has opened. None of the groups is a descendant of another. `peopleOf`: for
 * each group, the rows of peopleOfRound. The caller holds the account's lock and has made sure that the week has no round for these groups from
 * the same source, and that people are members of the asked group or its descendants.
 */
export async function addRounds(
  tx: Transaction,
  accountId: AccountId,
  { week, questionIds, parents, scheduleId = null, without = new Set() }: NewRounds,
  peopleOf: ReadonlyMap<number, readonly AssignmentRow[]>,
): Promise<void> {
  const groupIds = [...peopleOf.keys()];
  const groups = groupIds.map((groupId) => ({ groupId, aboveIds: ancestorsOf(groupId, parents).slice(1) }));
  const askedGroups = groupIds
    .flatMap((groupId) => descendantsOf(groupId, parents))
    .filter((id) => !without.has(id));
  const [roundIds] = await Promise.all([
    insertRounds(tx, accountId, { week, questionIds, scheduleId }, groups),
    upsertAsked(tx, accountId, week, askedGroups, questionIds),
    raiseVersion(tx, accountId),
  ]);
  const rounds = [...peopleOf].map(([groupId, people]) => ({
    roundId: roundIds.get(groupId) as number,
    people,
  }));
  await copyAssignments(tx, accountId, week, rounds);
}

/** Returns the ids of a group and its descendants, in ascending order. Takes as long as there are such groups. */
export function descendantsOf(groupId: number, parents: Parents): number[] {
  if (!parents.has(groupId)) return [];
  const children = childrenIn(parents);
  const found = [groupId];
  // Also goes through what it adds.
  for (const id of found) for (const child of children.get(id) ?? []) found.push(child);
  return found.toSorted((a, b) => a - b);
}

/** The subgroups of each group, by the tree that they were read from: schedules with thousands of groups ask for the descendants of each. */
const childrenOfTrees = new WeakMap<Parents, ReadonlyMap<number, number[]>>();

function childrenIn(parents: Parents): ReadonlyMap<number, number[]> {
  const known = childrenOfTrees.get(parents);
  if (known) return known;
  const children = new Map<number, number[]>();
  for (const [id, parentId] of parents) {
    if (parentId === null) continue;
    const others = children.get(parentId);
    if (others) others.push(id);
    else children.set(parentId, [id]);
  }
  childrenOfTrees.set(parents, children);
  return children;
}

/** Returns those of the groups that exist, without descendants of other ones in the list. */
export function outermost(groupIds: number[], parents: Parents): number[] {
  const present = new Set(groupIds.filter((id) => parents.has(id)));
  return [...present].filter(
    (id) =>
      !ancestorsOf(id, parents)
        .slice(1)
        .some((ancestor) => present.has(ancestor)),
  );
}

/** Returns the people who are currently active members of the group or one of its descendants. */
export async function membersNow(
  db: Db,
  accountId: AccountId,
  groupId: number,
  parents: Parents,
): Promise<AskedPerson[]> {
  const members = await selectMembers(db, accountId, descendantsOf(groupId, parents));
  return members.map(({ userId, memberOf }) => ({ person: { userId }, memberOf }));
}

/** Returns open weeks of all accounts whose Sunday is over in the account's time zone. `now`: milliseconds since 1970. */
export async function weeksToClose(db: Db, now: number): Promise<{ accountId: AccountId; week: Week }[]> {
  const tomorrow = dayIn('UTC', now + 86_400_000);
  const open = await selectOpenWeeksBefore(db, tomorrow);
  return open.filter(({ week, timezone }) => hasEnded(week, timezone, now));
}

/** Returns whether a week's Sunday is over in a time zone. */
export const hasEnded = (week: Week, timezone: string, now: number): boolean =>
  weekOf(dayIn(timezone, now)) >= addWeeks(week, 1);
