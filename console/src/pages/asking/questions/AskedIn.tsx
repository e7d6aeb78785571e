// The weeks and groups in which a question was asked, and the schedules that ask it.
import type { AskedWeek, QuestionView } from '@soundings/contract/console/asking.ts';
import { Link } from '@tanstack/react-router';
import { CalendarX2 } from 'lucide-react';
import { useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { type Column, DataTable } from '../../../ui/table/DataTable.tsx';
import css from '../asking.module.css';
import { useDays } from '../texts.ts';

export function AskedIn({ question }: { question: QuestionView }) {
  const t = useText();
  const { schedules, askedIn, weeks } = question;
  return (
    <>
      <Section title={t('asking.usedBy')}>
        {schedules.length === 0 ? (
          <p className={css['soft']}>{t('asking.usedByNone')}</p>
        ) : (
          <ul className={css['list']}>
            {schedules.map(({ id, name, isFixed }) => (
              <li key={id} className={css['line']}>
                <Link to={`/schedules/${id}`}>{name}</Link>
                <span className={css['end']}>{t(isFixed ? 'asking.eachTime' : 'asking.inTurn')}</span>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section
        title={t('asking.askedIn')}
        description={
          weeks > askedIn.length ? t('asking.askedInLast', { count: askedIn.length, all: weeks }) : undefined
        }
        flush
      >
        <Weeks rows={askedIn} />
      </Section>
    </>
  );
}

function Weeks({ rows }: { rows: AskedWeek[] }) {
  const t = useText();
  const days = useDays();
  const { full } = useWeekText();
  const columns: Column<AskedWeek>[] = [
    { key: 'week', title: t('asking.week'), width: 130, cell: full },
    { key: 'days', title: t('asking.days'), width: 170, wideOnly: true, cell: days.span },
    {
      key: 'groups',
      title: t('asking.groups'),
      wideOnly: true,
      cell: ({ groups, groupCount }) => {
        const [first] = groups;
        const name = first?.name ?? t('asking.removedGroup');
        return groupCount > 1 ? t('asking.groupAndMore', { name, count: groupCount - 1 }) : name;
      },
    },
    {
      key: 'schedule',
      title: t('asking.schedule'),
      cell: ({ schedules }) =>
        schedules.map(({ name }) => name ?? t('asking.removedSchedule')).join(', ') || t('asking.fromFile'),
    },
    {
      key: 'state',
      title: t('asking.state'),
      width: 80,
      cell: ({ isOpen }) => (isOpen ? <Badge tone="accent">{t('asking.open')}</Badge> : t('asking.closed')),
    },
  ];
  return (
    <DataTable
      label={t('asking.askedIn')}
      columns={columns}
      rows={rows}
      rowKey={({ week }) => week}
      rowHeight={40}
      empty={<Empty icon={CalendarX2} title={t('asking.neverAsked')} />}
    />
  );
}
