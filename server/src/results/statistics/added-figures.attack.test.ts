// Statistics, drivers and words reveal nothing beyond published figures. Two attacks on random companies: twins, whose answers differ
// only in what is withheld, must not differ in anything that is added; and someone who knows all answers but one must not be able to
// exclude an answer that the published figures leave open. ADDED_ATTACKS=100000 tries as many companies.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { randomFrom } from '../../simulation/random.ts';
import {
  addedTo,
  type ClosedWeek,
  type Met,
  publishWeek,
  serviceSteps,
  type Steps,
  textOf,
  weekNumbered,
} from '../../testing/attacks/added-figures.ts';
import { addedMutants } from '../../testing/attacks/added-mutants.ts';
import { type RandomCompany, randomCompany } from '../../testing/attacks/random-companies.ts';
import { type OpenWeek, twinOf } from '../../testing/attacks/twins.ts';
import { boundsOf } from '../../testing/attacks/second-worlds.ts';
import { caseCount } from '../../testing/house/cases.ts';
import type { WeekAnswer } from '../turnout.ts';

const attacks = caseCount('ADDED_ATTACKS', 160);
const timeouts = { timeout: 300_000 + attacks * 60 };

const closedWeeks = ({ organization }: RandomCompany, weeks: readonly OpenWeek[]): ClosedWeek[] =>
  weeks.map((open, i) => ({
    week: weekNumbered(i),
    open,
    published: publishWeek(open, organization.classes),
  }));

/** Returns the weeks of a twin whose published figures are the same, and in how many weeks its answers differ. */
function closedTwin(
  company: RandomCompany,
  own: readonly ClosedWeek[],
): { weeks: ClosedWeek[]; differ: number } {
  const random = randomFrom(company.seed, 'twin');
  let differ = 0;
  const weeks = own.map(({ week, open, published }) => {
    const answers = twinOf(open, company.organization.classes, random);
    if (textOf([...answers]) !== textOf([...open.answers])) differ++;
    const twin = { data: open.data, answers };
    const closed = { week, open: twin, published: publishWeek(twin, company.organization.classes) };
    expect([company.seed, textOf(closed.published) === textOf(published)]).toEqual([company.seed, true]);
    return closed;
  });
  return { weeks, differ };
}

const companies = function* (count: number) {
  for (let seed = 1; seed <= count; seed++) yield randomCompany(seed);
};

const report = (name: string, measured: object) =>
  process.stdout.write(`Added figures, ${name}: ${JSON.stringify(measured)}\n`);

describe('twins, whose answers differ only in what is withheld', () => {
  test(
    `have the same statistics, best estimates, drivers and words, in ${attacks} companies`,
    timeouts,
    () => {
      const met: Met = { margins: 0, estimates: 0, drivers: 0, words: 0, changes: 0 };
      const measured = { companies: 0, weeks: 0, weeksThatDiffer: 0 };
      const found: number[] = [];
      for (const company of companies(attacks)) {
        const own = closedWeeks(company, company.weeks);
        const twin = closedTwin(company, own);
        measured.companies++;
        measured.weeks += own.length;
        measured.weeksThatDiffer += twin.differ;
        const added = textOf(addedTo(company.organization, own, serviceSteps, met));
        if (added !== textOf(addedTo(company.organization, twin.weeks))) found.push(company.seed);
      }
      report('twins', { ...measured, distinguished: found.length, met });
      expect(found).toEqual([]);
      expect(measured.weeksThatDiffer / measured.weeks).toBeGreaterThan(0.9);
      const few = Object.entries(met).filter(([, count]) => count < attacks / 100);
      expect(few).toEqual([]);
    },
  );

  test.each(Object.entries(addedMutants))('reveal the mutant: %s', (name, steps) => {
    const measured = { companies: 0, distinguished: 0 };
    const enough = 0.03 * 120;
    for (const company of companies(120)) {
      if (measured.distinguished > enough) break;
      const own = closedWeeks(company, company.weeks);
      const { weeks } = closedTwin(company, own);
      const added = (of: ClosedWeek[], by: Steps) => textOf(addedTo(company.organization, of, by));
      measured.companies++;
      if (added(own, steps) !== added(weeks, steps)) measured.distinguished++;
    }
    report(name, measured);
    expect(measured.distinguished).toBeGreaterThan(enough);
  });
});

