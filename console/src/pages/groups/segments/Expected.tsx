// What a breakdown would show, in plain words: the result of a simulation on the account's people.
import type { BodyOf } from '@soundings/contract/console/operation.ts';
import type { ConsoleOperations } from '@soundings/contract/console/operations.ts';
import { useData } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import css from '../GroupPage.module.css';

type Props = {
  division: BodyOf<ConsoleOperations['POST /breakdowns/simulation']>;
  /** Whether the input has changed since. */
  isOld: boolean;
};

export function Expected({ division, isOld }: Props) {
  const t = useText();
  const { number, percent } = useFormat();
  const { data, error, isFetching } = useData('POST /breakdowns/simulation', { body: division });
  // What is wrong with the input is shown at its field once it is sent.
  if (error && !isOld) return null;
  if (!data || isFetching || isOld) return <Notice tone="neutral">{t('breakdowns.simulating')}</Notice>;
  const { people, withValue, segments, large, largeFrom, largeShown, answers, asked } = data;
  if (segments === 0)
    return (
      <Notice tone="warn" title={t('breakdowns.nothing')}>
        {t('breakdowns.nothingText')}
      </Notice>
    );
  return (
    <Notice tone={answers !== null && answers < 0.5 ? 'warn' : 'accent'} title={t('breakdowns.expected')}>
      <ul className={css['expected']}>
        <li>{t('breakdowns.expectedPeople', { count: withValue, all: number(people) })}</li>
        <li>{t('breakdowns.expectedValues', { count: segments, large: number(large), from: largeFrom })}</li>
        {largeShown !== null && (
          <li>{t('breakdowns.expectedShown', { share: percent(largeShown), from: largeFrom })}</li>
        )}
        {answers !== null && <li>{t('breakdowns.expectedAnswers', { share: percent(answers) })}</li>}
        <li>
          {asked.distributions > 0
            ? t('breakdowns.expectedAsked', { ...asked, minimum: data.distributionFrom })
            : t('breakdowns.expectedWithMean', { minimum: data.distributionFrom })}
        </li>
        <li>{t('breakdowns.expectedOthers')}</li>
      </ul>
    </Notice>
  );
}
