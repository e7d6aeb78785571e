// "Not applicable" when figures are published: it counts as answered, is in no figure of values, and how many people chose it is a figure of
// its own. Where no one chose it, all figures are as they were.
import { describe, expect, test } from 'vitest';
import { randomFrom } from '../simulation/random.ts';
import { kpi, question, round } from '../testing/surveys.ts';
import { heaviestPerson } from '../testing/attacks/weights.ts';
import {
  asked,
  close,
  type Company,
  database,
  everyone,
  figuresOf,
  give,
  home,
  openCompany,
  pool,
  ratesOf,
  useDatabase,
  W,
  week,
} from './close-week.fixture.ts';
import { noiseOf } from './disclosure/noise.ts';
import { chosenFigures, classFigures, kpiValues, type Result } from './figures.ts';
import { showLiveWeeks } from './live-week.ts';
import { segmentResults } from './segments/segment-figures.ts';
import { turnoutOf, type WeekAnswer, type WeekData } from './turnout.ts';

useDatabase();

const definitions = [
  question('scale', 1, { allowsNotApplicable: true }),
  question('bus', 4, { allowsNotApplicable: true }),
  kpi('mood', ['scale']),
];
const open = [...definitions, round(W, 'top', ['scale', 'bus'], asked)];
const noneLine = (person: string, key: string) => ({
  answer: { week: W, group: 'top', person, question: key, notApplicable: true },
});

/** Returns how many people chose it, by group; null where it is withheld. */
async function countsOf({ id, groups }: Company, key = 'scale') {
  const rows = await pool<{ groupId: number; count: number | null; of: number | null }[]>`
    select group_id as "groupId", not_applicable as count, not_applicable_of as of
    from   results join questions using (account_id, question_id)
    where  account_id = ${id} and key = ${key} and week = ${week}`;
  const names = new Map([...groups].map(([name, groupId]) => [groupId, name]));
  return Object.fromEntries(
    rows.map((row) => [names.get(row.groupId), row.count === null ? null : [row.count, row.of]]),
  );
}

describe('when a week closes', () => {
  test('values leave it out, it counts as answered, and its number is shown from the distribution threshold on', async () => {
    const acme = await openCompany(open);
    for (const one of everyone) {
      const isNone = one === 'a0' || one === 'south0';
      await give(acme, one, 'scale', isNone ? { notApplicable: true } : { value: 4 });
      await give(acme, one, 'bus', one.startsWith('a') ? { notApplicable: true } : { value: true });
    }
    await close(acme);
    const of = (answers: number) => ({ value: 0.75, answers });
    expect(await figuresOf(acme)).toEqual({ a: of(5), b: of(6), south: of(5), north: of(11), top: of(16) });
    // Teams of six are too small for distributions, and so for this.
    expect(await countsOf(acme)).toEqual({ a: null, b: null, south: null, north: [1, 12], top: [1, 12] });
    expect(await ratesOf(acme)).toEqual({ a: 1, b: 1, south: 1, north: 1, top: 1 });
    // Ten yes or no answers are needed. In the north, six people gave one.
    expect((await figuresOf(acme, 'bus'))['north']).toEqual({ value: null, answers: null });
    expect(await countsOf(acme, 'bus')).toMatchObject({ a: null, north: [6, 12], top: [6, 12] });
    const [row] =
      await pool`select value from kpi_values where account_id = ${acme.id} and group_id = ${acme.groups.get('top')!}`;
    expect(row).toEqual({ value: 0.75 });
  });

  test('a figure is withheld if too few people of its cell gave a value, and no larger figure reveals them', async () => {
    const acme = await openCompany(open);
    for (const one of everyone) {
      const isNone = ['a0', 'a1'].includes(one);
      await give(acme, one, 'scale', isNone ? { notApplicable: true } : { value: home[one] === 'a' ? 1 : 5 });
    }
    await close(acme);
    expect(await figuresOf(acme)).toMatchObject({
      a: { value: null, answers: null },
      b: { value: 1, answers: 6 },
      north: { value: 1, answers: 6 },
      top: { value: 1, answers: 12 },
    });
    expect(await countsOf(acme)).toMatchObject({ a: null, north: [2, 12] });
  });

  test('of a past survey, whose file says so, it is published in the same way', async () => {
    const lines = everyone.map((one) =>
      one === 'b0'
        ? noneLine(one, 'scale')
        : { answer: { week: W, group: 'top', person: one, question: 'scale', value: 3 } },
    );
    const acme = await openCompany([...open, ...lines]);
    await close(acme);
    expect((await figuresOf(acme))['top']).toEqual({ value: 0.5, answers: 17 });
    expect((await countsOf(acme))['top']).toEqual([1, 12]);
  });

  test('a file that has it for a question that does not allow it is refused, with the line and the remedy', async () => {
    const only = [question('scale', 1), round(W, 'top', ['scale'], asked), noneLine('a0', 'scale')];
    await expect(openCompany(only)).rejects.toThrow(
      'Line 3: Question "scale" does not allow "not applicable".',
    );
  });
});

