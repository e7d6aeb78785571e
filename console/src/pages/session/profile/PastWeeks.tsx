// The questions that your groups were asked in past weeks, without any answers.
import type { OwnAskedWeek } from '@soundings/contract/console/session.ts';
import { CalendarDays } from 'lucide-react';
import { useData } from '../../../hooks/data.ts';
import { useLanguage, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded, Skeleton } from '../../../ui/page/States.tsx';
import css from './Profile.module.css';

export function PastWeeks() {
  const t = useText();
  const response = useData('GET /profile/weeks');
  return (
    <Section title={t('profile.weeks')} description={t('profile.weeksText')}>
      <Loaded response={response} skeleton={<Skeleton rows={4} />}>
        {(weeks) =>
          weeks.length === 0 ? (
            <Empty icon={CalendarDays} title={t('profile.noWeeks')} text={t('profile.noWeeksText')} />
          ) : (
            <div>
              {weeks.map((week, i) => (
                <Week key={week.week} week={week} isOpen={i === 0} />
              ))}
            </div>
          )
        }
      </Loaded>
    </Section>
  );
}

function Week({ week: { week, from, to, questions }, isOpen }: { week: OwnAskedWeek; isOpen: boolean }) {
  const t = useText();
  const { short } = useWeekText();
  const language = useLanguage();
  // Days of the service's calendar, which don't depend on the browser's time zone.
  const days = new Intl.DateTimeFormat(language === 'sv' ? 'sv-SE' : 'en-GB', {
    dateStyle: 'medium',
    timeZone: 'UTC',
  }).formatRange(new Date(from), new Date(to));
  return (
    <details className={css['week']} open={isOpen}>
      <summary>
        <span className={css['head']}>{short({ name: week })}</span>
        <span className={css['soft']}>
          {days} · {t('profile.questions', { count: questions.length })}
        </span>
      </summary>
      <ul>
        {questions.map((question) => (
          <li key={question}>{question}</li>
        ))}
      </ul>
    </details>
  );
}
