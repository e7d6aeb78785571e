// The list of people: searched, filtered and sorted by the service. Users can select people to hand over together.
import type { Chosen } from '@soundings/contract/console/people.ts';
import { Download, Plus, SearchX, Upload, Users } from 'lucide-react';
import { useState } from 'react';
import { addressOf } from '../../api.ts';
import { useData } from '../../hooks/data.ts';
import { useWindows } from '../../hooks/windows.ts';
import { useText } from '../../text/text.tsx';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { Empty } from '../../ui/page/Empty.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { usePeopleSelection } from './list/selection.ts';
import { type PeopleFilters, usePeopleFilters } from './list/filters.ts';
import { PrintDialog } from './cards/PrintDialog.tsx';
import { HandoverDialog } from './HandoverDialog.tsx';
import { InviteButton } from './invite/InviteButton.tsx';
import { InviteDialog } from './invite/InviteDialog.tsx';
import { ChoiceBar, FilterBar } from './PeopleBars.tsx';
import { PeopleTable } from './PeopleTable.tsx';

export function PeoplePage() {
  const t = useText();
  const filters = usePeopleFilters();
  const windows = useWindows('GET /users', { query: { ...filters.filters, ...filters.sorting } });
  const { data: all } = useData('GET /users', { query: { offset: 0, limit: 0 } });
  const selection = usePeopleSelection(filters.filters, windows.count ?? 0);
  // The selection when the dialog opened, because it is cleared when the handover is done.
  const [handover, setHandover] = useState<{ way: 'adopt' | 'release'; chosen: Chosen }>();
  const [inviting, setInviting] = useState<Chosen>();
  const [printing, setPrinting] = useState<Chosen>();
  return (
    <Page
      title={t('people.title')}
      subtitle={all ? t('people.inAccount', { count: all.total }) : '\u00a0'}
      actions={<Actions filters={filters} onInvite={setInviting} />}
      toolbar={
        selection.count > 0 ? (
          <ChoiceBar
            selection={selection}
            found={windows.count ?? 0}
            onHandover={(way) => setHandover({ way, chosen: selection.chosen })}
            onInvite={() => setInviting(selection.chosen)}
            onPrint={() => setPrinting(selection.chosen)}
          />
        ) : (
          <FilterBar filters={filters} found={windows.count} />
        )
      }
    >
      <PeopleTable
        windows={windows}
        selection={selection}
        sort={filters.sort}
        onSort={(sort) => filters.set({ sort: sort === 'name' ? '' : sort })}
        empty={<NoPeople filters={filters} />}
      />
      {handover && (
        <HandoverDialog {...handover} onDone={selection.none} onClose={() => setHandover(undefined)} />
      )}
      {inviting && (
        <InviteDialog chosen={inviting} onDone={selection.none} onClose={() => setInviting(undefined)} />
      )}
      {printing && <PrintDialog chosen={printing} onClose={() => setPrinting(undefined)} />}
    </Page>
  );
}

type ActionsProps = { filters: PeopleFilters; onInvite: (chosen: Chosen) => void };

function Actions({ filters, onInvite }: ActionsProps) {
  const t = useText();
  const query = { ...filters.filters, ...filters.sorting };
  return (
    <>
      <InviteButton filters={filters} onInvite={onInvite} />
      <LinkButton href={addressOf('GET /users.csv', { query })} download icon={Download}>
        {t('people.export')}
      </LinkButton>
      <LinkButton to="/files" icon={Upload}>
        {t('people.import')}
      </LinkButton>
      <LinkButton to="/people/new" kind="primary" icon={Plus}>
        {t('people.add')}
      </LinkButton>
    </>
  );
}

function NoPeople({ filters }: { filters: PeopleFilters }) {
  const t = useText();
  if (filters.isFiltered)
    return (
      <Empty
        icon={SearchX}
        title={t('people.noMatch')}
        text={t('people.noMatchText')}
        action={<Button onClick={filters.clear}>{t('action.clearFilters')}</Button>}
      />
    );
  return <Empty icon={Users} title={t('people.none')} text={t('people.noneText')} />;
}
