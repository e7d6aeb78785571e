// Imports past surveys from a file (docs/history.md). The import opens rounds, stores answers and publishes results with the same
// functions as current surveys. It is one transaction: a fault names its line, and nothing is imported.
import { addWeeks, dayIn, type Week, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { accountById, lockAccount, raiseVersion } from '../accounts/accounts.ts';
import { answeredBefore, copyParts, sealedIn } from '../answers/imported.ts';
import { Fault } from '../base/errors.ts';
import { parseText } from '../base/json.ts';
import { quote } from '../base/text.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import {
  changeFault,
  defineKpis,
  defineQuestions,
  type DefinedKpi,
  type NewQuestion,
  type Question,
  selectQuestions,
} from '../questions/questions.ts';
import { freeText, readAnswer } from '../questions/types.ts';
import { closeWeek, deleteClosedData } from '../results/close-week.ts';
import { ancestorsOf } from '../people/tree.ts';
import {
  type AskedPerson,
  hasEnded,
  lockSurvey,
  membersNow,
  openRound,
  openWeek,
  type PersonRef,
  respondentOf,
  selectRounds,
} from '../rounds/rounds.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { PersonAnswer } from '../sealing/person-answers.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import { faultAt, linesOf } from './file.ts';
import { isAmong, type Respondents, respondentsOf, Roster } from './roster.ts';
import { selectGroupNames, selectScheduledWeeks, selectUserIds } from './history.sql.ts';
import {
  type AnswerLine,
  type GroupName,
  type HistoryLine,
  type KpiLine,
  LineFault,
  readLine,
  type RoundLine,
} from './lines.ts';

/** How many of each were new or changed. All are 0 if the same file is imported again. */
export type Imported = {
  questions: number;
  kpis: number;
  rounds: number;
  answers: number;
  weeks: number;
  /** The number of answers skipped because their round already existed. They are neither imported nor compared. */
  passedOver?: number;
};

/** What the lines can refer to, and what the import has created so far. */
type ImportState = {
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
type ImportedRound = {
  questionIds: number[];
  /** The people asked, ascending. Undefined for a round that already existed: its answers exist too. */
  respondents: Respondents | undefined;
};
/** `isNew`: this import has opened the week. `roster`: who has answered what so far; created with the first answer. */
type ImportedWeek = { key: WeekKey; isNew: boolean; roster: Roster | undefined };

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
  // The keys of weeks that the import both opens and closes are never stored, so nothing has to be deleted for them.
  let closesOpenWeek = false;
  const imported = await inTransaction(pool, async (tx) => {
    // Taken first, in the same order as when a week is closed or shown, to avoid deadlocks.
    await lockSurvey(tx, accountId);
    await lockAccount(tx, accountId);
    const defined = await importDefinitions(tx, accountId, path);
    const state = await stateOf(tx, accountId, addWeeks(weekOf(dayIn(timezone, now)), 53));
    const rounds = await importRounds(tx, keys, accountId, path, state);
    const answers = await importAnswers(tx, accountId, path, state);
    for (const [week, { key, isNew }] of [...state.weeks].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      // oxlint-disable no-await-in-loop -- one week at a time is in memory
      if (hasEnded(week, timezone, now)) {
        closesOpenWeek ||= !isNew;
        await closeWeek(tx, keys, accountId, week, isNew ? key : undefined);
      } else if (isNew) await keys.keep(tx, accountId, week, key);
      // oxlint-enable no-await-in-loop
    }
    await raiseVersion(tx, accountId);
    return { ...defined, rounds, ...answers, weeks: state.weeks.size };
  });
  if (closesOpenWeek) await deleteClosedData(pool, keys);
  return imported;
}

/** Yields the lines of the given kinds with their numbers. Skips other lines without parsing them where possible. */
async function* entriesOf<K extends HistoryLine['kind']>(
  path: string,
  kinds: readonly K[],
): AsyncGenerator<{ number: number; line: Extract<HistoryLine, { kind: K }> }[]> {
  const others = ['answer', 'round'].filter((kind) => !(kinds as readonly string[]).includes(kind));
  const prefixes = others.map((kind) => `{"${kind}":`);
  for await (const { first, lines } of linesOf(path)) {
    const entries: { number: number; line: Extract<HistoryLine, { kind: K }> }[] = [];
    for (const [i, text] of lines.entries()) {
      if (prefixes.some((prefix) => text.startsWith(prefix)) || text.trim() === '') continue;
      const line = atLine(first + i, () => read(text));
      if ((kinds as readonly string[]).includes(line.kind)) {
        entries.push({ number: first + i, line: line as Extract<HistoryLine, { kind: K }> });
      }
    }
    yield entries;
  }
}

