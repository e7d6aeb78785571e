// The table of people. Only the rows in view are fetched and drawn.
import type { PersonRow } from '@soundings/contract/console/people.ts';
import { type ReactNode, useState } from 'react';
import type { Windows } from '../../hooks/windows.ts';
import { type Translator, useFormat, useText } from '../../text/text.tsx';
import { Avatar } from '../../ui/Avatar.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Checkbox } from '../../ui/form/Field.tsx';
import { Locked } from '../../ui/Locked.tsx';
import type { Column } from '../../ui/table/DataTable.tsx';
import { LazyTable } from '../../ui/table/LazyTable.tsx';
import { personName } from './names.ts';
import { PersonStatus } from './PersonStatus.tsx';
import type { PeopleSelection } from './list/selection.ts';
import { type OpenPersonDialog, PersonDialogs } from './PersonDialogs.tsx';
import { PersonMenu } from './PersonMenu.tsx';
import css from './people.module.css';

type TableProps = {
  windows: Windows<PersonRow, unknown>;
  selection: PeopleSelection;
  sort: string;
  onSort: (sort: string) => void;
  empty: ReactNode;
};

export function PeopleTable({ windows, selection, ...shared }: TableProps) {
  const t = useText();
  const { day } = useFormat();
  const [doing, setDoing] = useState<OpenPersonDialog>();
  const columns: Column<PersonRow>[] = [
    {
      key: 'choose',
      title: t('people.choose'),
      hideTitle: true,
      width: 28,
      cell: (row) => (
        <Checkbox
          label={t('people.chooseOne', { name: personName(row) })}
          value={selection.has(row.id)}
          disabled={selection.isAll}
          onChange={(isOn) => selection.toggle(row.id, isOn)}
        />
      ),
    },
    ...factColumns(t, day),
    {
      key: 'menu',
      title: t('action.more'),
      hideTitle: true,
      width: 48,
      align: 'end',
      cell: (row) => <PersonMenu person={row} isInList onDo={(what) => setDoing({ what, person: row })} />,
    },
  ];
  return (
    <>
      <LazyTable
        label={t('people.title')}
        columns={columns}
        windows={windows}
        rowKey={({ id }) => id}
        to={({ id }) => `/people/${id}`}
        isMarked={({ id }) => selection.has(id)}
        {...shared}
      />
      <PersonDialogs doing={doing} onClose={() => setDoing(undefined)} />
    </>
  );
}

function factColumns(t: Translator, day: (iso: string) => string): Column<PersonRow>[] {
  return [
    {
      key: 'name',
      title: t('people.name'),
      width: 'minmax(178px, 1.3fr)',
      sortable: true,
      cell: (row) => (
        <span className={css['person']}>
          <Avatar name={personName(row)} quiet={!row.active} />
          <span className={row.active ? css['name'] : css['gone']}>{personName(row)}</span>
        </span>
      ),
      beside: (row) =>
        row.managed && (
          <Locked reason={t(row.byDirectory ? 'people.lockedByDirectory' : 'people.lockedReason')} />
        ),
    },
    {
      key: 'email',
      title: t('people.email'),
      width: 'minmax(140px, 1.5fr)',
      sortable: true,
      wideOnly: 'medium',
      cell: (row) => <Email row={row} />,
    },
    {
      key: 'group',
      title: t('people.group'),
      width: 'minmax(110px, 1.2fr)',
      wideOnly: true,
      cell: ({ group, groupCount }) =>
        group && (
          <span className={css['group']}>
            <span className={css['cut']}>{group.name}</span>
            {groupCount > 1 && <Badge>+{groupCount - 1}</Badge>}
          </span>
        ),
    },
    {
      key: 'role',
      title: t('people.role'),
      width: 96,
      sortable: true,
      wideOnly: 'large',
      cell: ({ role }) => <span className={css['soft']}>{t(`role.${role}`)}</span>,
    },
    {
      key: 'status',
      title: t('people.status'),
      width: 160,
      wideOnly: 'medium',
      cell: (row) => <PersonStatus person={row} />,
    },
    {
      key: 'created',
      title: t('people.added'),
      width: 96,
      sortable: true,
      wideOnly: 'large',
      cell: ({ createdAt }) => <span className={css['soft']}>{day(createdAt)}</span>,
    },
  ];
}

function Email({ row: { email, mailRejected } }: { row: PersonRow }) {
  const t = useText();
  if (email === null && mailRejected) return <Badge tone="warn">{t('people.refusedSms')}</Badge>;
  if (email === null) return <span className={css['none']}>{t('people.noEmail')}</span>;
  return (
    <span className={css['group']}>
      <span className={css['address']}>{email}</span>
      {mailRejected && <Badge tone="warn">{t('people.refused')}</Badge>}
    </span>
  );
}
