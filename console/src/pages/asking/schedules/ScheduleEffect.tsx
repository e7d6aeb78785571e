// What a schedule draft would do: how many people it asks, when, and which questions. Fetched when typing pauses.
import type { Library, ScheduleCheck } from '@soundings/contract/console/asking.ts';
import { useEffect, useState } from 'react';
import { api } from '../../../api.ts';
import { useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { useFaultText } from '../../../ui/faults.ts';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Skeleton } from '../../../ui/page/States.tsx';
import css from '../asking.module.css';
import { ExpectedRounds } from './ExpectedRounds.tsx';
import { scheduleBodyOf, type ScheduleDraft } from './schedule-draft.ts';
import { useDays, useQuestionText } from '../texts.ts';

/** How long typing must pause, in ms. */
const typingPause = 350;

function useCheck(draft: ScheduleDraft, scheduleId: number | undefined): ScheduleCheck | undefined {
  const [check, setCheck] = useState<ScheduleCheck>();
  // A draft without a name is checked too.
  const body = JSON.stringify({ ...scheduleBodyOf(draft), name: draft.name || '–' });
  useEffect(() => {
    const stopping = new AbortController();
    const timer = setTimeout(() => {
      api('POST /schedules-check', {
        body: JSON.parse(body) as ReturnType<typeof scheduleBodyOf>,
        query: scheduleId === undefined ? {} : { scheduleId },
        signal: stopping.signal,
      }).then(setCheck, () => {}); // errors of the form itself are shown when it is submitted
    }, typingPause);
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [body, scheduleId]);
  return check;
}

type Props = { draft: ScheduleDraft; scheduleId?: number; library: Library; isPaused?: boolean };

export function ScheduleEffect({ draft, scheduleId, library, isPaused = false }: Props) {
  const t = useText();
  const days = useDays();
  const check = useCheck(draft, scheduleId);
  return (
    <aside className={css['side']} aria-live="polite">
      <div className={css['sticky']}>
        <Section title={t('asking.effect')} description={t('asking.effectText')}>
          {!check ? (
            <Skeleton rows={4} />
          ) : (
            <>
              <div>
                <p className={css['figure']}>{t('asking.people', { count: check.audience.people })}</p>
                {draft.chooses === 'byDate' && <p className={css['small']}>{t('asking.dueToday')}</p>}
                {check.audience.people > check.audience.reachable && (
                  <p className={css['small']}>
                    {t('asking.unreachable', { count: check.audience.people - check.audience.reachable })}
                  </p>
                )}
              </div>
              {isPaused && <Notice tone="warn">{t('asking.pausedText')}</Notice>}
              {check.isAtOnce && !isPaused && (
                <Notice tone="warn" title={t('asking.atOnce')}>
                  {t('asking.atOnceText', { day: days.day(check.coming[0]?.day ?? '') })}
                </Notice>
              )}
              <Faults check={check} />
              {check.expected && (
                <ExpectedRounds expected={check.expected} attribute={draft['byDate/attribute']} />
              )}
              <Coming check={check} library={library} />
            </>
          )}
        </Section>
      </div>
    </aside>
  );
}

/** The faults of the draft, shown before it is submitted. */
function Faults({ check: { faults } }: { check: ScheduleCheck }) {
  const t = useText();
  const faultText = useFaultText();
  if (faults.length === 0) return null;
  return (
    <div>
      <p className={css['label']}>{t('asking.stillWrong')}</p>
      <ul className={css['points']}>
        {faults.map((fault) => (
          <li key={fault.path + fault.message}>{faultText(fault)}</li>
        ))}
      </ul>
    </div>
  );
}

function Coming({
  check: { coming, expected, faults },
  library,
}: {
  check: ScheduleCheck;
  library: Library;
}) {
  const t = useText();
  const days = useDays();
  const { full } = useWeekText();
  const textOf = useQuestionText();
  if (faults.length > 0) return null;
  if (coming.length === 0) return <Notice tone="warn">{t('asking.neverComes')}</Notice>;
  // A schedule that chooses people by a date asks only when enough of them are due.
  const asking = expected
    ? coming.filter(({ day }) => expected.coming.some((round) => round.day === day && round.people > 0))
    : coming;
  return (
    <ol className={css['list']}>
      {asking.map(({ week, day, questionIds }) => (
        <li key={week.week}>
          <p className={css['line']}>
            <span className={css['strong']}>{days.day(day)}</span>
            <span className={css['end']}>
              {full(week)} · {t('asking.questions', { count: questionIds.length })}
            </span>
          </p>
          <ul className={css['under']}>
            {questionIds.map((id) => {
              const question = library.questions.find((one) => one.id === id);
              return question && <li key={id}>{textOf(question)}</li>;
            })}
          </ul>
        </li>
      ))}
    </ol>
  );
}
