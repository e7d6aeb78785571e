// Simulating a breakdown: what it reports, and that it agrees with what opening the breakdown then shows.
import { describe, expect, test } from 'vitest';
import { addWeeks } from '@soundings/contract/weeks.ts';
import { askedWeek, noon } from '../../testing/asking.ts';
import {
  age,
  answerAll,
  byValue,
  close,
  open,
  openWeek,
  pool,
  site,
  staff,
  useDatabase,
} from './segments.fixture.ts';
import { type SimulatedAccount, simulateBreakdown } from './simulate.ts';
import { simulateOpening } from './simulated-account.ts';
import { openSimulations } from './simulation-thread.ts';

useDatabase();

/** Teams of 10 people in one tree. `valueOf`: of the person with a number. */
const account = (
  people: number,
  valueOf: (person: number) => string | undefined,
  more = {},
): SimulatedAccount => ({
  people: Array.from({ length: people }, (_, i) => ({
    groupIds: [2 + Math.floor(i / 10), 1],
    likelihood: 1,
  })),
  trees: new Map(Array.from({ length: 1 + people / 10 }, (_, i) => [1 + i, 1])),
  breakdowns: [Array.from({ length: people }, (_, i) => valueOf(i))],
  threshold: 5,
  distributionThreshold: 10,
  asked: { withMean: 1, distributions: 0 },
  limit: 200,
  ...more,
});

describe('a simulation', () => {
  test('counts values, segments and large segments, and says how much of them would be shown', () => {
    const found = simulateBreakdown(
      account(100, (i) => (i === 0 ? 'alone' : i < 8 ? 'small' : i % 2 === 0 ? 'even' : 'odd')),
    );
    expect(found).toMatchObject({ people: 100, withValue: 100, values: 4, segments: 3, large: 2, draws: 20 });
    expect(found.largeShown).toBeGreaterThan(0.9);
    expect(found.answers).toBeGreaterThan(0.5);
  });

  test('finds that single values, or a segment that is a team and one more person, show nothing', () => {
    expect(simulateBreakdown(account(100, (i) => String(i)))).toMatchObject({
      values: 100,
      segments: 0,
      shown: null,
    });
    const beside = simulateBreakdown(account(100, (i) => (i < 11 ? 'beside' : undefined)));
    expect(beside).toMatchObject({ segments: 1, withValue: 11 });
    // The team itself remains, without the one person.
    expect(beside.answers).toBeLessThan(0.95);
  });

  test('draws who answers by how likely it is, the same people every time', () => {
    const half = account(100, (i) => (i % 2 === 0 ? 'even' : 'odd'));
    for (const one of half.people) one.likelihood = 0;
    expect(simulateBreakdown(half)).toMatchObject({ shown: 0, answers: null });
    for (const one of half.people) one.likelihood = 0.5;
    expect(simulateBreakdown(half)).toEqual(simulateBreakdown(half));
  });

  test('takes the threshold of distributions for yes/no and choice questions, as often as recent weeks asked them', () => {
    // Nine people have this value: enough for a mean, too few for a distribution.
    const valueOf = (i: number) => (i < 20 && i % 2 === 0 && i > 0 ? 'nine' : undefined);
    const shownFor = (withMean: number, distributions: number) =>
      simulateBreakdown(account(100, valueOf, { asked: { withMean, distributions } })).shown;
    expect(shownFor(1, 0)).toBe(1);
    expect(shownFor(0, 0)).toBe(1);
    expect(shownFor(0, 7)).toBe(0);
    expect(shownFor(3, 1)).toBe(0.75);
  });

  test('of an account reads its people, attributes and response rates, changes nothing, and agrees with the figures', async () => {
    const acme = await staff();
    await open(acme, age);
    const simulate = openSimulations(new URL('../../segments.thread.ts', import.meta.url));
    const first = await simulateOpening(pool, acme.id, site, noon, simulate);
    expect(first).toMatchObject({ people: 60, withValue: 60, values: 4, segments: 2, large: 2 });
    await openWeek(acme);
    await answerAll(acme, (i) => (i < 40 ? { value: 3, choice: 'time' } : undefined));
    await close(acme);
    // Now no one in team c is likely to answer.
    const second = await simulateOpening(pool, acme.id, site, noon, simulateBreakdown);
    expect([first.asked, second.asked]).toEqual([
      { withMean: 0, distributions: 0 },
      { withMean: 2, distributions: 1 },
    ]);
    await open(acme, site);
    expect(Object.keys(await byValue(acme, 0)).toSorted()).toEqual(['40 and over', 'under 40']);
    // The next week shows exactly that: the means of both sites, and no distribution, for which both breakdowns leave too few.
    const next = addWeeks(askedWeek, 1);
    await openWeek(acme, noon + 7 * 86_400_000);
    await answerAll(acme, (i) => (i < 40 ? { value: 3, choice: 'time' } : undefined), { week: next });
    await close(acme, next);
    const figures = await Promise.all([0, 1, 2].map((question) => byValue(acme, question, next)));
    const ofSites = figures.flatMap((one) => [one['Stockholm'], one['Malmö']]);
    const shown = ofSites.filter((one) => typeof one?.answers === 'number').length;
    expect([shown, second.largeShown]).toEqual([4, 4 / 6]);
    await expect(simulateOpening(pool, acme.id, site, noon, simulateBreakdown)).rejects.toMatchObject({
      code: 'breakdown taken',
    });
  });
});
