// Next to a response rate stands how many people answered. Neither number reveals more about a person than the rate: who answered within a
// cell, and whether people who are left out answered, changes nothing that is published. ADDED_ATTACKS=100000 tries as many companies.
import { expect, test, vi } from 'vitest';
import { randomFrom, type Random } from '../../simulation/random.ts';
import { assignmentsByName, withDone } from '../../testing/attacks/turnouts.ts';
import { type RandomCompany, randomCompany } from '../../testing/attacks/random-companies.ts';
import type { Cells, chooseCells } from './disclosure.ts';
import { type Rate, responseRates } from './response-rates.ts';
import { caseCount } from '../../testing/house/cases.ts';
import { groupsOf, turnoutOf, type WeekData } from '../turnout.ts';

const attacks = caseCount('ADDED_ATTACKS', 160);
const timeouts = { timeout: 300_000 + attacks * 20 };

// The cells of the last decision, to know which people are in the same cell of the rates.
const { chosen } = vi.hoisted(() => ({ chosen: { cells: undefined as Cells | undefined } }));
vi.mock('./disclosure.ts', async (original) => {
  const actual = await original<{ chooseCells: typeof chooseCells }>();
  const recorded: typeof chooseCells = (...args) => (chosen.cells = actual.chooseCells(...args));
  return { ...actual, chooseCells: recorded };
});

/** The questions that each person answered or skipped. */
type Done = ReadonlyMap<string, ReadonlySet<number>>;
type Publish = (data: WeekData, done: Done) => Rate[];

const turnoutWith = (data: WeekData, done: Done) => withDone(turnoutOf(data), done);

const publish: Publish = (data, done) => responseRates(turnoutWith(data, done));

/** Returns for each group how many people were asked, and how many of them answered, including people who are left out of its rate. */
function everyoneIn(data: WeekData, done: Done) {
  const turnout = turnoutWith(data, done);
  const questionsOf = new Map(data.rounds.map(({ id, questionIds }) => [id, questionIds]));
  const counts = new Map<number, { asked: number; answered: number }>();
  for (const [person, assignments] of assignmentsByName(turnout)) {
    const groups = new Set<number>();
    for (const { roundId } of assignments)
      for (const id of questionsOf.get(roundId) ?? [])
        for (const groupId of groupsOf(person, id, turnout)) groups.add(groupId);
    for (const groupId of groups) {
      const count = counts.get(groupId) ?? { asked: 0, answered: 0 };
      counts.set(groupId, count);
      count.asked++;
      if ((done.get(person)?.size ?? 0) > 0) count.answered++;
    }
  }
  return counts;
}

/** Mutants: numbers of people that are not those of the rate's cells. */
const mutants: Record<string, Publish> = {
  'how many of the whole group answered, those left out of the rate too': (data, done) => {
    const counts = everyoneIn(data, done);
    return publish(data, done).map((rate) =>
      rate.value === null ? rate : { ...rate, ...counts.get(rate.groupId) },
    );
  },
  'how many answered in groups whose rate is withheld': (data, done) => {
    const counts = everyoneIn(data, done);
    return publish(data, done).map((rate) =>
      rate.value === null ? { ...rate, ...counts.get(rate.groupId) } : rate,
    );
  },
};

const askedOf = (data: WeekData): Map<string, number[]> => {
  const questionsOf = new Map(data.rounds.map(({ id, questionIds }) => [id, questionIds]));
  const asked = new Map<string, number[]>();
  for (const { respondent, roundId } of data.assignments)
    asked.set(respondent, [
      ...new Set([...(asked.get(respondent) ?? []), ...(questionsOf.get(roundId) ?? [])]),
    ]);
  return asked;
};

/** Returns who did what in a twin: exchanged within each cell, and anything by people who are in no rate. */
function twinOf(data: WeekData, done: Done, random: Random): Done {
  responseRates(turnoutWith(data, done));
  const { cellOf } = chosen.cells as Cells;
  const asked = askedOf(data);
  const people = [...assignmentsByName(turnoutOf(data)).keys()];
  const twin = new Map<string, ReadonlySet<number>>();
  for (const [cell, some] of Map.groupBy(people, (_, i) => cellOf[i] as number)) {
    if (cell === 0) {
      for (const person of some)
        twin.set(person, new Set((asked.get(person) ?? []).filter(() => random.chance(0.5))));
      continue;
    }
    // Only people who were asked the same exchange what they did.
    for (const same of Map.groupBy(some, (person) => (asked.get(person) ?? []).toSorted().join()).values()) {
      const shuffled = random.shuffled(same);
      for (const [i, person] of same.entries())
        twin.set(person, done.get(shuffled[i] as string) ?? new Set<number>());
    }
  }
  return twin;
}