describe('in a live week', () => {
  test('batches count it once, and all of them together are what the week shows at its end', async () => {
    const acme = await openCompany(open, 'live');
    for (const one of everyone) {
      if (one === 'south0') continue;
      await give(acme, one, 'scale', one === 'a0' ? { notApplicable: true } : { value: 2 });
    }
    await showLiveWeeks(pool, database.keys);
    const first = [await figuresOf(acme), await countsOf(acme)];
    await showLiveWeeks(pool, database.keys);
    expect([await figuresOf(acme), await countsOf(acme)]).toEqual(first);
    expect(first).toMatchObject([{ top: { answers: 16 } }, { top: [1, 12] }]);
    await give(acme, 'south0', 'scale', { notApplicable: true });
    await close(acme);
    expect([await figuresOf(acme), await countsOf(acme)]).toMatchObject(first);
  });
});

/** A company of one tree: teams of `sizes` people under one group. Each person has segments of each breakdown. */
function companyWeek(sizes: number[], breakdowns: number[][] = []): WeekData {
  const random = randomFrom(sizes.length + sizes[0]!, 'segments');
  const top = 1;
  const people = sizes.flatMap((size, team) =>
    Array.from({ length: size }, (_, i) => [`${team} ${i}`, team + 2] as const),
  );
  return {
    thresholds: { figures: 5, distribution: 10, comments: 10 },
    rounds: [{ id: 1, groupId: top, questionIds: [1, 2], aboveIds: [] }],
    asked: [top, ...sizes.keys().map((team) => team + 2)].map((groupId) => ({
      groupId,
      questionIds: [1, 2],
    })),
    assignments: people.map(([respondent, team]) => ({
      respondent,
      roundId: 1,
      groupIds: [team, top],
      segmentIds: breakdowns.map((segments) => random.oneOf(segments)),
    })),
    breakdowns,
  };
}

const answersIn = (data: WeekData, isNone: (person: string) => boolean, valueOf = (_person: string) => 3) =>
  data.assignments.map(({ respondent }): WeekAnswer => {
    const rest = {
      respondent,
      choices: null,
      comment: null,
      skipped: false,
      handedOut: false,
      counted: false,
    };
    return isNone(respondent)
      ? { ...rest, value: null, notApplicable: true }
      : { ...rest, value: valueOf(respondent) };
  });

const scale = (id = 1, allowsNotApplicable = true) => ({
  id,
  type: 1 as const,
  options: [],
  allowsNotApplicable,
});

