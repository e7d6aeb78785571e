// What a kind of segments would show, in plain words: the result of a simulation on the account's people.
import type { BodyOf } from '@soundings/contract/console/operation.ts';
import type { ConsoleOperations } from '@soundings/contract/console/operations.ts';
import { useData } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import css from '../GroupPage.module.css';

type Props = {
  division: BodyOf<ConsoleOperations['POST /segments/simulation']>;
  /** Whether the input has changed since. */
  isOld: boolean;
};

export function Expected({ division, isOld }: Props) {
  const t = useText();
  const { number, percent } = useFormat();
  const { data, error, isFetching } = useData('POST /segments/simulation', { body: division });
  // What is wrong with the input is shown at its field once it is sent.
  if (error && !isOld) return null;
  if (!data || isFetching || isOld) return <Notice tone="neutral">{t('segments.simulating')}</Notice>;
  const { people, withValue, segments, large, largeFrom, largeShown, answers } = data;
  if (segments === 0)
    return (
      <Notice tone="warn" title={t('segments.nothing')}>
        {t('segments.nothingText')}
      </Notice>
    );
  return (
    <Notice tone={answers !== null && answers < 0.5 ? 'warn' : 'accent'} title={t('segments.expected')}>
      <ul className={css['expected']}>
        <li>{t('segments.expectedPeople', { count: withValue, all: number(people) })}</li>
        <li>{t('segments.expectedValues', { count: segments, large: number(large), from: largeFrom })}</li>
        {largeShown !== null && (
          <li>{t('segments.expectedShown', { share: percent(largeShown), from: largeFrom })}</li>
        )}
        {answers !== null && <li>{t('segments.expectedAnswers', { share: percent(answers) })}</li>}
        <li>{t('segments.expectedOthers')}</li>
      </ul>
    </Notice>
  );
}
