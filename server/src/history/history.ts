// Brings past surveys in from a file (docs/history.md), through the same rounds, answers and publication as live asking.
// One transaction: a fault names its line, and then nothing is imported.
import { addWeeks, dayIn, type Week, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { accountById, lockAccount, raiseVersion } from '../accounts/accounts.ts';
import { answeredBefore, copyImported, sealedIn } from '../answers/imported.ts';
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
  questionsOf,
} from '../questions/questions.ts';
import { freeText, readAnswer } from '../questions/types.ts';
import { closeWeek, forgetClosed } from '../results/publish.ts';
import { wayUp } from '../people/tree.ts';
import {
  type AskedPerson,
  hasEnded,
  lockSurvey,
  membersNow,
  openRound,
  openWeek,
  type PersonRef,
  respondentOf,
  roundsOf,
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

/** How many of each were new: a file that is imported again has none. */
export type Imported = {
  questions: number;
  kpis: number;
  rounds: number;
  answers: number;
  weeks: number;
  /** Answers of rounds that were there before, if there are any: they are not imported again, nor compared. */
  passedOver?: number;
};

/** What the lines refer to. */
type Scene = {
  groups: Map<string, number>;
  parents: Map<number, number | null>;
  questions: Map<string, Question & { optionIds: Set<string> }>;
  rounds: Map<string, ImportedRound>;
  /** The users of the account, by externalId: a person of the file who is one answers as that user. */
  users: ReadonlyMap<string, number>;
  /** Weeks in which a schedule asks: nothing is imported into them. */
  scheduled: ReadonlySet<Week>;
  /** No round may be later: it would stay open for ever. */
  lastWeek: Week;
  /** The weeks that this import has opened, or adds to. */
  weeks: Map<Week, ImportedWeek>;
  /** Numbers that were made, of the weeks met last. */
  numbers: Map<Week, Map<string, string>>;
};
type ImportedRound = {
  questionIds: number[];
  /** Who is asked, ascending; undefined for a round that was there already, whose answers are there too. */
  respondents: Respondents | undefined;
};
/** `isBrief`: this import has opened it. `roster`: who has answered what so far, from the first answer on. */
type ImportedWeek = { key: WeekKey; isBrief: boolean; roster: Roster | undefined };

/** Imports a file. `now`: milliseconds since 1970; weeks that have ended by then are published at once. */
export async function importHistory(
  pool: Pool,
  keys: AnswerKeys,
  accountId: AccountId,
  path: string,
  now: number,
): Promise<Imported> {
  const { timezone } = await accountById(pool, accountId);
  await keys.prepare();
  // Weeks that it opens and closes itself have keys that are stored nowhere: they leave nothing to forget.
  let closesOpenWeek = false;
  const imported = await inTransaction(pool, async (tx) => {
    // First, as those do who close or show a week: they and we would wait for each other.
    await lockSurvey(tx, accountId);
    await lockAccount(tx, accountId);
    const defined = await importDefinitions(tx, accountId, path);
    const scene = await sceneOf(tx, accountId, addWeeks(weekOf(dayIn(timezone, now)), 53));
    const rounds = await importRounds(tx, keys, accountId, path, scene);
    const answers = await importAnswers(tx, accountId, path, scene);
    for (const [week, { key, isBrief }] of [...scene.weeks].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      // oxlint-disable no-await-in-loop -- one week at a time is in memory
      if (hasEnded(week, timezone, now)) {
        closesOpenWeek ||= !isBrief;
        await closeWeek(tx, keys, accountId, week, isBrief ? key : undefined);
      } else if (isBrief) await keys.keep(tx, accountId, week, key);
      // oxlint-enable no-await-in-loop
    }
    await raiseVersion(tx, accountId);
    return { ...defined, rounds, ...answers, weeks: scene.weeks.size };
  });
  if (closesOpenWeek) await forgetClosed(pool, keys);
  return imported;
}

/** The lines of the given kinds, with their numbers. Others are passed over as cheaply as can be. */
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
  // The parser counts lines too: of one line it is the first.
  if ('fault' in parsed) throw new LineFault(parsed.fault.message.replace('line 1, column', 'column'));
  return readLine(parsed.value);
}

/** Does something for a line: what is wrong is told with its number. */
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
      const isThere = line.kind === 'question' ? questions.has(key) : kpis.has(key);
      if (isThere) throw faultAt(number, `The ${line.kind} ${quote(key)} is there twice.`);
      if (line.kind === 'question') questions.set(key, { number, question: line.question });
      else kpis.set(key, { number, kpi: line.kpi });
    }
  }
  for (const before of await questionsOf(tx, accountId)) {
    const { number, question } = questions.get(before.key) ?? {};
    const fault = question && changeFault(before, question);
    if (fault) throw faultAt(number as number, fault);
  }
  const changed = await defineQuestions(
    tx,
    accountId,
    [...questions.values()].map(({ question }) => question),
  );
  const known = new Map((await questionsOf(tx, accountId)).map((question) => [question.key, question]));
  const wanted = [...kpis.values()].map(({ number, kpi }): DefinedKpi => {
    const ids = kpi.questions.map((key) => {
      const question = known.get(key);
      if (!question) throw faultAt(number, `There is no question ${quote(key)}.`);
      if (question.type > 4)
        throw faultAt(number, `The question ${quote(key)} has no value: types 1 to 4 only.`);
      return question.id;
    });
    const { questions: _, ...rest } = kpi;
    return { ...rest, questionIds: ids.toSorted((a, b) => a - b) };
  });
  return { questions: changed, kpis: await defineKpis(tx, accountId, wanted) };
}

