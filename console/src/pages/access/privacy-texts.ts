// The sentences of the privacy report in the reader's language.
import type { Kept, KeyState, NeverShown, PrivacyLimit } from '@soundings/contract/console/privacy.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';
import { keptText, limitText, type Means, neverText, whereOf } from './privacy-sentences.ts';

export function usePrivacyText() {
  const t = useText();
  const { sentence } = useWeekText();
  const means: Means = { t, format: useFormat(), week: (name) => sentence({ name }) };
  return {
    limit: (limit: PrivacyLimit) => ({
      title: t(`privacy.limit.${limit.code}`),
      text: limitText(limit, means),
      where: whereOf(limit, means),
    }),
    never: (never: NeverShown) => neverText(never, means),
    kept: (kept: Kept): [string, string] => [t(`privacy.kept.${kept.code}`), keptText(kept, means)],
    place: ({ place, state }: KeyState) =>
      state === 'missing' ? t('privacy.keyMissing') : t(`privacy.keyPlace.${place}`),
  };
}
