// All runs, from pushes and files, newest first.
import type { RunRow } from '@soundings/contract/console/runs.ts';
import { runOutcomes } from '@soundings/contract/console/run-outcomes.ts';
import { FileSpreadsheet, History, Plug, SearchX } from 'lucide-react';
import { useAddress } from '../../hooks/data.ts';
import { useWindows } from '../../hooks/windows.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { Empty } from '../../ui/page/Empty.tsx';
import { Page, ToolbarGap, ToolbarText } from '../../ui/page/Page.tsx';
import { SearchField } from '../../ui/form/SearchField.tsx';
import { Select } from '../../ui/form/Select.tsx';
import type { Column } from '../../ui/table/DataTable.tsx';
import { LazyTable } from '../../ui/table/LazyTable.tsx';
import { NameCell, useSharedColumns } from './columns.tsx';
import { useLiveRuns } from './live.ts';
import css from './runs.module.css';
import { countText, sourceText, StateBadge, runStateOf } from './texts.tsx';

type Filter = 'outcome' | 'source' | 'dryRun' | 'search';

export function RunsPage() {
  const t = useText();
  const [address, change] = useAddress<Filter>();
  const { outcome, source, dryRun, search } = address;
  const query = { outcome, source, dryRun, search } as object;
  const windows = useWindows('GET /runs', { query });
  const columns = useColumns();
  useLiveRuns(windows.response?.rows.some((row) => row.outcome === 'processing') ?? false);
  const isFiltered = [outcome, source, dryRun, search].some((value) => value !== undefined);
  return (
    <Page
      title={t('runs.title')}
      subtitle={t('runs.subtitle')}
      toolbar={<Filters address={address} onChange={change} found={windows.count} />}
    >
      <LazyTable
        label={t('runs.title')}
        columns={columns}
        windows={windows}
        rowKey={({ runId }) => runId}
        rowHeight={52}
        to={({ runId }) => `/runs/${runId}`}
        empty={<Nothing isFiltered={isFiltered} onClear={() => change(nothing)} />}
      />
    </Page>
  );
}

const nothing = { outcome: '', source: '', dryRun: '', search: '' };

type FiltersProps = {
  address: Partial<Record<Filter, string>>;
  onChange: (changes: Partial<Record<Filter, string>>) => void;
  found: number | undefined;
};

function Filters({ address, onChange, found }: FiltersProps) {
  const t = useText();
  const any = { value: '', label: t('runs.any') };
  return (
    <>
      <Select
        label={t('runs.outcome')}
        value={address.outcome ?? ''}
        onChange={(outcome) => onChange({ outcome })}
        options={[any, ...runOutcomes.map((value) => ({ value, label: t(`runs.state.${value}`) }))]}
      />
      <Select
        label={t('runs.source')}
        value={address.source ?? ''}
        onChange={(source) => onChange({ source })}
        options={[
          any,
          { value: 'api', label: t('runs.via.api') },
          { value: 'file', label: t('runs.sourceFile') },
          { value: 'scim', label: t('runs.via.scim') },
        ]}
      />
      <Select
        label={t('runs.kind')}
        value={address.dryRun ?? ''}
        onChange={(dryRun) => onChange({ dryRun })}
        options={[
          any,
          { value: 'false', label: t('runs.toApply') },
          { value: 'true', label: t('runs.onlyCheck') },
        ]}
      />
      {found !== undefined && <ToolbarText>{t('runs.found', { count: found })}</ToolbarText>}
      <ToolbarGap />
      <SearchField
        label={t('runs.search')}
        value={address.search ?? ''}
        onChange={(search) => onChange({ search })}
      />
    </>
  );
}

function useColumns(): Column<RunRow>[] {
  const t = useText();
  const { number } = useFormat();
  const { at, users, groups, warnings } = useSharedColumns();
  return [
    {
      key: 'source',
      title: t('runs.source'),
      width: 'minmax(110px, 2fr)',
      cell: (row) => <Source run={row} />,
    },
    {
      key: 'outcome',
      title: t('runs.outcome'),
      width: 'minmax(164px, 1fr)',
      cell: (row) => <Came run={row} />,
    },
    at,
    users,
    groups,
    {
      key: 'faults',
      title: t('runs.faults'),
      width: 72,
      align: 'end',
      wideOnly: 'large',
      cell: ({ faults, outcome }) =>
        faults > 0 &&
        outcome === 'refused' && <span className={css['bad']}>{countText(faults, number)}</span>,
    },
    warnings,
  ];
}

function Source({ run }: { run: RunRow }) {
  const t = useText();
  const { time } = useFormat();
  return (
    <NameCell
      icon={run.source === 'file' ? FileSpreadsheet : Plug}
      name={run.file ?? t(run.source === 'scim' ? 'runs.directoryRequest' : 'runs.request')}
    >
      {sourceText(t, run)}
      <span className={css['phoneOnly']}> · {time(run.at)}</span>
    </NameCell>
  );
}

function Came({ run }: { run: RunRow }) {
  const t = useText();
  const state = runStateOf(run);
  return (
    <>
      <StateBadge state={state} dot />
      {run.validateOnly && state !== 'validated' && <Badge>{t('runs.dryRun')}</Badge>}
    </>
  );
}

function Nothing({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const t = useText();
  if (isFiltered)
    return (
      <Empty
        icon={SearchX}
        title={t('runs.noMatch')}
        action={<Button onClick={onClear}>{t('action.clearFilters')}</Button>}
      />
    );
  return (
    <Empty
      icon={History}
      title={t('runs.none')}
      text={t('runs.noneText')}
      action={<LinkButton to="/files">{t('runs.toFiles')}</LinkButton>}
    />
  );
}
