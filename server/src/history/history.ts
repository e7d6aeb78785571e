// Imports past surveys from a file (docs/integrators/history.md). The import opens rounds, stores answers and publishes results with the same
// functions as current surveys. It is one transaction: a fault names its line, and nothing is imported.
import { addWeeks, dayIn, type Week, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { accountById, lockAccount } from '../accounts/accounts.ts';
import { raiseVersion } from '../accounts/accounts.sql.ts';
import { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { ancestorsOf } from '../people/tree.ts';
import { closeWeek, deleteClosedData } from '../results/close-week.ts';
import { computeStatistics } from '../results/statistics/statistics.ts';
import {
  type AskedPerson,
  hasEnded,
  membersNow,
  addRounds,
  peopleOfRound,
  openWeek,
} from '../rounds/rounds.ts';
import { lockSurvey } from '../rounds/rounds.sql.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { atLine, entriesOf } from './entries.ts';
import { faultAt } from './file.ts';
import { importAnswers } from './import-answers.ts';
import { importDefinitions } from './import-definitions.ts';
import {
  groupOf,
  type ImportedWeek,
  type ImportState,
  roundKeyOf,
  refOf,
  importStateOf,
  unknownQuestion,
} from './import-state.ts';
import { type GroupName, LineFault, type RoundLine } from './lines.ts';
import { respondentsOf } from './roster.ts';

/** How many of each kind were new or changed. All numbers are 0 if the same file is imported again. */
export type Imported = {
  questions: number;
  kpis: number;
  rounds: number;
  answers: number;
  weeks: number;
  /** The number of answers ignored because their round already existed. They are neither imported nor compared. */
  ignored?: number;
};

/** Imports a file. Weeks that have already ended are published immediately. `now`: milliseconds since 1970. */
export async function importHistory(
  pool: Pool,
  keys: AnswerKeys,
  accountId: AccountId,
  path: string,
  now: number,
): Promise<Imported> {
  const { timezone } = await accountById(pool, accountId);
  await keys.chain.prepare();
  // Not those that the import both opens and closes: their keys are never stored, so nothing has to be deleted for them.
  const closed: Week[] = [];
  const imported = await inTransaction(pool, async (tx) => {
    // Taken first, in the same order as when a week is closed or shown, to avoid deadlocks.
    await lockSurvey(tx, accountId);
    await lockAccount(tx, accountId);
    const defined = await importDefinitions(tx, accountId, path);
    const state = await importStateOf(tx, accountId, addWeeks(weekOf(dayIn(timezone, now)), 53));
    const rounds = await importRounds(tx, keys, accountId, path, state);
    const answers = await importAnswers(tx, accountId, path, state);
    for (const [week, { key, isNew }] of [...state.weeks].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      // One week at a time is in memory.
      if (hasEnded(week, timezone, now)) {
        await closeWeek(tx, keys, accountId, week, key);
        if (!isNew) closed.push(week);
      } else if (isNew) await keys.keep(tx, accountId, week, key);
    }
    await raiseVersion(tx, accountId);
    // At the end, because this locks the row of the answer key, for which the opening and closing weeks of all accounts wait.
    for (const week of closed) await keys.forget(tx, accountId, week);
    return { ...defined, rounds, ...answers, weeks: state.weeks.size };
  });
  if (closed.length > 0) await deleteClosedData(pool, keys);
  await computeStatistics(pool, accountId);
  return imported;
}

async function importRounds(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  path: string,
  state: ImportState,
): Promise<number> {
  let count = 0;
  for await (const entries of entriesOf(path, ['round'])) {
    for (const { number, line } of entries) {
      // A round can have thousands of people: only one is in memory.
      if (await importRound(tx, keys, accountId, { line, number, state })) count++;
    }
  }
  return count;
}

/** Opens a round. Returns false if it already existed. */
async function importRound(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  { line, number, state }: { line: RoundLine; number: number; state: ImportState },
): Promise<boolean> {
  const { week } = line;
  if (week > state.lastWeek)
    throw faultAt(number, `Week ${weekName(week)} is more than a year in the future.`);
  const groupId = atLine(number, () => groupOf(line.group, state));
  const questionIds = line.questions
    .map((key) => {
      const question = state.questions.get(key);
      if (!question) throw faultAt(number, unknownQuestion(key));
      return question.id;
    })
    .toSorted((a, b) => a - b);
  const place = roundKeyOf(week, groupId);
  const before = state.rounds.get(place);
  if (before?.respondents)
    throw faultAt(number, `Week ${weekName(week)} has two rounds for this group in this file.`);
  if (before && before.questionIds.join() !== questionIds.join()) {
    throw faultAt(
      number,
      `Week ${weekName(week)} already has a round for this group with different questions.`,
    );
  }
  if (before) return false;
  if (state.scheduled.has(week)) {
    // Otherwise an import rejected because of an existing answer would reveal who has answered.
    throw faultAt(
      number,
      `A schedule asks questions in week ${weekName(week)}. You can't import into this week until it has closed.`,
    );
  }
  const { key } = await weekAt(tx, keys, accountId, { week, number, state });
  const asked = line.asked
    ? line.asked.map((one) => atLine(number, () => personOf(one, groupId, state)))
    : await membersNow(tx, accountId, groupId, state.parents);
  const { parents } = state;
  const { respondents, rows } = await peopleOfRound(key, { asked, parents });
  await addRounds(tx, accountId, { week, questionIds, parents }, new Map([[groupId, rows]]));
  state.rounds.set(place, { questionIds, respondents: respondentsOf(respondents) });
  return true;
}

/** Returns the week, and opens it if it is not open yet. */
async function weekAt(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  { week, number, state }: { week: Week; number: number; state: ImportState },
): Promise<ImportedWeek> {
  const known = state.weeks.get(week);
  if (known) return known;
  const { key, isNew } = await openedAt(number, () => openWeek(tx, keys, accountId, week));
  const opened = { key, isNew, roster: undefined };
  state.weeks.set(week, opened);
  return opened;
}

async function openedAt<T>(number: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Fault && error.kind === 'conflict' ? faultAt(number, error.message) : error;
  }
}

/** Returns a person with those of their groups that are the asked group or its descendants: only these count (decision A11). */
function personOf(
  { person, memberOf }: { person: string; memberOf: GroupName[] },
  groupId: number,
  state: ImportState,
): AskedPerson {
  const within = memberOf
    .map((name) => groupOf(name, state))
    .filter((id) => ancestorsOf(id, state.parents).includes(groupId));
  if (within.length > 0) return { person: refOf(person, state), memberOf: [...new Set(within)] };
  throw new LineFault(`${quote(person)} is not a member of the round's group or any of its subgroups.`);
}
