// The calendar: schedules by week, with what was sent to how many people, and what is scheduled.
import type { CalendarCell, ScheduleView, Schedules } from '@soundings/contract/console/asking.ts';
import { Link } from '@tanstack/react-router';
import { Hourglass, TriangleAlert } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { cx } from '../../../ui/cx.ts';
import { Popover } from '../../../ui/floating/Popover.tsx';
import css from './Calendar.module.css';
import { useDays, useKpiName, useQuestionText } from '../texts.ts';

/** `schedules`: the schedules to show. For a single one, its name is shown elsewhere. */
export function Calendar({ data, schedules }: { data: Schedules; schedules: ScheduleView[] }) {
  const t = useText();
  const around = useRef<HTMLDivElement>(null);
  const isAlone = schedules.length === 1 && data.schedules.length !== 1;
  useEffect(() => {
    // Scrolls the current week to the middle.
    const now = around.current?.querySelector<HTMLElement>('[data-now]');
    if (around.current && now) around.current.scrollLeft = now.offsetLeft - around.current.clientWidth / 2;
  }, []);
  return (
    <div className={css['whole']}>
      <div
        ref={around}
        className={css['around']}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolling areas must be reachable by keyboard
        tabIndex={0}
        role="region"
        aria-label={t('asking.calendarWeeks')}
      >
        <table className={css['table']}>
          <Head data={data} />
          <tbody>
            {schedules.map((schedule) => (
              <tr key={schedule.id}>
                <th scope="row" className={css['name']}>
                  {isAlone ? (
                    schedule.name
                  ) : (
                    <Link to={`/schedules/${schedule.id}`} className={css['link']}>
                      {schedule.name}
                    </Link>
                  )}
                  <span className={css['small']}>
                    {schedule.isPaused
                      ? t('asking.paused')
                      : t('asking.people', { count: schedule.audience.people })}
                  </span>
                </th>
                {data.weeks.map(({ week, isNow }) => {
                  const cell = schedule.cells.find((one) => one.week === week);
                  return (
                    <td key={week} className={cx(css['cell'], isNow && css['now'])}>
                      {cell && <Cell {...{ cell, schedule, data }} />}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Legend schedules={schedules} />
    </div>
  );
}

function Head({ data: { weeks } }: { data: Schedules }) {
  const t = useText();
  const days = useDays();
  const { short } = useWeekText();
  const isFirst = (i: number) => i === 0 || weeks[i]!.week.slice(0, 7) !== weeks[i - 1]!.week.slice(0, 7);
  return (
    <thead>
      <tr>
        <th scope="col" className={css['corner']}>
          {t('asking.schedule')}
        </th>
        {weeks.map((one, i) => (
          <th
            key={one.week}
            scope="col"
            className={cx(css['week'], one.isNow && css['now'])}
            data-now={one.isNow || undefined}
            title={`${short(one)}, ${days.span(one)}`}
          >
            <span className={css['month']}>{isFirst(i) ? days.month(one.week) : ''}</span>
            {short(one)}
            {one.isNow && <span className="visually-hidden"> {t('asking.thisWeek')}</span>}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** A week in which too few people were due by their date was not missed: the schedule waits. */
const stateOf = ({ state, reason }: CalendarCell) => (reason === 'tooFewDue' ? ('waited' as const) : state);

type CellProps = { cell: CalendarCell; schedule: ScheduleView; data: Schedules };

function Cell({ cell, schedule, data }: CellProps) {
  const t = useText();
  const days = useDays();
  const { full, short } = useWeekText();
  const { questionIds, people, week } = cell;
  const { waits } = schedule;
  const state = stateOf(cell);
  const of = data.weeks.find((one) => one.week === week)!;
  const isFixed = schedule.questionIds.length > 0;
  const count = people ?? schedule.audience.people;
  const questions = t('asking.questions', { count: questionIds.length });
  const description =
    state === 'due' && waits
      ? t('asking.cell.dueWhenEnough', { questions, count: waits.people, minimum: waits.minimum })
      : t(`asking.cell.${state}`, { questions, people: t('asking.people', { count }) });
  const trigger = (
    <button
      type="button"
      className={cx(css['mark'], css[state], state === 'due' && !isFixed && css['open'])}
      aria-label={`${full(of)}: ${description}`}
    >
      {state === 'missed' && <TriangleAlert aria-hidden size={14} />}
      {state === 'waited' && <Hourglass aria-hidden size={13} />}
      {state !== 'missed' && state !== 'waited' && questionIds.length}
    </button>
  );
  return (
    <Popover trigger={trigger} title={`${short(of)} · ${days.span(of)}`} align="center">
      <div className={css['details']}>
        <p>{description}</p>
        {cell.day && (
          <p className={css['small']}>
            {t('asking.onDay', { day: days.day(cell.day), hour: days.hour(schedule.hour) })}
          </p>
        )}
        {cell.reason && <p className={css['reason']}>{t(`asking.missed.${cell.reason}`)}</p>}
        <Asked {...{ cell, schedule, data }} />
      </div>
    </Popover>
  );
}

/**
 * The questions of a week: the fixed questions of the schedule, or those it would choose as of now, with the KPIs that they belong
 * to.
 */
function Asked({ cell: { state, questionIds }, schedule, data }: CellProps) {
  const t = useText();
  const kpiName = useKpiName();
  const textOf = useQuestionText();
  const isChosen = state === 'due' && schedule.kpiIds.length > 0;
  const kpis = data.kpis.filter(({ id }) => schedule.kpiIds.includes(id)).map(kpiName);
  const questions = questionIds.map((id) => data.questions.find((one) => one.id === id));
  return (
    <>
      {isChosen && <p>{t('asking.fromKpis', { kpis: kpis.join(', ') })}</p>}
      {isChosen && <p className={css['small']}>{t('asking.asNow')}</p>}
      <ul className={css['questions']}>
        {questions.map((one) => one && <li key={one.id}>{textOf(one)}</li>)}
      </ul>
    </>
  );
}

function Legend({ schedules }: { schedules: ScheduleView[] }) {
  const t = useText();
  const hasWaited = schedules.some(({ cells }) => cells.some((cell) => stateOf(cell) === 'waited'));
  const states = ['opened', 'missed', ...(hasWaited ? (['waited'] as const) : []), 'due', 'open'] as const;
  return (
    <ul className={css['legend']}>
      {states.map((state) => (
        <li key={state}>
          <span
            aria-hidden
            className={cx(
              css['mark'],
              css['key'],
              css[state === 'open' ? 'due' : state],
              state === 'open' && css['open'],
            )}
          >
            {state === 'missed' && <TriangleAlert size={12} />}
            {state === 'waited' && <Hourglass size={11} />}
            {state !== 'missed' && state !== 'waited' && 5}
          </span>
          {t(`asking.legend.${state}`)}
        </li>
      ))}
    </ul>
  );
}