/** Returns the open week with another answer of a person to a question. */
const withAnswer = (
  { data, answers }: OpenWeek,
  questionId: number,
  respondent: string,
  more: Partial<WeekAnswer>,
): OpenWeek => ({
  data,
  answers: new Map(
    [...answers].map(([id, list]) => [
      id,
      id === questionId
        ? list.map((one) => (one.respondent === respondent ? { ...one, ...more } : one))
        : list,
    ]),
  ),
});

describe('someone who knows all answers but one', () => {
  /** Returns how many possible answers the published figures leave, and how many of them the added figures exclude. */
  function excludedBy(company: RandomCompany, steps: Steps): { left: number; excluded: number } {
    const random = randomFrom(company.seed, 'target');
    const own = closedWeeks(company, company.weeks);
    const place = Math.floor(random.next() * own.length);
    const { open, published } = own[place]!;
    const questions = company.organization.classes
      .flat()
      .filter(({ id, type }) => type <= 4 && (open.answers.get(id)?.length ?? 0) > 0);
    if (questions.length === 0) return { left: 0, excluded: 0 };
    const question = random.oneOf(questions);
    const { respondent } = random.oneOf(open.answers.get(question.id)!);
    const [low, high] = boundsOf(question.type);
    const truth = textOf(addedTo(company.organization, own, steps));
    const possible = Array.from({ length: high - low + 1 }, (_, i) => low + i).flatMap((value) => {
      const other = withAnswer(open, question.id, respondent, { value });
      const others = {
        ...own[place]!,
        open: other,
        published: publishWeek(other, company.organization.classes),
      };
      const isOpen = textOf(others.published) === textOf(published);
      return isOpen ? [own.map((one, i) => (i === place ? others : one))] : [];
    });
    if (possible.length < 2) return { left: 0, excluded: 0 };
    const excluded = possible.filter(
      (weeks) => textOf(addedTo(company.organization, weeks, steps)) !== truth,
    );
    return { left: possible.length, excluded: excluded.length };
  }

  /** Attacks this number of companies, or fewer if that finds `enough` people. */
  const attackAll = (count: number, steps: Steps, enough = Infinity) => {
    const measured = { companies: 0, peopleWithSeveralPossibleAnswers: 0, peopleWithFewer: 0 };
    for (const company of companies(count)) {
      if (measured.peopleWithFewer >= enough) break;
      measured.companies++;
      const { left, excluded } = excludedBy(company, steps);
      if (left > 0) measured.peopleWithSeveralPossibleAnswers++;
      if (excluded > 0) measured.peopleWithFewer++;
    }
    return measured;
  };

  test('can exclude none that the published figures leave open', timeouts, () => {
    const measured = attackAll(Math.ceil(attacks / 2), serviceSteps);
    report('all answers but one', measured);
    expect(measured.peopleWithFewer).toBe(0);
    expect(measured.peopleWithSeveralPossibleAnswers).toBeGreaterThan(attacks / 50);
  });

  test('can exclude some if rolling values are computed from all answers', () => {
    const name = 'rolling values and intervals from all answers, those left out too';
    const measured = attackAll(200, addedMutants[name]!, 3);
    report(`all answers but one, ${name}`, measured);
    expect(measured.peopleWithFewer).toBeGreaterThan(2);
  });
});

test('no statement of statistics, of the readers of results or of reports reads answers or who was asked', () => {
  const answers = /\b(from|join|using)\s+(answers|assignments|participants|links|week_keys)\b/;
  const published = /\b(from|join)\s+(results|response_rates|comment_groups)\b/;
  const texts = ['.', '../data', '../../console/results', '../../console/reports'].flatMap((folder) => {
    const place = new URL(`${folder}/`, import.meta.url);
    const names = readdirSync(place).filter((name) => name.endsWith('.sql.ts'));
    return names.map(
      (name) => [name, readFileSync(new URL(name, place), 'utf8').replace(/\/\/.*/g, '')] as const,
    );
  });
  expect(texts.filter(([, text]) => published.test(text)).length).toBeGreaterThan(5);
  expect(texts.flatMap(([name, text]) => (answers.test(text) ? [name] : []))).toEqual([]);
});