describe('figures', () => {
  test('are the same whether a question allows it or not, if no one chose it, and so is everything computed from them', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = randomFrom(seed, 'no one');
      const data = companyWeek(Array.from({ length: 4 }, () => 3 + Math.floor(random.next() * 12)));
      const answers = answersIn(
        data,
        () => false,
        () => 1 + Math.floor(random.next() * 5),
      ).filter(() => random.chance(0.8));
      const [allowed, plain] = [true, false].map(
        (allows) => classFigures([{ question: scale(1, allows), answers }], turnoutOf(data))[0]!,
      );
      const counts: unknown[] = [];
      const results = allowed!.results.map(({ notApplicable, ...result }): Result => {
        counts.push(notApplicable?.count ?? 0);
        return result;
      });
      expect({ ...allowed, results }).toEqual(plain);
      expect(new Set(counts)).toEqual(new Set([0]));
      const kpis = [{ id: 'mood', questionIds: [1] }];
      expect(kpiValues(kpis, new Map([[1, results]]), [])).toEqual(
        kpiValues(kpis, new Map([[1, plain!.results]]), []),
      );
    }
  });

  test('with noise do not count it, because the exact number of answers would reveal the noise', () => {
    const data = companyWeek([20, 20]);
    const noise = noiseOf(Buffer.alloc(32), 1, (person) => person)!;
    const asking = [{ question: scale(), answers: answersIn(data, (one) => one === '0 1'), noise }];
    const { results } = classFigures(asking, turnoutOf(data))[0]!;
    expect(results.map(({ answers, notApplicable }) => [answers, notApplicable])).toEqual([
      [39, undefined],
      [19, undefined],
      [20, undefined],
    ]);
  });

  test('of two questions with the same text leave out people who chose it for one of them, and count them in both', () => {
    const data = companyWeek([20]);
    const first = answersIn(data, (one) => one === '0 1');
    const second = answersIn(data, (one) => one === '0 2');
    const figures = classFigures(
      [first, second].map((answers, i) => ({ question: scale(i + 1), answers })),
      turnoutOf(data),
    );
    for (const { results } of figures)
      expect(results[0]).toMatchObject({ answers: 18, notApplicable: { count: 2, of: 20 } });
  });

  test('are marked as handed out regardless of whether the people with such a link chose it', () => {
    const data = companyWeek([6, 6]);
    const marksOf = (none: string) => {
      const answers = answersIn(data, (one) => one === none).map((one) => ({
        ...one,
        handedOut: one.respondent === '0 0',
      }));
      return classFigures([{ question: scale(), answers }], turnoutOf(data))[0]!.results.map(
        ({ handedOut }) => handedOut,
      );
    };
    // Five of six gave a value. If the sixth had a handed-out link, the others’ links were sent to them.
    expect(marksOf('0 0')).toEqual(marksOf('0 1'));
    expect(marksOf('0 0')[1]).toBe(true);
    expect(marksOf('nobody')[1]).toBe(false);
  });
});

describe('segments', () => {
  test('leave it out, and no combination of their values and those of groups reveals one person', () => {
    let [shown, withheld] = [0, 0];
    for (let seed = 1; seed <= 12; seed++) {
      const random = randomFrom(seed, 'segments');
      const data = companyWeek(
        [8, 9, 10, 6 + seed],
        [
          [101, 102, 103],
          [201, 202],
        ],
      );
      const people = data.assignments.map(({ respondent }) => respondent);
      const none = new Set(people.filter(() => random.chance(0.3)));
      const publish = (marked?: string) => {
        const turnout = turnoutOf(data);
        const asking = [
          {
            question: scale(),
            answers: answersIn(
              data,
              (one) => none.has(one),
              (one) => (one === marked ? 4 : 3),
            ),
          },
        ];
        const whole = chosenFigures(asking, turnout);
        return [...whole.figures[0]!.results, ...segmentResults(asking, whole, turnout)[0]!];
      };
      const truth = publish();
      const sets: number[][] = truth.map(() => []);
      for (const [i, person] of people.entries()) {
        if (none.has(person)) continue;
        for (const [place, { value }] of publish(person).entries())
          if (value !== truth[place]!.value) sets[place]!.push(i);
      }
      expect(sets.map((set) => set.length)).toEqual(truth.map(({ answers }) => answers ?? 0));
      const ofSegments = truth.slice(5);
      shown += ofSegments.filter(({ answers }) => answers !== null).length;
      withheld += ofSegments.filter(({ answers }) => answers === null).length;
      expect(ofSegments.every(({ notApplicable }) => notApplicable === undefined)).toBe(true);
      const found = heaviestPerson(sets.filter((set) => set.length > 0));
      expect([seed, found!.weight > 5 - 1e-6]).toEqual([seed, true]);
    }
    expect(shown).toBeGreaterThan(5);
    expect(withheld).toBeGreaterThan(5);
  });
});