const weeksOf = ({ seed, weeks }: RandomCompany) =>
  weeks.map(({ data, answers }, i) => {
    const done = new Map<string, Set<number>>();
    for (const [id, list] of answers)
      for (const { respondent } of list)
        done.set(respondent, (done.get(respondent) ?? new Set<number>()).add(id));
    return { data, done, random: randomFrom(seed, `response ${i}`) };
  });

/** Returns the number of weeks in which a twin publishes something else. */
function distinguishedTwins(count: number, by: Publish) {
  const measured = { weeks: 0, weeksThatDiffer: 0, peopleInNoRate: 0, rates: 0, distinguished: 0 };
  for (let seed = 1; seed <= count; seed++) {
    for (const { data, done, random } of weeksOf(randomCompany(seed))) {
      const twin = twinOf(data, done, random);
      const own = by(data, done);
      measured.weeks++;
      measured.rates += own.filter(({ value }) => value !== null).length;
      measured.peopleInNoRate += (chosen.cells as Cells).cellOf.filter((cell) => cell === 0).length;
      const texts = (all: Done) => JSON.stringify([...all].map(([name, ids]) => [name, [...ids]]).toSorted());
      if (texts(twin) !== texts(done)) measured.weeksThatDiffer++;
      if (JSON.stringify(own) !== JSON.stringify(by(data, twin))) measured.distinguished++;
    }
  }
  return measured;
}

/**
 * Knows what everyone but one person did, and the rates. Returns how often the numbers of people exclude a number of answers of that person
 * that the rates leave open.
 */
function excluded(count: number, by: Publish) {
  const measured = { people: 0, withSeveralPossible: 0, withFewer: 0 };
  for (let seed = 1; seed <= count; seed++) {
    for (const { data, done, random } of weeksOf(randomCompany(seed)).slice(0, 1)) {
      const asked = askedOf(data);
      const person = random.oneOf([...asked.keys()]);
      const own = by(data, done);
      const ids = asked.get(person) ?? [];
      const possible = Array.from({ length: ids.length + 1 }, (_, number) => {
        const other = new Map(done).set(person, new Set(ids.slice(0, number)));
        return by(data, other);
      }).filter((rates) => rates.every(({ value }, i) => value === own[i]?.value));
      measured.people++;
      if (possible.length < 2) continue;
      measured.withSeveralPossible++;
      const isSame = (rates: Rate[]) =>
        rates.every(({ asked: n, answered }, i) => n === own[i]?.asked && answered === own[i]?.answered);
      if (!possible.every(isSame)) measured.withFewer++;
    }
  }
  return measured;
}

const report = (name: string, measured: object) =>
  process.stdout.write(`Numbers of people who answered, ${name}: ${JSON.stringify(measured)}\n`);

test(
  `twins, who answered differently within the cells of rates, publish the same, in ${attacks} companies`,
  timeouts,
  () => {
    const measured = distinguishedTwins(attacks, publish);
    report('twins', measured);
    expect(measured.distinguished).toBe(0);
    expect(measured.weeksThatDiffer / measured.weeks).toBeGreaterThan(0.8);
    expect(measured.peopleInNoRate).toBeGreaterThan(attacks / 10);
  },
);

test('someone who knows what all others did learns nothing that the rates leave open', timeouts, () => {
  const measured = excluded(attacks, publish);
  report('all others known', measured);
  expect(measured.withFewer).toBe(0);
  expect(measured.withSeveralPossible).toBeGreaterThan(attacks / 100);
});

test.each(Object.entries(mutants))('both attacks reveal the mutant: %s', (name, by) => {
  const [twins, others] = [distinguishedTwins(150, by), excluded(400, by)];
  report(name, { twins, others });
  expect(twins.distinguished).toBeGreaterThan(15);
  expect(others.withFewer).toBeGreaterThan(3);
});
