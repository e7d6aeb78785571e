// Imports the answers of a history file into the rounds that the import has opened.
import { freeText } from '@soundings/contract/question-types.ts';
import { type Week, weekName } from '@soundings/contract/weeks.ts';
import { copyAnswerBatches } from '../answers/imported.sql.ts';
import { answeredBefore, sealedIn } from '../answers/imported.ts';
import type { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { readAnswer } from '../questions/types.ts';
import { respondentOf } from '../rounds/rounds.ts';
import type { PersonAnswer } from '../sealing/person-answers.ts';
import { atLine, entriesOf } from './entries.ts';
import { faultAt } from './file.ts';
import { groupOf, type ImportedWeek, type ImportState, refOf, roundKeyOf } from './import-state.ts';
import { type AnswerLine, LineFault } from './lines.ts';
import { isAmong, Roster } from './roster.ts';

/**
 * Stores the answers of a file, encrypted. Returns how many it stored, and how many it skipped because their round already
 * existed. Throws a Fault that names the line.
 */
export async function importAnswers(
  tx: Transaction,
  accountId: AccountId,
  path: string,
  state: ImportState,
): Promise<{ answers: number; ignored?: number }> {
  let [count, ignored] = [0, 0];
  async function* sealed() {
    for await (const entries of entriesOf(path, ['answer'])) {
      const people = new Map<
        string,
        { week: Week; respondent: string; answers: Map<number, PersonAnswer> }
      >();
      for (const { number, line } of entries) {
        const given = atLine(number, () => answerOf(line, state));
        if (!given) {
          ignored++;
          continue;
        }
        count++;
        const { week, respondent, questionId, answer } = given;
        const imported = state.weeks.get(week) as ImportedWeek;
        imported.roster ??= emptyRoster(week, state);
        if (!imported.roster.note(respondent, questionId))
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
    if (!imported.isNew) imported.roster = await rosterOf(tx, accountId, week, state);
  }
  await copyAnswerBatches(tx, accountId, sealed());
  return { answers: count, ...(ignored > 0 && { ignored }) };
}

function emptyRoster(week: Week, state: ImportState): Roster {
  const rounds = [...state.rounds].filter(([place]) => place.startsWith(`${week} `)).map(([, one]) => one);
  return new Roster(
    rounds.flatMap(({ respondents }) => respondents ?? []),
    rounds.flatMap(({ questionIds }) => questionIds),
  );
}

/** Returns which questions each person had answered in an open week before the import. */
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
  const { week, person, comment, skipped, notApplicable } = line;
  const round = state.rounds.get(roundKeyOf(week, groupOf(line.group, state)));
  if (!round) throw new LineFault(`Week ${weekName(week)} has no round for this group.`);
  const question = state.questions.get(line.question);
  if (!question || !round.questionIds.includes(question.id)) {
    throw new LineFault(`Question ${quote(line.question)} was not asked in this round.`);
  }
  if (notApplicable && !question.allowsNotApplicable) {
    const remedy = 'Add "allowsNotApplicable": true to the question, in this file or another one.';
    throw new LineFault(`Question ${quote(line.question)} does not allow "not applicable". ${remedy}`);
  }
  const kept =
    skipped || notApplicable
      ? { value: null, choices: null }
      : readAnswer(question.type, question.optionIds, line.value);
  if (typeof kept === 'string') throw new LineFault(`The value must be ${kept}.`);
  if (question.type === freeText && !skipped && comment === null) {
    throw new LineFault(`An answer to a question of type ${freeText} needs a comment, or "skipped": true.`);
  }
  if (!round.respondents) return undefined;
  const respondent = numberOf(week, person, state);
  if (!isAmong(round.respondents, respondent))
    throw new LineFault(`${quote(person)} was not asked in this round.`);
  const none = notApplicable && { notApplicable };
  const answer = { ...kept, comment, skipped, ...none, counted: false, giving: fromFile };
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
