// An open week: how many people are asked and have answered, the state of its emails, its questions, and its actions.
import type { OpenWeek } from '@soundings/contract/console/asking.ts';
import { Link2, LockKeyhole } from 'lucide-react';
import { useState } from 'react';
import { useFormat, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Button } from '../../../ui/Button.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Progress } from '../../../ui/page/Progress.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import css from './OpenWeekView.module.css';
import { CloseWeekDialog } from './CloseWeekDialog.tsx';
import { LinksDialog } from './LinksDialog.tsx';
import { QuestionList } from '../questions/QuestionList.tsx';
import { useDays } from '../texts.ts';

export function OpenWeekView({ week, hasMail }: { week: OpenWeek; hasMail: boolean }) {
  const t = useText();
  const days = useDays();
  const { short } = useWeekText();
  const format = useFormat();
  const [shown, setShown] = useState<'close' | 'links'>();
  const close = () => setShown(undefined);
  return (
    <>
      <Section
        title={t('asking.weekTitle', { week: short(week), days: days.span(week) })}
        description={
          week.hasEnded ? t('asking.hasEnded') : t('asking.endsAt', { time: format.time(week.endsAt) })
        }
        actions={
          !week.closing && (
            <>
              <Button icon={Link2} onClick={() => setShown('links')}>
                {t('asking.links')}
              </Button>
              <Button icon={LockKeyhole} onClick={() => setShown('close')}>
                {t('asking.close')}
              </Button>
            </>
          )
        }
      >
        {week.closing && <Closing week={week} />}
        {week.isLive && <Notice tone="warn">{t('asking.live', { count: week.threshold })}</Notice>}
        <Figures week={week} />
        <Rounds week={week} />
      </Section>
      {shown === 'close' && <CloseWeekDialog week={week} onClose={close} />}
      {shown === 'links' && <LinksDialog week={week} hasMail={hasMail} onClose={close} />}
    </>
  );
}

function Closing({ week: { closing } }: { week: OpenWeek }) {
  const t = useText();
  if (closing?.isFailing)
    return (
      <Notice tone="bad" live title={t('asking.closeFailed')}>
        {t('asking.closeFailedText')}
      </Notice>
    );
  return <Progress label={t('asking.closing')} />;
}

function Figures({ week }: { week: OpenWeek }) {
  const t = useText();
  const format = useFormat();
  const { asked, unreachable } = week;
  return (
    <dl className={css['figures']}>
      <div>
        <dt>{t('asking.askedLabel')}</dt>
        <dd className={css['figure']}>{format.number(asked)}</dd>
        <dd className={css['small']}>
          {unreachable > 0 ? t('asking.unreachable', { count: unreachable }) : t('asking.activePeople')}
        </dd>
      </div>
      <div>
        <dt>{t('asking.answeredLabel')}</dt>
        <Loaded week={week} />
      </div>
      <Invitations week={week} />
      <Reminders week={week} />
    </dl>
  );
}

function Loaded({ week: { asked, answered } }: { week: OpenWeek }) {
  const t = useText();
  const format = useFormat();
  if (answered.state === 'notYet') return <dd className={css['text']}>{t('asking.notCounted')}</dd>;
  if (answered.state === 'tooFew')
    return <dd className={css['text']}>{t('asking.tooFew', { count: answered.step })}</dd>;
  if (answered.state === 'atLeast' && answered.count === 0) {
    return (
      <>
        <dd className={css['text']}>{t('asking.fewYet')}</dd>
        <dd className={css['small']}>
          {t('asking.countedDaily', { day: format.day(answered.on), count: answered.step })}
        </dd>
      </>
    );
  }
  const share = asked > 0 ? answered.count / asked : 0;
  const count = format.number(answered.count);
  const isExact = answered.state === 'exact';
  return (
    <>
      <dd className={css['figure']}>
        {t(isExact ? 'asking.exactly' : 'asking.atLeast', { answered: count })}
      </dd>
      <dd className={css['small']}>
        <span className={css['track']} aria-hidden>
          <span className={css['bar']} style={{ inlineSize: `${share * 100}%` }} />
        </span>
        {t('asking.ofAsked', { count: asked })}
        {!isExact && ` ${t('asking.countedDaily', { day: format.day(answered.on), count: answered.step })}`}
      </dd>
    </>
  );
}

function Invitations({ week: { invitations } }: { week: OpenWeek }) {
  const t = useText();
  const format = useFormat();
  const rest = (['waiting', 'refused', 'unknown'] as const).filter((state) => invitations[state] > 0);
  const all = invitations.sent + invitations.waiting + invitations.refused + invitations.unknown;
  return (
    <div>
      <dt>{t('asking.invitationsLabel')}</dt>
      <dd className={css['figure']}>{format.number(invitations.sent)}</dd>
      <dd className={css['small']}>
        {all === 0 ? t('asking.noMessages') : t('asking.sent')}
        {rest.map((state) => (
          <span key={state} className={css[state]}>
            {' · '}
            {t(`asking.mails.${state}`, { count: invitations[state] })}
          </span>
        ))}
      </dd>
    </div>
  );
}

function Reminders({ week: { reminders } }: { week: OpenWeek }) {
  const t = useText();
  const format = useFormat();
  const { state, from, until } = reminders;
  return (
    <div>
      <dt>{t('asking.remindersLabel')}</dt>
      {state === 'waiting' && from !== null ? (
        <>
          <dd className={css['text']}>{format.time(from)}</dd>
          <dd className={css['small']}>
            {until !== null && until !== from && `${t('asking.untilTime', { time: format.time(until) })} `}
            {t('asking.toThoseLeft')}
          </dd>
        </>
      ) : (
        <>
          <dd className={css['text']}>{t(`asking.reminders.${state}`)}</dd>
          {state === 'sent' && <dd className={css['small']}>{t('asking.remindersNotCounted')}</dd>}
        </>
      )}
    </div>
  );
}

function Rounds({ week: { rounds } }: { week: OpenWeek }) {
  const t = useText();
  return (
    <div className={css['rounds']}>
      {rounds.map((round) => {
        const [first] = round.groups;
        const group = first?.name ?? t('asking.removedGroup');
        return (
          <section key={round.scheduleId ?? 0} className={css['round']}>
            <h3 className={css['name']}>
              {round.name ?? (round.scheduleId === null ? t('asking.fromFile') : t('asking.removedSchedule'))}
            </h3>
            <p className={css['small']}>
              {[
                t('asking.questions', { count: round.questions.length }),
                ...(round.people === null ? [] : [t('asking.people', { count: round.people })]),
                round.groupCount > 1
                  ? t('asking.groupAndMore', { name: group, count: round.groupCount - 1 })
                  : group,
              ].join(' · ')}
            </p>
            <QuestionList questions={round.questions} />
          </section>
        );
      })}
    </div>
  );
}
