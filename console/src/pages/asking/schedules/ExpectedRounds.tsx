// What a schedule that chooses people by a date can be expected to ask in the coming weeks. Only counts.
import type { ExpectedByDate } from '@soundings/contract/console/by-date.ts';
import { useText } from '../../../text/text.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import css from '../asking.module.css';
import { useDays } from '../texts.ts';

export function ExpectedRounds({ expected, attribute }: { expected: ExpectedByDate; attribute: string }) {
  const t = useText();
  const days = useDays();
  const { dates, notDates, coming, lastYear } = expected;
  const isEver = lastYear.rounds > 0 || coming.some(({ people }) => people > 0);
  if (dates === 0)
    return (
      <Notice tone="warn" title={t('asking.noDates', { attribute })}>
        {t('asking.noDatesText')}
      </Notice>
    );
  return (
    <>
      {notDates > 0 && <Notice tone="warn">{t('asking.notDates', { count: notDates, attribute })}</Notice>}
      {!isEver && (
        <Notice tone="warn" title={t('asking.neverEnough')}>
          {t('asking.neverEnoughText')}
        </Notice>
      )}
      {lastYear.rounds > 0 && (
        <p className={css['small']}>
          {t('asking.lastYear', { count: lastYear.rounds, people: lastYear.people })}
        </p>
      )}
      <div>
        <p className={css['label']}>{t('asking.expected')}</p>
        <p className={css['small']}>{t('asking.expectedText')}</p>
      </div>
      <ol className={css['list']}>
        {coming.map(({ day, people, waiting }) => (
          <li key={day}>
            <p className={css['line']}>
              <span>{days.day(day)}</span>
              <span className={css['end']}>
                {people > 0 ? t('asking.people', { count: people }) : t('asking.waiting', { count: waiting })}
              </span>
            </p>
          </li>
        ))}
      </ol>
    </>
  );
}
