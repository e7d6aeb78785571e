// Shown to administrators before there are results: the first steps, and which of them are done.
import type { ResultsStart } from '@soundings/contract/console/results.ts';
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { useData } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { LinkButton } from '../../../ui/Button.tsx';
import { cx } from '../../../ui/cx.ts';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import css from './FirstSteps.module.css';

export function FirstSteps({ start }: { start: ResultsStart }) {
  const schedules = useData('GET /schedules');
  return (
    <Loaded response={schedules}>
      {({ schedules: all }) => <Steps start={start} hasSchedule={all.length > 0} />}
    </Loaded>
  );
}

function Steps({ start: { groups, running }, hasSchedule }: { start: ResultsStart; hasSchedule: boolean }) {
  const t = useText();
  const { sentence } = useWeekText();
  const hasGroups = groups > 0;
  return (
    <Section title={t('results.first')} description={t('results.firstText')}>
      <ol className={css['steps']}>
        <Step
          number={1}
          isDone={hasGroups}
          title={t('results.firstPeople')}
          text={t(hasGroups ? 'results.firstPeopleDone' : 'results.firstPeopleText')}
        >
          <LinkButton kind={hasGroups ? 'secondary' : 'primary'} to="/files">
            {t('results.firstUpload')}
          </LinkButton>
          <LinkButton to="/access">{t('results.firstConnect')}</LinkButton>
          <LinkButton to="/groups">{t(hasGroups ? 'nav.groups' : 'results.firstGroups')}</LinkButton>
        </Step>
        <Step
          number={2}
          isDone={hasSchedule}
          title={t('results.firstSchedule')}
          text={t(hasSchedule ? 'results.firstScheduleDone' : 'results.firstScheduleText')}
        >
          <LinkButton kind={hasGroups && !hasSchedule ? 'primary' : 'secondary'} to="/schedules">
            {t(hasSchedule ? 'results.firstSeeSchedules' : 'results.firstSchedule')}
          </LinkButton>
        </Step>
        <Step
          number={3}
          title={t('results.firstResults')}
          text={
            running
              ? t('results.firstRuns', { week: sentence(running, running) })
              : t('results.firstResultsText')
          }
        />
      </ol>
    </Section>
  );
}

type StepProps = { number: number; title: string; text: string; isDone?: boolean; children?: ReactNode };

function Step({ number, title, text, isDone = false, children }: StepProps) {
  const t = useText();
  return (
    <li className={css['step']}>
      <span className={cx(css['number'], isDone && css['done'])} aria-hidden>
        {isDone ? <Check size={16} strokeWidth={2.25} /> : number}
      </span>
      <div className={css['text']}>
        <h3 className={css['title']}>
          {title}
          {isDone && <span className="visually-hidden"> ({t('results.firstDone')})</span>}
        </h3>
        <p className={css['text']}>{text}</p>
        {children !== undefined && <div className={css['actions']}>{children}</div>}
      </div>
    </li>
  );
}
