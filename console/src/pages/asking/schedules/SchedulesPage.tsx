// The schedules: questions, audience, next date and last round. Also the calendar of all schedules.
import type { ScheduleView, Schedules } from '@soundings/contract/console/asking.ts';
import { CalendarClock, LayoutTemplate, Plus } from 'lucide-react';
import { useAddress, useData } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { LinkButton } from '../../../ui/Button.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { ToggleGroup } from '../../../ui/form/ToggleGroup.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { type Column, DataTable } from '../../../ui/table/DataTable.tsx';
import css from '../asking.module.css';
import { Calendar } from './Calendar.tsx';
import { NoMail } from '../NoMail.tsx';
import { Waits } from '../Waits.tsx';
import { useDays, useRepetition } from '../texts.ts';

export function SchedulesPage() {
  const t = useText();
  const response = useData('GET /schedules');
  const [{ view = 'list' }, change] = useAddress<'view'>();
  const make = (
    <>
      <LinkButton icon={LayoutTemplate} to="/schedules/templates">
        {t('asking.fromTemplate')}
      </LinkButton>
      <LinkButton kind="primary" icon={Plus} to="/schedules/new">
        {t('asking.newSchedule')}
      </LinkButton>
    </>
  );
  return (
    <Page
      title={t('asking.schedules')}
      subtitle={t('asking.schedulesText')}
      actions={make}
      toolbar={
        <ToggleGroup
          label={t('asking.view')}
          value={view}
          onChange={(to) => change({ view: to === 'list' ? '' : to })}
          options={(['list', 'calendar'] as const).map((one) => ({
            value: one,
            label: t(`asking.view.${one}`),
          }))}
        />
      }
    >
      <Loaded response={response}>
        {(data) =>
          data.schedules.length === 0 ? (
            <Empty
              icon={CalendarClock}
              title={t('asking.noSchedules')}
              text={t('asking.noSchedulesText')}
              action={make}
            />
          ) : (
            <>
              {!data.hasMail && <NoMail />}
              {view === 'calendar' ? (
                <Calendar data={data} schedules={data.schedules} />
              ) : (
                <List data={data} />
              )}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function List({ data }: { data: Schedules }) {
  const t = useText();
  const columns = useColumns(data);
  return (
    <DataTable
      label={t('asking.schedules')}
      columns={columns}
      rows={data.schedules}
      rowKey={({ id }) => id}
      to={({ id }) => `/schedules/${id}`}
      rowHeight={64}
    />
  );
}

/** Returns "5 questions from 8 KPIs", or the number of fixed questions. */
function useWhat(): (schedule: Pick<ScheduleView, 'questionIds' | 'kpiIds' | 'perWeek'>) => string {
  const t = useText();
  return ({ questionIds, kpiIds, perWeek }) =>
    questionIds.length > 0
      ? t('asking.fixedQuestions', { count: questionIds.length })
      : t('asking.someOfKpis', { count: perWeek ?? 0, kpis: t('asking.kpiCount', { count: kpiIds.length }) });
}

function useColumns({ groups }: Schedules): Column<ScheduleView>[] {
  const t = useText();
  const repetition = useRepetition();
  const what = useWhat();
  const names = new Map(groups.map(({ id, name }) => [id, name]));
  return [
    {
      key: 'name',
      title: t('asking.name'),
      width: 'minmax(88px, 1.3fr)',
      cell: (one) => <span className={css['lead']}>{one.name}</span>,
      beside: (one) => one.isPaused && <Badge tone="warn">{t('asking.paused')}</Badge>,
    },
    {
      key: 'what',
      title: t('asking.what'),
      width: 'minmax(112px, 1.5fr)',
      cell: (one) => <TwoLines lead={what(one)} detail={repetition(one)} />,
    },
    {
      key: 'whom',
      title: t('asking.audience'),
      width: 'minmax(130px, 1.2fr)',
      wideOnly: true,
      cell: ({ groupIds, withoutGroupIds, audience }) => (
        <TwoLines
          lead={groupIds.map((id) => names.get(id) ?? t('asking.removedGroup')).join(', ')}
          detail={[
            t('asking.people', { count: audience.people }),
            ...(withoutGroupIds.length > 0
              ? [t('asking.withoutCount', { count: withoutGroupIds.length })]
              : []),
          ].join(' · ')}
        />
      ),
    },
    {
      key: 'next',
      title: t('asking.next'),
      width: 'minmax(88px, 1fr)',
      cell: (one) => <Next schedule={one} />,
    },
    {
      key: 'last',
      title: t('asking.last'),
      width: 'minmax(150px, 1.4fr)',
      wideOnly: true,
      cell: (one) => <Last schedule={one} />,
    },
  ];
}

function TwoLines({ lead, detail }: { lead: string; detail: string }) {
  return (
    <span className={css['two']}>
      <span className={css['cut']} title={lead}>
        {lead}
      </span>
      <span className={css['small']}>{detail}</span>
    </span>
  );
}

function Next({ schedule: { next, isLate, isPaused } }: { schedule: ScheduleView }) {
  const t = useText();
  const days = useDays();
  const { full } = useWeekText();
  if (isPaused) return <span className={css['soft']}>{t('asking.notWhilePaused')}</span>;
  if (!next) return <span className={css['soft']}>{t('asking.neverAgain')}</span>;
  return <TwoLines lead={days.day(next.day)} detail={isLate ? t('asking.late') : full(next)} />;
}

function Last({ schedule: { last, waits } }: { schedule: ScheduleView }) {
  const t = useText();
  const { full } = useWeekText();
  if (!last) return <span className={css['soft']}>{t('asking.notYet')}</span>;
  if (last.reason === 'tooFewDue') return <Waited last={last} waits={waits} />;
  const reason = last.reason ? t(`asking.missed.${last.reason}`) : undefined;
  return (
    <span className={css['two']}>
      {last.outcome === 'opened' ? (
        <Badge tone="good" dot>
          {t('asking.askedPeople', { count: last.people })}
        </Badge>
      ) : (
        <Badge tone="bad" dot>
          {t('asking.missedWeek')}
        </Badge>
      )}
      <span className={css['small']} title={reason}>
        {reason ? `${full(last)}: ${reason}` : full(last)}
      </span>
    </span>
  );
}

/** In its last week, too few people were due. `waits`: as of now; null: there are enough by its next day. */
function Waited({ last, waits }: { last: NonNullable<ScheduleView['last']>; waits: ScheduleView['waits'] }) {
  const t = useText();
  const { full } = useWeekText();
  if (waits) return <Waits waits={waits} />;
  return (
    <span className={css['two']}>
      <Badge dot>{t('asking.waited')}</Badge>
      <span className={css['small']}>{full(last)}</span>
    </span>
  );
}