function read(text: string): HistoryLine {
  const parsed = parseText(text.endsWith('\r') ? text.slice(0, -1) : text);
  // The parser sees a single line and calls it line 1.
  if ('fault' in parsed) throw new LineFault(parsed.fault.message.replace('line 1, column', 'column'));
  return readLine(parsed.value);
}

/** Runs `work` for a line and adds the line number to a LineFault. */
function atLine<T>(number: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof LineFault ? faultAt(number, error.message) : error;
  }
}

async function importDefinitions(
  tx: Transaction,
  accountId: AccountId,
  path: string,
): Promise<Pick<Imported, 'questions' | 'kpis'>> {
  const questions = new Map<string, { number: number; question: NewQuestion }>();
  const kpis = new Map<string, { number: number; kpi: KpiLine['kpi'] }>();
  for await (const entries of entriesOf(path, ['question', 'kpi'])) {
    for (const { number, line } of entries) {
      const key = line.kind === 'question' ? line.question.key : line.kpi.id;
      const isDuplicate = line.kind === 'question' ? questions.has(key) : kpis.has(key);
      if (isDuplicate) {
        const kind = line.kind === 'question' ? 'question' : 'KPI';
        throw faultAt(number, `The ${kind} ${quote(key)} is defined twice in this file.`);
      }
      if (line.kind === 'question') questions.set(key, { number, question: line.question });
      else kpis.set(key, { number, kpi: line.kpi });
    }
  }
  for (const before of await selectQuestions(tx, accountId)) {
    const { number, question } = questions.get(before.key) ?? {};
    const fault = question && changeFault(before, question);
    if (fault) throw faultAt(number as number, fault);
  }
  const changed = await defineQuestions(
    tx,
    accountId,
    [...questions.values()].map(({ question }) => question),
  );
  const known = new Map((await selectQuestions(tx, accountId)).map((question) => [question.key, question]));
  const wanted = [...kpis.values()].map(({ number, kpi }): DefinedKpi => {
    const ids = kpi.questions.map((key) => {
      const question = known.get(key);
      if (!question) throw faultAt(number, unknownQuestion(key));
      if (question.type > 4) {
        throw faultAt(
          number,
          `The question ${quote(key)} can't be part of a KPI. KPIs use questions of types 1 to 4 only.`,
        );
      }
      return question.id;
    });
    const { questions: _, ...rest } = kpi;
    return { ...rest, questionIds: ids.toSorted((a, b) => a - b) };
  });
  return { questions: changed, kpis: await defineKpis(tx, accountId, wanted) };
}

const unknownQuestion = (key: string) =>
  `Question ${quote(key)} does not exist. Define it in this file, or create it first.`;

