// The toolbar of the people list: its filters, or the actions on the selected people.
import { roles } from '@soundings/contract/people/roles.ts';
import { signInStates } from '@soundings/contract/people/sign-in-states.ts';
import { ArrowDownToLine, ArrowUpFromLine, FilterX, IdCard, Send, X } from 'lucide-react';
import { useText } from '../../text/text.tsx';
import { Button, IconButton } from '../../ui/Button.tsx';
import { GroupCombobox } from '../../ui/form/group-combobox/GroupCombobox.tsx';
import { ToolbarGap, ToolbarText } from '../../ui/page/Page.tsx';
import { SearchField } from '../../ui/form/SearchField.tsx';
import { Select } from '../../ui/form/Select.tsx';
import type { PeopleSelection } from './list/selection.ts';
import type { PeopleFilters } from './list/filters.ts';

type BarProps = { filters: PeopleFilters; found: number | undefined };

export function FilterBar({ filters, found }: BarProps) {
  const t = useText();
  const { managed, active, mail = '', role = '', signIn = '', group } = filters.filters;
  const any = { value: '', label: t('people.any') };
  const either = (value: 'true' | 'false' | undefined, yes: string, no: string) =>
    value === undefined ? '' : value === 'true' ? yes : no;
  return (
    <>
      <SearchField label={t('people.search')} value={filters.search} onChange={(q) => filters.set({ q })} />
      <GroupCombobox
        filter
        label={t('people.group')}
        allowNone={t('people.any')}
        value={group === undefined ? undefined : Number(group)}
        onChange={(id) => filters.set({ group: id === undefined ? '' : String(id) })}
      />
      <Select
        label={t('people.role')}
        value={role}
        onChange={(value) => filters.set({ role: value })}
        options={[any, ...roles.map((each) => ({ value: each, label: t(`role.${each}`) }))]}
      />
      <Select
        label={t('people.source')}
        value={either(managed, 'managed', 'manual')}
        onChange={(source) => filters.set({ source })}
        options={[
          any,
          { value: 'managed', label: t('people.managed') },
          { value: 'manual', label: t('people.manual') },
        ]}
      />
      <Select
        label={t('people.status')}
        value={signIn || either(active, 'active', 'inactive')}
        onChange={(status) => filters.set({ status })}
        options={[
          any,
          { value: 'active', label: t('people.active') },
          { value: 'inactive', label: t('people.inactive') },
          ...signInStates.map((value) => ({ value, label: t(`people.signInState.${value}`) })),
        ]}
      />
      <Select
        label={t('people.email')}
        value={mail}
        onChange={(value) => filters.set({ mail: value })}
        options={[
          any,
          { value: 'none', label: t('people.withoutEmail') },
          { value: 'rejected', label: t('people.refusedEmail') },
          { value: 'stopped', label: t('people.stoppedEmail') },
        ]}
      />
      {filters.filters.run !== undefined && <ToolbarText>{t('people.ofRun')}</ToolbarText>}
      {filters.isFiltered && (
        <IconButton icon={FilterX} label={t('action.clearFilters')} onClick={filters.clear} />
      )}
      <ToolbarGap />
      <ToolbarText>{found === undefined ? '' : t('people.found', { count: found })}</ToolbarText>
    </>
  );
}

export function ChoiceBar(props: {
  selection: PeopleSelection;
  found: number;
  onHandover: (way: 'adopt' | 'release') => void;
  onInvite: () => void;
  onPrint: () => void;
}) {
  const { selection, found, onHandover, onInvite, onPrint } = props;
  const t = useText();
  return (
    <>
      <ToolbarText>{t('people.chosen', { count: selection.count })}</ToolbarText>
      {!selection.isAll && found > selection.count && (
        <Button kind="quiet" onClick={selection.all}>
          {t('people.chooseAll', { count: found })}
        </Button>
      )}
      <ToolbarGap />
      <Button icon={Send} onClick={onInvite}>
        {t('invite.invitePeople')}
      </Button>
      <Button icon={IdCard} onClick={onPrint}>
        {t('cards.print')}
      </Button>
      <Button icon={ArrowUpFromLine} onClick={() => onHandover('adopt')}>
        {t('people.handOver')}
      </Button>
      <Button icon={ArrowDownToLine} onClick={() => onHandover('release')}>
        {t('people.takeOver')}
      </Button>
      <Button kind="quiet" icon={X} onClick={selection.none}>
        {t('people.chooseNone')}
      </Button>
    </>
  );
}
