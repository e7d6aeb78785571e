// The names of segments as pages show them, and the order of segments. Pure.
import { tableTexts } from './csv.ts';

const under = /^under (\d+)$/;
const andOver = /^(\d+) and over$/;

/** Returns the value of a segment in a language. Only bands of years have words: "60 and over". */
export function segmentText(value: string, language: string): string {
  const t = tableTexts.in(language);
  return partsOf(value)
    .map((part) => {
      const [low, high] = [under.exec(part)?.[1], andOver.exec(part)?.[1]];
      if (low !== undefined) return t('underYears', { years: low });
      return high === undefined ? part : t('yearsAndOver', { years: high });
    })
    .join(' · ');
}

/** Returns the parts of the value of a combination: "Stockholm · under 30". */
const partsOf = (value: string): string[] => value.split(' · ');

const { compare } = new Intl.Collator('en', { numeric: true });

/** Returns what a part is sorted by: the lowest band comes first. */
const orderOf = (part: string): string => (under.test(part) ? '' : part);

/**
 * Returns segments sorted by value. Bands are sorted by their years, and combinations by their first part and then by their second.
 */
export const inOrder = <T extends { id: number; value: string }>(segments: readonly T[]): T[] =>
  segments.toSorted((a, b) => {
    const [one, other] = [partsOf(a.value), partsOf(b.value)];
    const at = one.findIndex((part, i) => part !== other[i]);
    return at === -1 ? a.id - b.id : compare(orderOf(one[at] as string), orderOf(other[at] ?? ''));
  });
