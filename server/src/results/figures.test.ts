// What the figures of one question say beside their values: whether they rest on links that the employer handed out (P14).
import { describe, expect, test } from 'vitest';
import { questionFigures, turnoutOf, type WeekAnswer, type WeekData } from './figures.ts';

/** A group of people who are asked question 1; the first `handedOut` of them answer through links handed out. */
function asked(people: number, handedOut: number, k = 5) {
  const names = Array.from({ length: people }, (_, i) => `p${i}`);
  const data: WeekData = {
    thresholds: { figures: k, spread: k === 1 ? 1 : 2 * k, comments: 10 },
    rounds: [{ id: 1, groupId: 1, questionIds: [1], aboveIds: [] }],
    assignments: names.map((respondent) => ({ respondent, roundId: 1, groupIds: [1] })),
    asked: [{ groupId: 1, questionIds: [1] }],
  };
  const answers = names.map((respondent, i): WeekAnswer => ({
    respondent,
    value: 4,
    choices: null,
    comment: null,
    skipped: false,
    handedOut: i < handedOut,
    counted: false,
  }));
  const [result] = questionFigures({ id: 1, type: 1, options: [] }, answers, turnoutOf(data)).results;
  return { value: result?.value, handedOut: result?.handedOut };
}

describe('links that the employer handed out', () => {
  test('a figure says so when fewer people than the threshold answered through a link sent to them', () => {
    expect(asked(12, 0)).toEqual({ value: 0.75, handedOut: false });
    expect(asked(12, 7)).toEqual({ value: 0.75, handedOut: false });
    expect(asked(12, 8)).toEqual({ value: 0.75, handedOut: true });
    expect(asked(12, 12)).toEqual({ value: 0.75, handedOut: true });
  });

  test('a figure that is withheld says nothing', () => {
    expect(asked(4, 4)).toEqual({ value: null, handedOut: false });
  });

  test('where the threshold is 1 none says so: whose answer is whose is known anyway', () => {
    expect(asked(3, 3, 1)).toEqual({ value: 0.75, handedOut: false });
  });
});
