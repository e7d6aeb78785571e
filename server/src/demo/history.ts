// The history of the demo company, as lines of what `soundings history import` reads. Pure.
import { type Week, weekName } from '@soundings/contract/weeks.ts';
import { answersInWords, comments, type Sentences, storyComments } from './comments.ts';
import { type Mood, moodsOf, storyOf } from './mood.ts';
import { type Random, randomFrom } from './random.ts';
import { groupsIn, type Person } from './staff.ts';
import { type DemoQuestion, kpis, otherQuestions, type Topic } from './texts.ts';
import { units } from './units.ts';

const topGroup = (units[0] as { id: string }).id;

const allQuestions: DemoQuestion[] = [
  ...kpis.flatMap(({ questions }) => questions as DemoQuestion[]),
  ...otherQuestions,
];

const topicOf = new Map<string, Topic>(
  kpis.flatMap(({ id, questions }) => questions.map(({ key }) => [key, id])),
);

/**
 * Questions and KPIs, then for each of `weeks` one round of the whole company, and the answers of those asked, each
 * after whom and what it is about. The same seed, staff and weeks give the same lines.
 */
export function* historyOf(
  seed: number,
  staff: readonly Person[],
  weeks: readonly Week[],
): Generator<string> {
  for (const question of allQuestions) yield JSON.stringify({ question: written(question) });
  for (const { id, name, questions } of kpis) {
    yield JSON.stringify({ kpi: { id, name, questions: questions.map(({ key }) => key) } });
  }
  const random = randomFrom(seed, 'answers');
  const mood = moodsOf(seed);
  const pen = newPen(random);
  const plan = questionsByWeek(weeks.length);
  for (const [number, monday] of weeks.entries()) {
    const week = weekName(monday);
    const questions = plan[number] as DemoQuestion[];
    const asked = staff.filter((person) => groupsIn(person, number).length > 0);
    const round = {
      week,
      group: topGroup,
      questions: questions.map(({ key }) => key),
      asked: asked.map((person) => ({ person: person.externalId, memberOf: groupsIn(person, number) })),
    };
    yield JSON.stringify({ round });
    pen.newWeek();
    for (const person of asked) {
      if (!random.chance(mood.toAnswer(person, number, monday))) continue;
      // Some are called away in the middle.
      const until = random.chance(0.05) ? 1 + Math.floor(random.next() * 4) : questions.length;
      for (const question of questions.slice(0, until)) {
        const said = answerOf({ seed, random, mood, pen }, { person, question, number, monday });
        const about = { week, group: topGroup, person: person.externalId, question: question.key };
        yield JSON.stringify({ answer: { ...about, ...said } });
      }
    }
  }
}

/** A question as the format has it: English with a Swedish translation. */
function written({ key, type, en, sv, options }: DemoQuestion): object {
  return {
    key,
    type,
    text: en,
    language: 'en',
    translations: { sv },
    ...(options && {
      options: options.map((option) => ({
        id: option.id,
        text: option.en,
        translations: { sv: option.sv },
      })),
    }),
  };
}

type Pool = Topic | 'recommend' | 'others';

/** What is asked in turn. The question of type 3 is asked every four weeks, apart from the others of its KPI. */
const pools: Record<Pool, DemoQuestion[]> = {
  ...(Object.fromEntries(
    kpis.map(({ id, questions }) => [id, (questions as DemoQuestion[]).filter(({ type }) => type !== 3)]),
  ) as Record<Topic, DemoQuestion[]>),
  recommend: allQuestions.filter(({ type }) => type === 3),
  others: otherQuestions,
};

/** What four weeks ask, five questions each: how many of which pool. */
const fourWeeks: Partial<Record<Pool, number>>[] = [
  { recommend: 1, energy: 2, leadership: 2 },
  { team: 2, direction: 2, others: 1 },
  { growth: 2, energy: 1, leadership: 1, team: 1 },
  { place: 3, pride: 2 },
];

