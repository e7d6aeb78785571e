// Questions and KPIs of a story: the first ones, new ones, and new texts. They are imported in the same file as a week.
import { selectQuestions } from '../../questions/questions.sql.ts';
import type { Kpi, Question } from '../oracle/account-state.ts';
import { hasOptions, isScaled } from '../oracle/figures.ts';
import { kpi, question } from '../surveys.ts';
import { int, openWeeks, type Story } from './story.ts';

/** Questions, whose `id` is unknown if they are new, and KPIs, which refer to questions by their keys. */
export type Definitions = {
  questions: Question[];
  kpis: (Omit<Kpi, 'questionIds' | 'hasValues'> & { keys: string[] })[];
};

const firstTypes = { mood: 1, tens: 2, advise: 3, bus: 4, lunch: 5, tools: 6, words: 7, four: 8, pace: 1 };

export const firstDefinitions = (): Definitions => ({
  questions: Object.entries(firstTypes).map(([key, type]) => withTexts({ id: 0, key, type }, 'first', true)),
  kpis: [{ id: 'energy', name: 'Energy', imageUrl: null, keys: ['mood', 'tens'] }],
});

/** `name`: makes the texts different from all others. */
function withTexts(
  one: Pick<Question, 'id' | 'key' | 'type'>,
  name: string,
  isTranslated: boolean,
): Question {
  const textsOf = (about: string) => ({
    text: `About ${about} ${name}?`,
    sv: isTranslated ? `Om ${about} ${name}?` : undefined,
  });
  const options = ['in', 'out', 'none'].map((id) => ({ id, ...textsOf(id) }));
  return { ...one, ...textsOf(one.key), options: hasOptions(one.type) ? options : [] };
}

/** Returns new and changed definitions. A new question is the first one. Texts of questions in open weeks can't be changed (P17). */
export function someDefinitions(story: Story): Definitions {
  const { random, count, questions, kpis } = story;
  const isAsked = (q: number) => openWeeks(story).some(({ survey }) => survey.questions.has(q));
  const added = { id: 0, key: `q${count}`, type: int(random, 1, 8) };
  const changed = random.shuffled(questions.filter(({ id }) => !isAsked(id))).slice(0, int(random, 0, 4));
  const some = [...(random.chance(0.4) ? [added] : []), ...changed];
  const all = [...questions, ...some].filter(({ type }) => isScaled(type)).map(({ key }) => key);
  const one = {
    id: random.chance(0.3) ? `k${count}` : random.oneOf(kpis).id,
    name: `Name ${count}`,
    imageUrl: random.chance(0.5) ? `https://example.com/${count}.png` : null,
    keys: random.shuffled([...new Set(all)]).slice(0, int(random, 1, 3)),
  };
  return {
    questions: some.map((about) => withTexts(about, String(count), random.chance(0.7))),
    kpis: random.chance(0.4) ? [one] : [],
  };
}

const translationsOf = ({ sv }: { sv: string | undefined }) => ({
  translations: sv === undefined ? {} : { sv },
});

export const linesOfDefinitions = ({ questions, kpis }: Definitions): object[] => [
  ...questions.map(({ key, type, options, ...texts }) => {
    const ownOptions = options.map(({ id, ...one }) => ({ id, text: one.text, ...translationsOf(one) }));
    const more = hasOptions(type) ? { options: ownOptions } : {};
    return question(key, type, { text: texts.text, ...translationsOf(texts), ...more });
  }),
  ...kpis.map(({ id, name, imageUrl, keys }) =>
    kpi(id, keys, { name, ...(imageUrl !== null && { imageURL: imageUrl }) }),
  ),
];

/** Notes that these lines are imported, and sets the ids of new questions. */
export async function noteDefinitions(story: Story, { questions, kpis }: Definitions): Promise<void> {
  const rows = await selectQuestions(story.world.pool, story.account.id);
  const idOf = (key: string) => rows.find((one) => one.key === key)!.id;
  for (const one of questions) {
    one.id = idOf(one.key);
    story.questions = [...story.questions.filter(({ key }) => key !== one.key), one];
  }
  for (const { keys, ...one } of kpis) {
    const hasValues = story.kpis.some(({ id, hasValues: had }) => id === one.id && had);
    const defined = { ...one, hasValues, questionIds: keys.map(idOf) };
    story.kpis = [...story.kpis.filter(({ id }) => id !== one.id), defined];
  }
}