async function sceneOf(tx: Transaction, accountId: AccountId, lastWeek: Week): Promise<Scene> {
  const groups = await selectGroupNames(tx, accountId);
  const questions = await questionsOf(tx, accountId);
  const rounds = await roundsOf(tx, accountId);
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
  scene: Scene,
): Promise<number> {
  let count = 0;
  for await (const entries of entriesOf(path, ['round'])) {
    for (const { number, line } of entries) {
      // oxlint-disable-next-line no-await-in-loop -- of thousands of people each: one at a time is in memory
      if (await importRound(tx, keys, accountId, { line, number, scene })) count++;
    }
  }
  return count;
}

/** False when the round was there before. */
async function importRound(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  { line, number, scene }: { line: RoundLine; number: number; scene: Scene },
): Promise<boolean> {
  const { week } = line;
  if (week > scene.lastWeek) throw faultAt(number, `The week ${weekName(week)} is more than a year ahead.`);
  const groupId = atLine(number, () => groupOf(line.group, scene));
  const questionIds = line.questions
    .map((key) => {
      const question = scene.questions.get(key);
      if (!question) throw faultAt(number, `There is no question ${quote(key)}.`);
      return question.id;
    })
    .toSorted((a, b) => a - b);
  const place = placeOf(week, groupId);
  const before = scene.rounds.get(place);
  if (before?.respondents)
    throw faultAt(number, `The week ${weekName(week)} has a round of this group already.`);
  if (before && before.questionIds.join() !== questionIds.join()) {
    throw faultAt(number, `The week ${weekName(week)} has a round of this group with other questions.`);
  }
  if (before) return false;
  if (scene.scheduled.has(week)) {
    // An import that is refused for an answer that is there would tell who has answered.
    throw faultAt(number, `A schedule asks in the week ${weekName(week)}: nothing can be imported into it.`);
  }
  const { key } = await weekAt(tx, keys, accountId, { week, number, scene });
  const asked = line.asked
    ? line.asked.map((one) => atLine(number, () => personOf(one, groupId, scene)))
    : await membersNow(tx, accountId, groupId, scene.parents);
  const round = { week, groupId, questionIds, asked, parents: scene.parents };
  const { respondents } = await openRound(tx, accountId, key, round);
  scene.rounds.set(place, { questionIds, respondents: respondentsOf(respondents) });
  return true;
}

/** The week, opened unless it is open already. */
async function weekAt(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  { week, number, scene }: { week: Week; number: number; scene: Scene },
): Promise<ImportedWeek> {
  const known = scene.weeks.get(week);
  if (known) return known;
  const isNew = ![...scene.rounds.keys()].some((place) => place.startsWith(`${week} `));
  const key = await openedAt(number, () => openWeek(tx, keys, accountId, week, true));
  const opened = { key, isBrief: isNew, roster: undefined };
  scene.weeks.set(week, opened);
  return opened;
}

async function openedAt<T>(number: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Fault && error.kind === 'conflict' ? faultAt(number, error.message) : error;
  }
}

function groupOf(name: GroupName, { groups, parents }: Scene): number {
  const id = typeof name === 'string' ? groups.get(name) : name.id;
  if (id !== undefined && parents.has(id)) return id;
  throw new LineFault(`There is no group ${typeof name === 'string' ? quote(name) : name.id}.`);
}

/** Of a person's groups those count that are within the asked one (decision A11). */
function personOf(
  { person, memberOf }: { person: string; memberOf: GroupName[] },
  groupId: number,
  scene: Scene,
): AskedPerson {
  const within = memberOf
    .map((name) => groupOf(name, scene))
    .filter((id) => wayUp(id, scene.parents).includes(groupId));
  if (within.length > 0) return { person: refOf(person, scene), memberOf: [...new Set(within)] };
  throw new LineFault(`${quote(person)} is in no group within the asked one.`);
}

function refOf(person: string, { users }: Scene): PersonRef {
  const userId = users.get(person);
  return userId === undefined ? { stranger: person } : { userId };
}