function questionsByWeek(count: number): DemoQuestion[][] {
  const turns = new Map<Pool, number>();
  const nextOf = (pool: Pool) => {
    const turn = turns.get(pool) ?? 0;
    turns.set(pool, turn + 1);
    return pools[pool][turn % pools[pool].length] as DemoQuestion;
  };
  return Array.from({ length: count }, (_, week) =>
    Object.entries(fourWeeks[week % fourWeeks.length] ?? {}).flatMap(([pool, many]) =>
      Array.from({ length: many }, () => nextOf(pool as Pool)),
    ),
  );
}

type Means = { seed: number; random: Random; mood: Mood; pen: Pen };
type Asking = { person: Person; question: DemoQuestion; number: number; monday: Week };
type Said = { value?: number | boolean | string | string[]; comment?: string; skipped?: true };

function answerOf(means: Means, asking: Asking): Said {
  const { random, pen } = means;
  const { person, question } = asking;
  if (question.type === 7) {
    const sentences = answersInWords[question.key as keyof typeof answersInWords];
    const comment = random.chance(0.15) ? pen.write(person, sentences) : undefined;
    return comment === undefined ? { skipped: true } : { comment };
  }
  if (random.chance(0.02)) return { skipped: true };
  const topic = topicOf.get(question.key);
  if (topic === undefined) return { value: choiceOf(means, asking) };
  const felt =
    means.mood.about(person, topic, asking.number, asking.monday) +
    (question.lean ?? 0) +
    random.around0(0.6);
  const comment = commentOn(means, asking, topic, felt);
  return { value: onScale(question.type, felt), ...(comment !== undefined && { comment }) };
}

/** A feeling from 1 to 5 as an answer of a question's type. */
function onScale(type: DemoQuestion['type'], felt: number): number | boolean {
  if (type === 4) return felt >= 3;
  const [low, high] = type === 1 ? [1, 5] : type === 2 ? [1, 10] : [0, 10];
  return Math.round(Math.max(low, Math.min(high, low + ((felt - 1) / 4) * (high - low))));
}

/** An option id for type 5, and several for type 6, of which the last option stands for none of the others. */
function choiceOf({ seed, random }: Means, { person, question, number }: Asking): string | string[] {
  const options = question.options ?? [];
  const [group] = groupsIn(person, number);
  const weights = options.map(
    ({ id, weight }) => weight * (0.5 + randomFrom(seed, `${group} ${question.key} ${id}`).next()),
  );
  if (question.type === 6) {
    const last = options.at(-1)?.id as string;
    const chosen = options.filter(({ id }, i) => id !== last && random.chance((weights[i] as number) / 80));
    return chosen.length > 0 ? chosen.map(({ id }) => id) : [last];
  }
  let left = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
  const at = weights.findIndex((weight) => (left -= weight) < 0);
  return (options.at(at) as { id: string }).id;
}

/** Few comment: mostly those who are glad or sorry, and those who live through something. */
function commentOn({ random, pen }: Means, asking: Asking, topic: Topic, felt: number): string | undefined {
  const { person, question, number } = asking;
  const story = storyOf(person, number);
  const isSorry = felt < 2.7;
  const isGlad = felt > 4.2;
  if (story && question.type !== 4 && (story === 'systemMended' ? felt > 3.5 : felt < 3.5)) {
    if (random.chance(story === 'newSystem' ? 0.09 : 0.06)) return pen.write(person, storyComments[story]);
  }
  if (isSorry && random.chance(0.03)) return pen.write(person, comments[topic].bad);
  if (isGlad && random.chance(0.012)) return pen.write(person, comments[topic].good);
  return undefined;
}

type Pen = {
  newWeek(): void;
  /** A sentence in the language that the person writes in; undefined when all of them have been said in this week. */
  write(person: Person, sentences: Sentences): string | undefined;
};

/** Sentences are dealt like cards: all of a kind before one comes again, and none twice in a week. */
function newPen(random: Random): Pen {
  const decks = new Map<string[], string[]>();
  const said = new Set<string>();
  return {
    newWeek: () => said.clear(),
    write({ language }, sentences) {
      const all = sentences[language === 'sv' ? 'sv' : 'en'];
      const left = decks.get(all);
      const deck = left && left.length > 0 ? left : random.shuffled(all);
      decks.set(all, deck);
      const sentence = deck.pop() as string;
      if (said.has(sentence)) return undefined;
      said.add(sentence);
      return sentence;
    },
  };
}
