// The console: schedules that choose people by a date, for administrators only.
import { Type, type Static } from 'typebox';
import { maxNameLength } from '../limits.ts';

const count = (maximum: number) => Type.Integer({ minimum: 0, maximum });

/**
 * Chooses people by a date, such as 30 to 59 days after the date in the attribute `start date`. Each person is asked once for a date, and
 * only together with enough others: a round opens when at least `minPeople` people of a group that is asked are waiting.
 */
export const ByDate = Type.Object(
  {
    attribute: Type.String({ minLength: 1, maxLength: maxNameLength }),
    side: Type.Enum(['after', 'before']),
    fromDays: count(10_000),
    untilDays: count(10_000),
    minPeople: count(100_000),
  },
  { additionalProperties: false },
);
export type ByDate = Static<typeof ByDate>;

/** What a schedule that chooses people by a date can be expected to ask, by the dates that people have now. Only counts. */
export type ExpectedByDate = {
  /** Active people of its groups with a date in the attribute, and those with a value that is not a date. */
  dates: number;
  notDates: number;
  /** The next rounds. `people`: how many are asked, or 0 if too few are waiting. `waiting`: how many are still waiting after it. */
  coming: { day: string; people: number; waiting: number }[];
  /** What it would have asked in the last 52 weeks, including people who have been deactivated since. */
  lastYear: { rounds: number; people: number };
};