async function importAnswers(
  tx: Transaction,
  accountId: AccountId,
  path: string,
  scene: Scene,
): Promise<{ answers: number; passedOver?: number }> {
  let [count, passedOver] = [0, 0];
  async function* sealed() {
    for await (const entries of entriesOf(path, ['answer'])) {
      const people = new Map<
        string,
        { week: Week; respondent: string; answers: Map<number, PersonAnswer> }
      >();
      for (const { number, line } of entries) {
        const given = atLine(number, () => answerOf(line, scene));
        if (!given) {
          passedOver++;
          continue;
        }
        count++;
        const { week, respondent, questionId, answer } = given;
        const imported = scene.weeks.get(week) as ImportedWeek;
        imported.roster ??= emptyRoster(week, scene);
        if (!imported.roster.note(respondent, questionId))
          // oxlint-disable-next-line no-await-in-loop -- it ends the import
          throw await secondAnswer(path, number, given, scene);
        const name = `${week} ${respondent}`;
        const one = people.get(name) ?? { week, respondent, answers: new Map<number, PersonAnswer>() };
        people.set(name, one);
        one.answers.set(questionId, answer);
      }
      yield [...people.values()].map((one) => sealedIn((scene.weeks.get(one.week) as ImportedWeek).key, one));
    }
  }
  // Before the answers are written: nothing else can be asked of the database meanwhile.
  for (const [week, imported] of scene.weeks) {
    // oxlint-disable-next-line no-await-in-loop -- few weeks are open
    if (!imported.isBrief) imported.roster = await rosterOf(tx, accountId, week, scene);
  }
  await copyImported(tx, accountId, sealed());
  return { answers: count, ...(passedOver > 0 && { passedOver }) };
}

function emptyRoster(week: Week, scene: Scene): Roster {
  const rounds = [...scene.rounds].filter(([place]) => place.startsWith(`${week} `)).map(([, one]) => one);
  return new Roster(
    rounds.flatMap(({ respondents }) => respondents ?? []),
    rounds.flatMap(({ questionIds }) => questionIds),
  );
}

/** Who has answered what in an open week before the import. */
async function rosterOf(tx: Transaction, accountId: AccountId, week: Week, scene: Scene): Promise<Roster> {
  const { key } = scene.weeks.get(week) as ImportedWeek;
  const roster = emptyRoster(week, scene);
  for await (const [respondent, questionIds] of answeredBefore(tx, key, accountId, week)) {
    for (const id of questionIds) roster.note(respondent, id);
  }
  return roster;
}

type ReadAnswer = { week: Week; questionId: number; respondent: string; answer: PersonAnswer };

/** Undefined when its round was there before. */
function answerOf(line: AnswerLine, scene: Scene): ReadAnswer | undefined {
  const { week, person, comment, skipped } = line;
  const round = scene.rounds.get(placeOf(week, groupOf(line.group, scene)));
  if (!round) throw new LineFault(`The week ${weekName(week)} has no round of this group.`);
  const question = scene.questions.get(line.question);
  if (!question || !round.questionIds.includes(question.id)) {
    throw new LineFault(`The question ${quote(line.question)} was not asked.`);
  }
  const kept = skipped
    ? { value: null, choices: null }
    : readAnswer(question.type, question.optionIds, line.value);
  if (typeof kept === 'string') throw new LineFault(`The value must be ${kept}.`);
  if (question.type === freeText && !skipped && comment === null) {
    throw new LineFault('An answer to a question of type 7 has a comment, or is skipped.');
  }
  if (!round.respondents) return undefined;
  const respondent = numberOf(week, person, scene);
  if (!isAmong(round.respondents, respondent)) throw new LineFault(`${quote(person)} was not asked.`);
  const answer = { ...kept, comment, skipped, counted: false, giving: fromFile };
  return { week, questionId: question.id, respondent, answer };
}

const fromFile = { link: 'history', visit: null, handedOut: false };

/** A person's number in a week. Those of a few weeks are kept: most files go through week after week. */
function numberOf(week: Week, person: string, scene: Scene): string {
  const { weeks, numbers } = scene;
  let ofWeek = numbers.get(week);
  if (!ofWeek) {
    if (numbers.size === 4) numbers.clear();
    numbers.set(week, (ofWeek = new Map()));
  }
  const known = ofWeek.get(person);
  if (known !== undefined) return known;
  const number = respondentOf((weeks.get(week) as ImportedWeek).key, refOf(person, scene));
  ofWeek.set(person, number);
  return number;
}

/** The fault of an answer, in a line, that is there twice: in a line before, or from before the import. */
async function secondAnswer(path: string, at: number, second: ReadAnswer, scene: Scene): Promise<Fault> {
  for await (const entries of entriesOf(path, ['answer'])) {
    for (const { number, line } of entries) {
      if (number >= at) break;
      const answer = answerOf(line, scene);
      if (answer?.week !== second.week || answer.questionId !== second.questionId) continue;
      if (answer.respondent === second.respondent) {
        return faultAt(at, `The same person has answered this question in line ${number} already.`);
      }
    }
  }
  return faultAt(at, 'The same person has answered this question already.');
}
