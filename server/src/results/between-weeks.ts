// How well answers can be guessed by comparing the figures of weeks, as between-weeks.attack.test.ts measures it: the privacy report and
// docs/privacy.md say these numbers. Right guesses of 100, where each person repeats their answer in 95 % of cases.
import type { Noise } from '@soundings/contract/console.privacy.ts';

export const betweenWeeks: Record<'leaver' | 'shuffled', Record<Noise, number>> & { commonest: number } = {
  /** The best guess of the answer of someone who leaves a team of eight. */
  leaver: { 0: 81, 1: 46, 2: 43 },
  /** Of all answers of 40 people who are put into other groups of five each week, after twelve weeks. */
  shuffled: { 0: 99, 1: 75, 2: 61 },
  /** By guessing the most common answer. */
  commonest: 40,
};
