// What the results pages offer to choose and keep in the URL: the number of weeks, and what to compare with.
import { type Comparison, comparisons } from '@soundings/contract/comparisons.ts';
import { useText } from '../../text/text.tsx';

/** The numbers of weeks that pages offer. */
export const spans = ['13', '26', '52'] as const;
export const usualSpan = '26';

/** Returns the span in the URL, or the default if it is invalid. */
export const spanIn = (text: string | undefined): string =>
  (spans as readonly string[]).includes(text ?? '') ? (text as string) : usualSpan;

/** Returns the comparison in the URL; undefined, for the default one, if it is invalid. */
export const comparisonIn = (text: string | undefined): Comparison | undefined =>
  comparisons.find((kind) => kind === text);

export function useSpanOptions() {
  const t = useText();
  return spans.map((value) => ({
    value: value as string,
    label: t('results.weeks', { count: Number(value) }),
  }));
}
