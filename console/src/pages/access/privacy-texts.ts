// The sentences of the privacy report in the reader's language.
import type {
  Kept,
  KeyState,
  NeverShown,
  PrivacyLimit,
  PrivacyReport,
  ReportedBreakdown,
} from '@soundings/contract/console/privacy.ts';
import {
  breakdownTexts,
  changesTexts,
  keptText,
  limitText,
  neverText,
  type TextTools,
  whereOf,
} from '@soundings/contract/console/privacy-sentences.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';

export function usePrivacyText() {
  const t = useText();
  const { sentence } = useWeekText();
  const tools: TextTools = { t, format: useFormat(), week: (name) => sentence({ name }) };
  return {
    limit: (limit: PrivacyLimit) => ({
      title: t(`privacy.limit.${limit.code}`),
      text: limitText(limit, tools),
      where: whereOf(limit, tools),
    }),
    breakdown: (breakdown: ReportedBreakdown) => breakdownTexts(breakdown, tools),
    changes: (report: Pick<PrivacyReport, 'changes'>) => changesTexts(report, tools),
    never: (never: NeverShown) => neverText(never, tools),
    kept: (kept: Kept): [string, string] => [t(`privacy.kept.${kept.code}`), keptText(kept, tools)],
    place: ({ place, state }: KeyState) =>
      state === 'missing' ? t('privacy.keyMissing') : t(`privacy.keyPlace.${place}`),
  };
}
