// Whether figures and response rates are based on links that the employer handed out (P14).
import { describe, expect, test } from 'vitest';
import { questionFigures } from './figures.ts';
import { responseRates } from './disclosure/response-rates.ts';
import { withDone } from '../testing/attacks/turnouts.ts';
import { turnoutOf, type WeekAnswer, type WeekData } from './turnout.ts';

type Person = { groupIds: number[]; handedOut: boolean };

/** A threshold so high that no distribution is shown. */
const noDistribution = 1_000;

/** Asks people question 1 in company 1. Returns its figure and that of team 2. */
function figuresOf(people: Person[], k = 5, distribution = noDistribution) {
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
  for (const { groupId, value, handedOut } of distribution === noDistribution ? rates : []) {
    const result = results.find((one) => one.groupId === groupId);
    // Everyone has answered, so the people asked and the people who answered are the same.
    expect({ groupId, isShown: value !== null, handedOut }).toEqual({
      groupId,
      isShown: result?.value !== null && result !== undefined,
      handedOut: result?.handedOut ?? false,
    });
  }
  expect(rates).toHaveLength(2);
  return { company, team, comments };
}

/** A group of people. The first `handedOut` of them answer through handed-out links. */
function asked(people: number, handedOut: number, k = 5, distribution = noDistribution) {
  const { company } = figuresOf(
    Array.from({ length: people }, (_, i) => ({ groupIds: [1], handedOut: i < handedOut })),
    k,
    distribution,
  );
  return { value: company?.value, handedOut: company?.handedOut };
}

/** A company with a team of five and five others. All people of a part answer through handed-out links, or none. */
function teamAndOthers(team: boolean, others: boolean) {
  const five = (groupIds: number[], handedOut: boolean) =>
    Array.from({ length: 5 }, () => ({ groupIds, handedOut }));
  const figures = figuresOf([...five([1, 2], team), ...five([1], others)]);
  return { team: figures.team?.handedOut, company: figures.company?.handedOut };
}

describe('links that the employer handed out', () => {
  test('mark a figure if fewer people than the threshold answered through a link that was sent to them', () => {
    expect(asked(12, 0)).toEqual({ value: 0.75, handedOut: false });
    expect(asked(12, 7)).toEqual({ value: 0.75, handedOut: false });
    expect(asked(12, 8)).toEqual({ value: 0.75, handedOut: true });
    expect(asked(12, 12)).toEqual({ value: 0.75, handedOut: true });
  });

  test('mark a figure if any cell in it is based only on handed-out links', () => {
    expect(teamAndOthers(true, false)).toEqual({ team: true, company: true });
    expect(teamAndOthers(false, true)).toEqual({ team: false, company: true });
    expect(teamAndOthers(false, false)).toEqual({ team: false, company: false });
  });

  test('mark a response rate if few of the people asked have another link, whether or not anyone answered with one', () => {
    const people = Array.from({ length: 12 }, (_, i) => `p${i}`);
    const rate = (handedOut: number) =>
      responseRates(
        withDone(
          turnoutOf({
            thresholds: { figures: 5, distribution: 10, comments: 10 },
            rounds: [{ id: 1, groupId: 1, questionIds: [1], aboveIds: [] }],
            assignments: people.map((respondent) => ({ respondent, roundId: 1, groupIds: [1] })),
            asked: [{ groupId: 1, questionIds: [1] }],
            handedOut: new Set(people.slice(0, handedOut)),
          }),
          new Map(people.slice(0, 6).map((name) => [name, new Set([1])])),
        ),
      );
    expect(rate(7)).toEqual([
      { groupId: 1, value: 0.5, people: 12, asked: 12, answered: 6, handedOut: false },
    ]);
    expect(rate(8)).toEqual([
      { groupId: 1, value: 0.5, people: 12, asked: 12, answered: 6, handedOut: true },
    ]);
  });

  test('mark a distribution if fewer people than its own threshold answered through a link that was sent to them', () => {
    // Five of ten answered through such a link: enough for a mean, but the ten of a distribution include five that are known.
    expect(asked(14, 5)).toEqual({ value: 0.75, handedOut: false });
    expect(asked(14, 5, 5, 10)).toEqual({ value: 0.75, handedOut: true });
    expect(asked(15, 5, 5, 10)).toEqual({ value: 0.75, handedOut: false });
  });

  test('mark comments by the threshold for comments', () => {
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

  test('count people whose questions were withdrawn among the people asked, because their answers count', () => {
    const people = Array.from({ length: 10 }, (_, i) => `p${i}`);
    const rates = responseRates(
      withDone(
        turnoutOf({
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
        new Map(people.map((name) => [name, new Set([1])])),
      ),
    );
    expect(rates).toEqual([{ groupId: 1, value: 1, people: 10, asked: 9, answered: 9, handedOut: false }]);
  });

  test('do not mark a withheld figure', () => {
    expect(asked(4, 4)).toEqual({ value: null, handedOut: false });
  });

  test("mark nothing with a threshold of 1, because everyone's answers are known anyway", () => {
    expect(asked(3, 3, 1, 1)).toEqual({ value: 0.75, handedOut: false });
  });
});
