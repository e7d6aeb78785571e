// Columns that the lists of runs and files share.
import type { RunRow } from '@soundings/contract/console/runs.ts';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useFormat, useText } from '../../text/text.tsx';
import type { Column } from '../../ui/table/DataTable.tsx';
import css from './runs.module.css';
import { countsOf, countText, Deltas } from './texts.tsx';

/** A name with an icon, and a second line of text below it. */
export const NameCell = ({
  icon: Icon,
  name,
  children,
}: {
  icon: LucideIcon;
  name: string;
  children: ReactNode;
}) => (
  <>
    <Icon aria-hidden size={16} strokeWidth={1.75} className={css['icon']} />
    <span className={css['two']}>
      <span className={css['name']}>{name}</span>
      <span className={css['soft']}>{children}</span>
    </span>
  </>
);

type Row = Pick<RunRow, 'at' | 'summary' | 'warnings'>;

export function useSharedColumns(): Record<'at' | 'users' | 'groups' | 'warnings', Column<Row>> {
  const t = useText();
  const { time, number } = useFormat();
  return {
    at: {
      key: 'at',
      title: t('runs.at'),
      width: 'minmax(150px, 0.8fr)',
      wideOnly: true,
      cell: ({ at }) => <time dateTime={at}>{time(at)}</time>,
    },
    users: {
      key: 'users',
      title: t('runs.users'),
      width: 'minmax(110px, 0.8fr)',
      wideOnly: true,
      cell: ({ summary }) => <Deltas counts={countsOf(summary, 'users')} />,
    },
    groups: {
      key: 'groups',
      title: t('runs.groups'),
      width: 'minmax(90px, 0.7fr)',
      wideOnly: 'large',
      cell: ({ summary }) => <Deltas counts={countsOf(summary, 'groups')} />,
    },
    warnings: {
      key: 'warnings',
      title: t('runs.warnings'),
      width: 80,
      align: 'end',
      wideOnly: 'medium',
      cell: ({ warnings }) =>
        warnings > 0 && <span className={css['warn']}>{countText(warnings, number)}</span>,
    },
  };
}
