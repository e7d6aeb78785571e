// The steps from an empty account to the first results. The service computes which are done. Each has one button.
import type { Start, StartStep } from '@soundings/contract/console/start.ts';
import { Check } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { api } from '../../../api.ts';
import { useOnce } from '../../../hooks/once.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useSession } from '../../../session.tsx';
import { useLanguageNames } from '../../../text/languages.ts';
import { useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Button, LinkButton } from '../../../ui/Button.tsx';
import { cx } from '../../../ui/cx.ts';
import { useToast } from '../../../ui/floating/Toast.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { AskNowDialog } from '../../asking/schedules/AskNowDialog.tsx';
import css from './StartSteps.module.css';

/** How often the steps are fetched again, in ms: people and groups may arrive from the HR system. */
const refetchMs = 10_000;

export function StartSteps() {
  const t = useText();
  const start = useData('GET /start', undefined, { everyMs: refetchMs });
  return (
    <Loaded response={start}>
      {(data) => (
        <Section title={t('start.title')} description={t('start.text')}>
          <Steps start={data} />
        </Section>
      )}
    </Loaded>
  );
}

function Steps({ start }: { start: Start }) {
  const t = useText();
  const next = start.steps.find(({ isDone }) => !isDone)?.name;
  const { sentence } = useWeekText();
  const texts = useStepTexts(start);
  return (
    <ol className={css['steps']}>
      {start.steps.map(({ name, isDone }, i) => (
        <Step
          key={name}
          number={i + 1}
          isDone={isDone}
          title={t(`start.${name}`)}
          text={texts[name][isDone ? 'done' : 'open']}
        >
          <StepButton step={name} start={start} isNext={name === next} />
        </Step>
      ))}
      <Step
        number={start.steps.length + 1}
        title={t('start.results')}
        text={
          start.week
            ? t('start.resultsWeek', { week: sentence(start.week, start.week) })
            : t('start.resultsText')
        }
      />
    </ol>
  );
}

/** Returns what each step says while it is open, and when it is done. */
function useStepTexts(start: Start): Record<StartStep, { open: string; done: string }> {
  const t = useText();
  const { nameOf } = useLanguageNames();
  const { company, people, withoutGroup, groups, schedule, canMail, uninvited, invited, signedIn } = start;
  const without = withoutGroup > 0 ? ` ${t('start.withoutGroup', { count: withoutGroup })}` : '';
  const companyText = t('start.companyText', { name: company.name, language: nameOf(company.language) });
  return {
    company: { open: companyText, done: companyText },
    people: {
      open: t('start.peopleText', { threshold: company.threshold, count: people }),
      done: t('start.peopleDone', { count: people }),
    },
    groups: {
      open: t('start.groupsText') + (groups > 0 ? without : ''),
      done: t('start.groupsDone', { count: groups }) + without,
    },
    pulse: { open: t('start.pulseText'), done: t('start.pulseDone', { name: schedule?.name ?? '' }) },
    testMail: {
      open: t(canMail ? 'start.testMailText' : 'start.testMailNoMail'),
      done: t('start.testMailDone'),
    },
    invite: {
      open: uninvited > 0 ? t('start.inviteText', { count: uninvited }) : t('start.inviteNoOne'),
      done: t('start.inviteDone', { invited, signedIn }),
    },
    ask: { open: t('start.askText'), done: t('start.askDone') },
  };
}

type ButtonProps = { step: StartStep; start: Start; isNext: boolean };

function StepButton({ step, start, isNext }: ButtonProps) {
  const t = useText();
  const kind = isNext ? 'primary' : 'secondary';
  const { schedule, uninvited } = start;
  const link = (text: Parameters<typeof t>[0], to: string, search?: object) => (
    <LinkButton kind={kind} to={to} {...(search && { search })}>
      {t(text)}
    </LinkButton>
  );
  switch (step) {
    case 'company':
      return link('start.companyButton', '/settings');
    case 'people':
      return (
        <>
          {link('start.peopleButton', '/files')}
          <LinkButton to="/access">{t('start.peopleConnect')}</LinkButton>
          <LinkButton to="/people/several">{t('start.peopleAdd')}</LinkButton>
        </>
      );
    case 'groups':
      return link('start.groupsButton', '/groups');
    case 'pulse':
      return link('start.pulseButton', '/schedules/templates');
    case 'testMail':
      return schedule ? <TestMail scheduleId={schedule.id} kind={kind} canMail={start.canMail} /> : null;
    case 'invite':
      return link(
        uninvited > 0 ? 'start.inviteButton' : 'start.inviteRoles',
        '/people',
        uninvited > 0 ? { status: 'uninvited' } : { role: 'Manager' },
      );
    case 'ask':
      return schedule ? <AskNow schedule={schedule} kind={kind} isAsked={start.week !== null} /> : null;
  }
}

type Kind = 'primary' | 'secondary';

/** Sends the test email with one click. */
function TestMail({ scheduleId, kind, canMail }: { scheduleId: number; kind: Kind; canMail: boolean }) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  const { busy, once } = useOnce();
  const { email } = useSession().user;
  const send = async () => {
    const { address } = await api('POST /schedules/{scheduleId}/test', {
      params: { scheduleId },
      body: { kind: 'invitation' },
    });
    toast({ text: t('start.testMailSent', { address }) });
    await refresh('GET /start');
  };
  return (
    <Button kind={kind} busy={busy} disabled={!canMail || email === null} onClick={() => once(send)}>
      {t('start.testMailButton')}
    </Button>
  );
}

type AskNowProps = { schedule: { id: number; name: string }; kind: Kind; isAsked: boolean };

function AskNow({ schedule, kind, isAsked }: AskNowProps) {
  const t = useText();
  const [isOpen, setIsOpen] = useState(false);
  if (isAsked)
    return (
      <LinkButton kind={kind} to="/rounds">
        {t('start.askedButton')}
      </LinkButton>
    );
  return (
    <>
      <Button kind={kind} onClick={() => setIsOpen(true)}>
        {t('ask.button')}
      </Button>
      {isOpen && (
        <AskNowDialog scheduleId={schedule.id} name={schedule.name} onClose={() => setIsOpen(false)} />
      )}
    </>
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
          {isDone && <span className="visually-hidden"> ({t('start.done')})</span>}
        </h3>
        <p className={css['text']}>{text}</p>
        {children !== undefined && <div className={css['actions']}>{children}</div>}
      </div>
    </li>
  );
}
