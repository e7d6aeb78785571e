// How often each answer was given in a week.
import type { QuestionResults } from '@soundings/contract/console/results/results.ts';
import { multipleChoice, scaleOf, yesNo } from '@soundings/contract/question-types.ts';
import { useText } from '../../../text/text.tsx';
import { Distribution, type DistributionRow } from '../../../ui/charts/Distribution.tsx';
import { heatOfKey } from '../figures.ts';
import css from '../results.module.css';
import { useWithheldText } from '../texts.ts';

type Props = { results: QuestionResults; own: QuestionResults['figures'][number] };

export function QuestionDistribution({ results: { question, chosen }, own }: Props) {
  const t = useText();
  const withheld = useWithheldText();
  const { type, scale, options } = question;
  if (!own.distribution) {
    return (
      <p className={css['hiddenBar']}>
        <span>
          {t('results.distributionWithheld', { reason: withheld.distribution(chosen, own.answers) })}
        </span>
      </p>
    );
  }
  const rows = own.distribution.map(({ key, count }): DistributionRow => {
    const meaning =
      type === yesNo
        ? scale.find(({ value }) => value === (key === 'yes' ? 1 : 0))?.text
        : scale.find(({ value }) => String(value) === key)?.text;
    const option = options.find(({ id }) => id === key)?.text;
    const isWord = scaleOf(type)?.labels === 'all';
    return {
      key,
      count,
      label: option ?? (isWord ? (meaning ?? key) : key),
      hint: isWord ? undefined : meaning,
      heat: heatOfKey(type, key),
    };
  });
  const given = own.distribution.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      <Distribution
        label={t('results.distribution')}
        headings={[t('results.answer'), t('results.count'), t('results.share')]}
        rows={rows}
        total={type === multipleChoice ? (own.answers ?? undefined) : undefined}
      />
      {type === multipleChoice && <p className={css['soft']}>{t('results.severalChoices')}</p>}
      {type !== multipleChoice && given < (own.answers ?? 0) && (
        <p className={css['soft']}>
          {t('results.distributionOfFewer', { count: given, of: own.answers ?? 0 })}
        </p>
      )}
    </>
  );
}
