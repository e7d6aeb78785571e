// What the lines of a history file can refer to, and what the import has created so far.
import type { Week } from '@soundings/contract/weeks.ts';
import { quote } from '../base/text.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { selectQuestions, type Question } from '../questions/questions.sql.ts';
import { type PersonRef } from '../rounds/rounds.ts';
import { selectRounds } from '../rounds/rounds.sql.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import { selectImportGroups, selectScheduledWeeks, selectUserIds } from './history.sql.ts';
import { type GroupName, LineFault } from './lines.ts';
import type { Respondents, Roster } from './roster.ts';

/** `groups` and `questions`: by the names that lines use for them. `rounds`: by placeOf. */
export type ImportState = {
  groups: Map<string, number>;
  parents: Map<number, number | null>;
  questions: Map<string, Question & { optionIds: Set<string> }>;
  rounds: Map<string, ImportedRound>;
  /** The users of the account, by externalId. A person of the file with the same id answers as that user. */
  users: ReadonlyMap<string, number>;
  /** Open weeks in which a schedule asks. Nothing is imported into them. */
  scheduled: ReadonlySet<Week>;
  /** The latest week a round may have, so that a typo does not leave a week open for years. */
  lastWeek: Week;
  /** The weeks that this import has opened or adds to. */
  weeks: Map<Week, ImportedWeek>;
  /** Respondent numbers by person, for the weeks read most recently. */
  numbers: Map<Week, Map<string, string>>;
};
export type ImportedRound = {
  questionIds: number[];
  /** The people asked, ascending. Undefined if the round already existed, because then its answers already exist as well. */
  respondents: Respondents | undefined;
};
/** `isNew`: this import has opened the week. `roster`: which questions each person has answered so far; created with the first answer. */
export type ImportedWeek = { key: WeekKey; isNew: boolean; roster: Roster | undefined };

/** Returns the state before the import. */
export async function importStateOf(
  tx: Transaction,
  accountId: AccountId,
  lastWeek: Week,
): Promise<ImportState> {
  const groups = await selectImportGroups(tx, accountId);
  const questions = await selectQuestions(tx, accountId);
  const rounds = await selectRounds(tx, accountId);
  return {
    groups: new Map(groups.flatMap(({ id, externalId }) => (externalId === null ? [] : [[externalId, id]]))),
    parents: new Map(groups.map(({ id, parentId }) => [id, parentId])),
    questions: new Map(
      questions.map((question) => [
        question.key,
        { ...question, optionIds: new Set(question.options.map(({ id }) => id)) },
      ]),
    ),
    rounds: new Map(
      rounds.map(({ week, groupId, questionIds }) => [
        roundKeyOf(week, groupId),
        { questionIds, respondents: undefined },
      ]),
    ),
    users: await selectUserIds(tx, accountId),
    scheduled: await selectScheduledWeeks(tx, accountId),
    lastWeek,
    weeks: new Map(),
    numbers: new Map(),
  };
}

/** Returns the key of a round: a week has one round per group. */
export const roundKeyOf = (week: Week, groupId: number) => `${week} ${groupId}`;

/** Returns the id of a group. Throws a LineFault if it does not exist. */
export function groupOf(name: GroupName, { groups, parents }: ImportState): number {
  const id = typeof name === 'string' ? groups.get(name) : name.id;
  if (id !== undefined && parents.has(id)) return id;
  throw new LineFault(`Group ${typeof name === 'string' ? quote(name) : name.id} does not exist.`);
}

/** Returns the user with this externalId, or a person who appears only in the file. */
export function refOf(person: string, { users }: ImportState): PersonRef {
  const userId = users.get(person);
  return userId === undefined ? { stranger: person } : { userId };
}

export const unknownQuestion = (key: string) =>
  `Question ${quote(key)} does not exist. Define it in this file, or create it first.`;
