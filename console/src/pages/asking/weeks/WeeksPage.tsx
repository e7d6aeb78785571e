// This week: open weeks and their state, what is next, rejected emails, and closed weeks.
import type { Rounds } from '@soundings/contract/console/asking.ts';
import { Link } from '@tanstack/react-router';
import { CalendarClock } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useData } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { LinkButton } from '../../../ui/Button.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { type Column, DataTable } from '../../../ui/table/DataTable.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import css from '../asking.module.css';
import { OpenWeekView } from './OpenWeekView.tsx';
import { NoMail } from '../NoMail.tsx';
import { Waits } from '../Waits.tsx';
import { useDays } from '../texts.ts';

/** How often to refetch, in ms: while a week closes, and otherwise. */
const [closingPace, usualPace] = [1500, 30_000];

export function WeeksPage() {
  const t = useText();
  const [pace, setPace] = useState(usualPace);
  const response = useData('GET /rounds', undefined, { everyMs: pace });
  const { data } = response;
  const wanted = data?.open.some(({ closing }) => closing) ? closingPace : usualPace;
  if (wanted !== pace) setPace(wanted);
  useClosedTexts(data);
  return (
    <Page title={t('asking.thisWeek')} subtitle={t('asking.roundsText')}>
      <Loaded response={response}>
        {(rounds) => (
          <>
            {!rounds.hasMail && <NoMail />}
            {rounds.open.length === 0 && <Nothing rounds={rounds} />}
            {rounds.open.map((week) => (
              <OpenWeekView key={week.week} week={week} hasMail={rounds.hasMail} />
            ))}
            <Coming rows={rounds.coming} />
            <Refusals rows={rounds.refusals} />
            <Closed rows={rounds.closed} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Shows a toast when a week has finished closing. */
function useClosedTexts(data: Rounds | undefined) {
  const t = useText();
  const toast = useToast();
  const { full } = useWeekText();
  const before = useRef<string[]>([]);
  useEffect(() => {
    if (!data) return;
    for (const week of data.closed)
      if (before.current.includes(week.name)) toast({ text: t('asking.isClosed', { week: full(week) }) });
    before.current = data.open.filter(({ closing }) => closing).map(({ name }) => name);
  }, [data, full, t, toast]);
}

function Nothing({ rounds: { next, coming } }: { rounds: Rounds }) {
  const t = useText();
  const days = useDays();
  const late = coming.filter(({ isLate }) => isLate);
  return (
    <Empty
      icon={CalendarClock}
      title={t('asking.nothingRuns')}
      text={
        <>
          {late.map(({ id, schedule, day }) => (
            <p key={id}>{t('asking.lateRuns', { name: schedule, day: days.day(day) })}</p>
          ))}
          <p>
            {next
              ? t('asking.nextRuns', { name: next.schedule, day: days.day(next.day) })
              : t('asking.nothingComes')}
          </p>
        </>
      }
      action={<LinkButton to="/schedules">{t('asking.toSchedules')}</LinkButton>}
    />
  );
}

function Coming({ rows }: { rows: Rounds['coming'] }) {
  const t = useText();
  const days = useDays();
  const { full } = useWeekText();
  if (rows.length === 0) return null;
  const columns: Column<Rounds['coming'][number]>[] = [
    {
      key: 'schedule',
      title: t('asking.schedule'),
      width: 'minmax(110px, 2fr)',
      cell: ({ schedule }) => schedule,
    },
    {
      key: 'day',
      title: t('asking.day'),
      width: 'minmax(92px, 0.8fr)',
      cell: ({ day, isLate }) => (isLate ? t('asking.lateSince', { day: days.day(day) }) : days.day(day)),
    },
    { key: 'week', title: t('asking.week'), width: 130, wideOnly: true, cell: full },
    {
      key: 'questions',
      title: t('asking.asks'),
      width: 'minmax(72px, 0.8fr)',
      cell: ({ questions }) => t('asking.questions', { count: questions }),
    },
    {
      key: 'people',
      title: t('asking.audience'),
      width: 'minmax(140px, 1.2fr)',
      wideOnly: true,
      cell: ({ people, waits }) => (waits ? <Waits waits={waits} /> : t('asking.people', { count: people })),
    },
  ];
  return (
    <Section title={t('asking.coming')} description={t('asking.comingText')} flush>
      <DataTable
        label={t('asking.coming')}
        columns={columns}
        rows={rows}
        rowKey={({ id, week }) => `${id} ${week}`}
        to={({ id }) => `/schedules/${id}`}
        rowHeight={rows.some(({ waits }) => waits) ? 56 : 40}
      />
    </Section>
  );
}

function Refusals({ rows }: { rows: Rounds['refusals'] }) {
  const t = useText();
  const columns: Column<Rounds['refusals'][number]>[] = [
    {
      key: 'name',
      title: t('asking.person'),
      width: 'minmax(140px, 1fr)',
      cell: ({ name, userId }) => name || `#${userId}`,
    },
    {
      key: 'address',
      title: t('asking.address'),
      width: 'minmax(160px, 1.4fr)',
      cell: ({ address }) => address,
    },
    {
      key: 'reason',
      title: t('asking.reason'),
      width: 'minmax(160px, 2fr)',
      cell: ({ reason }) => <span title={reason}>{reason}</span>,
    },
  ];
  if (rows.length === 0) return null;
  return (
    <Section title={t('asking.refusals')} description={t('asking.refusalsText')} flush>
      <DataTable
        label={t('asking.refusals')}
        columns={columns}
        rows={rows}
        rowKey={({ userId }) => userId}
        to={({ userId }) => `/people/${userId}`}
        rowHeight={40}
      />
    </Section>
  );
}

function Closed({ rows }: { rows: Rounds['closed'] }) {
  const t = useText();
  const days = useDays();
  const { short } = useWeekText();
  const format = useFormat();
  if (rows.length === 0) return null;
  return (
    <Section title={t('asking.closedWeeks')} description={t('asking.closedText')}>
      <ul className={css['list']}>
        {rows.map((week) => (
          <li key={week.week} className={css['line']}>
            <span>
              <span className={css['strong']}>{short(week)}</span>{' '}
              <span className={css['soft']}>
                {days.span(week)}
                {week.schedules.length > 0 && ` · ${week.schedules.join(', ')}`}
              </span>
            </span>
            <span className={css['end']}>
              {week.isLost && <Badge tone="warn">{t('asking.lost')}</Badge>}{' '}
              {t('asking.closedOn', { day: format.day(week.closedAt) })}
            </span>
          </li>
        ))}
      </ul>
      <p>
        <Link to="/heat-map">{t('asking.toResults')}</Link>
      </p>
    </Section>
  );
}
