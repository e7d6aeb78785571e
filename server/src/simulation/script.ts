// Decides who answers in a simulated week, what they answer, and how: in one go, in parts, or with a change afterwards. Pure: the
// same seed, people and questions give the same result.
import {
  freeText,
  isChoice,
  multipleChoice,
  type QuestionType,
  type Scale,
  type ScaledType,
  scaleOf,
  yesNo,
} from '@soundings/contract/question-types.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import {
  type Character,
  type Sentiment,
  sentimentsOf,
  type Respondent,
  type Sentences,
} from './sentiment.ts';
import { type Random, randomFrom } from './random.ts';

export type AskedQuestion = {
  id: number;
  key: string;
  type: QuestionType;
  /** The ids of its options, if it is a choice question. */
  options: string[];
  /** The KPI it belongs to. */
  topic: string | undefined;
  /** What the form of the page sends for "not applicable"; undefined: the question doesn't allow it. */
  notApplicable?: string | undefined;
};

/** A person asked in a week, and the questions. */
export type AskedRespondent = Respondent & { questions: AskedQuestion[] };

/** An answer as a person gives it. `value`: in the form that readAnswer expects. */
export type Said = {
  questionId: number;
  value?: number | boolean | string | string[];
  comment?: string;
  skipped?: true;
  /** What the form sends for "not applicable". Such an answer has no value. */
  notApplicable?: string;
};

/** A visit of a person to the answering page, and the answers that it sends. `isReading`: the page is fetched first. */
export type SimulatedVisit = { isReading: boolean; answers: Said[] };

/** What is the same in all weeks. `rate`: the share of the people asked who answer, from 0 to 1. */
export type Plot = { seed: number; rate: number; character: Character };

/** Returns the visits of each person asked in a week, in the given order. A person who does not answer has none. */
export function scriptsOf(
  { seed, rate, character }: Plot,
  week: Week,
  asked: readonly AskedRespondent[],
): SimulatedVisit[][] {
  const sentiment = sentimentsOf(seed, character);
  const pen = newPen(seed, week);
  return asked.map((one) => {
    const random = randomFrom(seed, `${week} ${one.person}`);
    return one.questions.length > 0 && random.chance(sentiment.toAnswer(one, week, rate))
      ? visitsOf({ random, seed, sentiment, pen, character }, one, week)
      : [];
  });
}

type AnswerContext = { random: Random; seed: number; sentiment: Sentiment; pen: Pen; character: Character };

function visitsOf(context: AnswerContext, one: AskedRespondent, week: Week): SimulatedVisit[] {
  const { random } = context;
  const { questions } = one;
  const isReading = random.chance(0.3);
  // Some people are interrupted halfway.
  const until = random.chance(0.05) ? Math.ceil(random.next() * questions.length) : questions.length;
  const answers = questions.slice(0, until).map((question) => answerOf(context, one, question, week));
  if (answers.length > 1 && random.chance(0.06)) {
    const part = 1 + Math.floor(random.next() * (answers.length - 1));
    return [
      { isReading, answers: answers.slice(0, part) },
      { isReading: true, answers: answers.slice(part) },
    ];
  }
  const first = { isReading, answers };
  const changed = random.chance(0.05) ? secondThought(answers, questions) : undefined;
  return changed ? [first, { isReading: true, answers: [changed] }] : [first];
}

/** Returns the first answer that can be one step lower on its scale, one step lower. */
function secondThought(answers: Said[], questions: AskedQuestion[]): Said | undefined {
  const at = answers.findIndex(({ value }) => typeof value === 'number' && value > 1);
  const answer = answers[at];
  if (!answer || (questions[at] as AskedQuestion).type === yesNo) return undefined;
  return { ...answer, value: (answer.value as number) - 1 };
}

function answerOf(context: AnswerContext, one: AskedRespondent, question: AskedQuestion, week: Week): Said {
  // Drawn for everyone, so that a person's other answers don't depend on whether questions allow "not applicable".
  const answer = drawnAnswer(context, one, question, week);
  const { id: questionId, notApplicable } = question;
  if (notApplicable === undefined || answer.skipped || isConcerned(context, one, question)) return answer;
  return { questionId, notApplicable };
}

function drawnAnswer(
  context: AnswerContext,
  one: AskedRespondent,
  question: AskedQuestion,
  week: Week,
): Said {
  const { random, sentiment, pen, character } = context;
  const { id: questionId, type, topic } = question;
  if (type === freeText) {
    const comment = random.chance(0.15) ? pen.write(one, character.openAnswer(question.key)) : undefined;
    return comment === undefined ? { questionId, skipped: true } : { questionId, comment };
  }
  if (random.chance(0.02)) return { questionId, skipped: true };
  if (isChoice(type)) return { questionId, value: choiceOf(context, one, question) };
  const felt = sentiment.about(one, question, week) + random.around0(0.6);
  const sentences = character.remark(random, { respondent: one, topic, week, felt });
  const comment = sentences && pen.write(one, sentences);
  return { questionId, value: onScale(type, felt), ...(comment !== undefined && { comment }) };
}

/** Returns whether a question concerns a person: the same each time the person is asked. */
const isConcerned = ({ seed }: AnswerContext, { person }: AskedRespondent, { key }: AskedQuestion) =>
  !randomFrom(seed, `concerns ${person} ${key}`).chance(0.06);

/** Returns a sentiment from 1 to 5 as an answer to a question of a type. */
function onScale(type: ScaledType, felt: number): number | boolean {
  if (type === yesNo) return felt >= 3;
  const { low, high } = scaleOf(type) as Scale;
  return Math.round(Math.max(low, Math.min(high, low + ((felt - 1) / 4) * (high - low))));
}

/** Returns one option, or several for multiple choice, whose last option stands for none of the others. */
function choiceOf(
  { seed, random }: AnswerContext,
  { groups }: AskedRespondent,
  question: AskedQuestion,
): string | string[] {
  const { key, type, options } = question;
  const group = groups[0]?.[0];
  const weights = options.map(
    (id) =>
      (0.3 + randomFrom(seed, `${key} ${id}`).next()) *
      (0.5 + randomFrom(seed, `${group} ${key} ${id}`).next()),
  );
  if (type === multipleChoice) {
    const last = options.at(-1) as string;
    const chosen = options.filter((id, i) => id !== last && random.chance(0.3 * (weights[i] as number)));
    return chosen.length > 0 ? chosen : [last];
  }
  let left = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
  return options.at(weights.findIndex((weight) => (left -= weight) < 0)) as string;
}

/** Returns a sentence in the language of a person; undefined if all of them have been used in this week. */
type Pen = { write(respondent: Respondent, sentences: Sentences): string | undefined };

/** Sentences are drawn like cards, each week from another place in the deck, so that none appears twice in a week. */
function newPen(seed: number, week: Week): Pen {
  const decks = new Map<string[], string[]>();
  const used = new Set<string>();
  const number = Math.round(Date.parse(week) / (7 * 86_400_000));
  return {
    write({ language }, sentences) {
      const all = sentences[language] ?? sentences.en;
      const deck = decks.get(all) ?? cut(randomFrom(seed, all.join('')).shuffled(all), 3 * number);
      decks.set(all, deck);
      const at = deck.findIndex((sentence) => !used.has(sentence));
      if (at < 0) return undefined;
      const [sentence] = deck.splice(at, 1) as [string];
      used.add(sentence);
      return sentence;
    },
  };
}

const cut = <T>(list: T[], at: number): T[] => {
  const place = at % list.length;
  return [...list.slice(place), ...list.slice(0, place)];
};
