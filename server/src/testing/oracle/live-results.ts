// The figures of a live week, to which batches of new answers are added (P16, decisions/0017).
import { countedIn, type Figure, figuresOf, isScaled, thresholdOf } from './figures.ts';
import { answered, questionsIn, setsOf, type SurveyWeek } from './survey-week.ts';

/** The figures so far, and the people who are counted, by question. */
export type LiveResults = { results: Figure[]; counted: Map<number, ReadonlySet<string>> };

/** Returns the figures with another batch; undefined if no answer can be added. `isLast`: the week closes, and a batch is always added. */
export function withBatch(week: SurveyWeek, before: LiveResults, isLast: boolean): LiveResults | undefined {
  let isChanged = isLast;
  const after: LiveResults = { results: [], counted: new Map() };
  for (const q of questionsIn(week)) {
    const known = before.counted.get(q) ?? new Set();
    const waiting = answered(week, q).filter((person) => !known.has(person));
    const counted = countedIn(week, q, isLast ? waiting : withoutLeftOut(week, q, waiting));
    const added = new Set([...counted.figures.values()].flatMap((people) => [...people]));
    isChanged ||= added.size > 0;
    after.counted.set(q, known.union(added));
    for (const figure of figuresOf(week, q, counted)) {
      const earlier = before.results.find((one) => one.q === q && one.g === figure.g);
      after.results.push(sumOf(week.questions.get(q)!.type, earlier, figure));
    }
  }
  return isChanged ? after : undefined;
}

/** Returns the people of a batch that leaves no one out of any group in which as many people as the threshold are asked. */
function withoutLeftOut(week: SurveyWeek, q: number, people: string[]): string[] {
  const { figures } = countedIn(week, q, people);
  const isLarge = new Set(
    setsOf(week, q, week.memberOf.keys())
      .filter((asked) => asked.people.size >= thresholdOf(week, q))
      .map(({ id }) => id),
  );
  const leftOut = new Set(
    setsOf(week, q, people)
      .filter(({ id }) => isLarge.has(id))
      .flatMap((set) => [...set.people].filter((person) => !figures.get(set.id)?.has(person))),
  );
  if (leftOut.size === 0) return people;
  return withoutLeftOut(
    week,
    q,
    people.filter((person) => !leftOut.has(person)),
  );
}

function sumOf(type: number, a: Figure | undefined, b: Figure): Figure {
  if (!a || a.answers === null) return b;
  if (b.answers === null) return a;
  const answers = a.answers + b.answers;
  const value = isScaled(type) ? (a.value! * a.answers + b.value! * b.answers) / answers : null;
  const names = Object.keys({ ...a.counts, ...b.counts });
  const counts = Object.fromEntries(
    names.map((name) => [name, (a.counts?.[name] ?? 0) + (b.counts?.[name] ?? 0)]),
  );
  return { ...b, answers, value, counts: a.counts || b.counts ? counts : null };
}
