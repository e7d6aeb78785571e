// What the figures of a question, and response rates, say beside their values: whether they rest on links that the employer handed out (P14).
import { describe, expect, test } from 'vitest';
import { questionFigures } from './figures.ts';
import { responseRates } from './response-rates.ts';
import { turnoutOf, type WeekAnswer, type WeekData } from './turnout.ts';

type Person = { groupIds: number[]; handedOut: boolean };

/** So high a threshold that no distribution is shown. */
const noSpread = 1_000;

/** People who are asked question 1 by company 1: its figure, and that of team 2. */
function figuresOf(people: Person[], k = 5, distribution = noSpread) {
  const names = people.map((_, i) => `p${i}`);
  const data: WeekData = {
    thresholds: { figures: k, distribution, comments: 10 },
    rounds: [{ id: 1, groupId: 1, questionIds: [1], aboveIds: [] }],
    assignments: people.map(({ groupIds }, i) => ({ respondent: names[i] as string, roundId: 1, groupIds })),
    asked: [1, 2].map((groupId) => ({ groupId, questionIds: [1] })),
    handedOut: new Set(names.filter((_, i) => people[i]?.handedOut)),
  };
  const answers = people.map(({ handedOut }, i): WeekAnswer => ({
    respondent: names[i] as string,
    value: 4,
    choices: null,
    comment: 'Some words',
    skipped: false,
    handedOut,
    counted: false,
  }));
  const turnout = turnoutOf(data);
  const { results, comments } = questionFigures({ id: 1, type: 1, options: [] }, answers, turnout);
  const [company, team] = [1, 2].map((id) => results.find(({ groupId }) => groupId === id));
  const rates = responseRates(turnout);
  for (const { groupId, value, handedOut } of distribution === noSpread ? rates : []) {
    const result = results.find((one) => one.groupId === groupId);
    // Everyone has answered: who was asked and who has answered are the same people.
    expect({ groupId, isShown: value !== null, handedOut }).toEqual({
      groupId,
      isShown: result?.value !== null && result !== undefined,
      handedOut: result?.handedOut ?? false,
    });
  }
  expect(rates).toHaveLength(2);
  return { company, team, comments };
}

/** A group of people; the first `handedOut` of them answer through links handed out. */
function asked(people: number, handedOut: number, k = 5, distribution = noSpread) {
  const { company } = figuresOf(
    Array.from({ length: people }, (_, i) => ({ groupIds: [1], handedOut: i < handedOut })),
    k,
    distribution,
  );
  return { value: company?.value, handedOut: company?.handedOut };
}

/** A company of a team of five and five others; the people of either answer through links handed out, or none do. */
function teamAndOthers(team: boolean, others: boolean) {
  const five = (groupIds: number[], handedOut: boolean) =>
    Array.from({ length: 5 }, () => ({ groupIds, handedOut }));
  const figures = figuresOf([...five([1, 2], team), ...five([1], others)]);
  return { team: figures.team?.handedOut, company: figures.company?.handedOut };
}

describe('links that the employer handed out', () => {
  test('a figure says so when fewer people than the threshold answered through a link sent to them', () => {
    expect(asked(12, 0)).toEqual({ value: 0.75, handedOut: false });
    expect(asked(12, 7)).toEqual({ value: 0.75, handedOut: false });
    expect(asked(12, 8)).toEqual({ value: 0.75, handedOut: true });
    expect(asked(12, 12)).toEqual({ value: 0.75, handedOut: true });
  });

  test('so does one of which a single cell rests on handed-out links alone', () => {
    expect(teamAndOthers(true, false)).toEqual({ team: true, company: true });
    expect(teamAndOthers(false, true)).toEqual({ team: false, company: true });
    expect(teamAndOthers(false, false)).toEqual({ team: false, company: false });
  });

  test('a response rate says so when few of the people asked have no such link, whether or not anyone answered through one', () => {
    const people = Array.from({ length: 12 }, (_, i) => `p${i}`);
    const rate = (handedOut: number) =>
      responseRates({
        ...turnoutOf({
          thresholds: { figures: 5, distribution: 10, comments: 10 },
          rounds: [{ id: 1, groupId: 1, questionIds: [1], aboveIds: [] }],
          assignments: people.map((respondent) => ({ respondent, roundId: 1, groupIds: [1] })),
          asked: [{ groupId: 1, questionIds: [1] }],
          handedOut: new Set(people.slice(0, handedOut)),
        }),
        done: new Map(people.slice(0, 6).map((name) => [name, new Set([1])])),
      });
    expect(rate(7)).toEqual([{ groupId: 1, value: 0.5, people: 12, handedOut: false }]);
    expect(rate(8)).toEqual([{ groupId: 1, value: 0.5, people: 12, handedOut: true }]);
  });

  test('a distribution says so when fewer people than its own threshold answered through a link sent to them', () => {
    // Five of ten answered through such a link: enough for a mean, but the ten of a distribution include five that are known.
    expect(asked(14, 5)).toEqual({ value: 0.75, handedOut: false });
    expect(asked(14, 5, 5, 10)).toEqual({ value: 0.75, handedOut: true });
    expect(asked(15, 5, 5, 10)).toEqual({ value: 0.75, handedOut: false });
  });

  test('so do comments, by the threshold for comments', () => {
    const marksOf = (people: number, handedOut: number, k = 5) => {
      const { comments } = figuresOf(
        Array.from({ length: people }, (_, i) => ({ groupIds: [1], handedOut: i < handedOut })),
        k,
      );
      return new Set(comments.map(({ groupIds, handedOutIn }) => `${groupIds} ${handedOutIn}`));
    };
    expect(marksOf(14, 4)).toEqual(new Set(['1 ']));
    expect(marksOf(14, 5)).toEqual(new Set(['1 1']));
    expect(marksOf(14, 14, 1)).toEqual(new Set(['1 ']));
  });

  test('people whose questions were withdrawn count among those who were asked, as their answers count', () => {
    const people = Array.from({ length: 10 }, (_, i) => `p${i}`);
    const rates = responseRates({
      ...turnoutOf({
        thresholds: { figures: 5, distribution: 10, comments: 10 },
        rounds: [{ id: 1, groupId: 1, questionIds: [1], aboveIds: [] }],
        assignments: people.map((respondent, i) => ({
          respondent,
          roundId: 1,
          groupIds: [1],
          ...(i === 0 && { isWithdrawn: true as const }),
        })),
        asked: [{ groupId: 1, questionIds: [1] }],
      }),
      done: new Map(people.map((name) => [name, new Set([1])])),
    });
    expect(rates).toEqual([{ groupId: 1, value: 1, people: 10, handedOut: false }]);
  });

  test('a figure that is withheld says nothing', () => {
    expect(asked(4, 4)).toEqual({ value: null, handedOut: false });
  });

  test('where the threshold is 1 none says so: whose answer is whose is known anyway', () => {
    expect(asked(3, 3, 1, 1)).toEqual({ value: 0.75, handedOut: false });
  });
});
