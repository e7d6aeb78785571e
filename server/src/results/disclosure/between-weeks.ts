// How often answers can be guessed by comparing the figures of several weeks, as measured by between-weeks.attack.test.ts. The
// privacy report and docs/privacy/privacy.md quote these numbers. Each is the number of correct guesses out of 100, if people repeat their
// answer in 95% of cases.
import type { NoiseLevel } from '@soundings/contract/console/privacy.ts';

export const betweenWeeks: Record<'leaver' | 'shuffled', Record<NoiseLevel, number>> & { commonest: number } =
  {
    /** The best guess of the answer of a person who leaves a team of eight. */
    leaver: { 0: 81, 1: 46, 2: 43 },
    /** All answers of 40 people who are shuffled into new groups of five every week, after twelve weeks. */
    shuffled: { 0: 99, 1: 75, 2: 61 },
    /** For comparison: always guessing the most common answer. */
    commonest: 40,
  };