async function stateOf(tx: Transaction, accountId: AccountId, lastWeek: Week): Promise<ImportState> {
  const groups = await selectGroupNames(tx, accountId);
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
        placeOf(week, groupId),
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

const placeOf = (week: Week, groupId: number) => `${week} ${groupId}`;

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
      // oxlint-disable-next-line no-await-in-loop -- a round can have thousands of people: only one is in memory
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
  const place = placeOf(week, groupId);
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
  const round = { week, groupId, questionIds, asked, parents: state.parents };
  const { respondents } = await openRound(tx, accountId, key, round);
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
  const isNew = ![...state.rounds.keys()].some((place) => place.startsWith(`${week} `));
  const key = await openedAt(number, () => openWeek(tx, keys, accountId, week, true));
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

function groupOf(name: GroupName, { groups, parents }: ImportState): number {
  const id = typeof name === 'string' ? groups.get(name) : name.id;
  if (id !== undefined && parents.has(id)) return id;
  throw new LineFault(`Group ${typeof name === 'string' ? quote(name) : name.id} does not exist.`);
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

function refOf(person: string, { users }: ImportState): PersonRef {
  const userId = users.get(person);
  return userId === undefined ? { stranger: person } : { userId };
}

async function importAnswers(
  tx: Transaction,
  accountId: AccountId,
  path: string,
  state: ImportState,
): Promise<{ answers: number; passedOver?: number }> {
  let [count, passedOver] = [0, 0];
  async function* sealed() {
    for await (const entries of entriesOf(path, ['answer'])) {
      const people = new Map<
        string,
        { week: Week; respondent: string; answers: Map<number, PersonAnswer> }
      >();
      for (const { number, line } of entries) {
        const given = atLine(number, () => answerOf(line, state));
        if (!given) {
          passedOver++;
          continue;
        }
        count++;
        const { week, respondent, questionId, answer } = given;
        const imported = state.weeks.get(week) as ImportedWeek;
        imported.roster ??= emptyRoster(week, state);
        if (!imported.roster.note(respondent, questionId))
          // oxlint-disable-next-line no-await-in-loop -- it ends the import
          throw await secondAnswer(path, number, given, state);
        const name = `${week} ${respondent}`;
        const one = people.get(name) ?? { week, respondent, answers: new Map<number, PersonAnswer>() };
        people.set(name, one);
        one.answers.set(questionId, answer);
      }
      yield [...people.values()].map((one) => sealedIn((state.weeks.get(one.week) as ImportedWeek).key, one));
    }
  }
  // Read before the COPY starts, because the connection can run no other statement during it.
  for (const [week, imported] of state.weeks) {
    // oxlint-disable-next-line no-await-in-loop -- few weeks are open
    if (!imported.isNew) imported.roster = await rosterOf(tx, accountId, week, state);
  }
  await copyParts(tx, accountId, sealed());
  return { answers: count, ...(passedOver > 0 && { passedOver }) };
}

function emptyRoster(week: Week, state: ImportState): Roster {
  const rounds = [...state.rounds].filter(([place]) => place.startsWith(`${week} `)).map(([, one]) => one);
  return new Roster(
    rounds.flatMap(({ respondents }) => respondents ?? []),
    rounds.flatMap(({ questionIds }) => questionIds),
  );
}

/** Returns who had answered what in an open week before the import. */
async function rosterOf(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  state: ImportState,
): Promise<Roster> {
  const { key } = state.weeks.get(week) as ImportedWeek;
  const roster = emptyRoster(week, state);
  for await (const [respondent, questionIds] of answeredBefore(tx, key, accountId, week)) {
    for (const id of questionIds) roster.note(respondent, id);
  }
  return roster;
}

type ReadAnswer = { week: Week; questionId: number; respondent: string; answer: PersonAnswer };

/** Returns the answer of a line; undefined if its round already existed before the import. */
function answerOf(line: AnswerLine, state: ImportState): ReadAnswer | undefined {
  const { week, person, comment, skipped } = line;
  const round = state.rounds.get(placeOf(week, groupOf(line.group, state)));
  if (!round) throw new LineFault(`Week ${weekName(week)} has no round for this group.`);
  const question = state.questions.get(line.question);
  if (!question || !round.questionIds.includes(question.id)) {
    throw new LineFault(`Question ${quote(line.question)} was not asked in this round.`);
  }
  const kept = skipped
    ? { value: null, choices: null }
    : readAnswer(question.type, question.optionIds, line.value);
  if (typeof kept === 'string') throw new LineFault(`The value must be ${kept}.`);
  if (question.type === freeText && !skipped && comment === null) {
    throw new LineFault('An answer to a question of type 7 needs a comment, or "skipped": true.');
  }
  if (!round.respondents) return undefined;
  const respondent = numberOf(week, person, state);
  if (!isAmong(round.respondents, respondent))
    throw new LineFault(`${quote(person)} was not asked in this round.`);
  const answer = { ...kept, comment, skipped, counted: false, giving: fromFile };
  return { week, questionId: question.id, respondent, answer };
}

const fromFile = { link: 'history', visit: null, handedOut: false };

/** Returns a person's respondent number in a week. Caches the numbers of up to 4 weeks, as most files are ordered by week. */
function numberOf(week: Week, person: string, state: ImportState): string {
  const { weeks, numbers } = state;
  let ofWeek = numbers.get(week);
  if (!ofWeek) {
    if (numbers.size === 4) numbers.clear();
    numbers.set(week, (ofWeek = new Map()));
  }
  const known = ofWeek.get(person);
  if (known !== undefined) return known;
  const number = respondentOf((weeks.get(week) as ImportedWeek).key, refOf(person, state));
  ofWeek.set(person, number);
  return number;
}

/** Returns the fault for a second answer of the same person to the same question. Names the line of the first one if it is in the file. */
async function secondAnswer(
  path: string,
  at: number,
  second: ReadAnswer,
  state: ImportState,
): Promise<Fault> {
  for await (const entries of entriesOf(path, ['answer'])) {
    for (const { number, line } of entries) {
      if (number >= at) break;
      const answer = answerOf(line, state);
      if (answer?.week !== second.week || answer.questionId !== second.questionId) continue;
      if (answer.respondent === second.respondent) {
        return faultAt(at, `This person already answered this question in line ${number}.`);
      }
    }
  }
  return faultAt(at, 'This person had already answered this question before the import.');
}
