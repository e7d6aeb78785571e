// The changes of a run, field by field, removals first. They can be filtered and searched, and are fetched in windows.
import type { Run, RunChange } from '@soundings/contract/console/runs.ts';
import { ArrowRight, Minus, Pencil, Plus, SearchX } from 'lucide-react';
import { useState } from 'react';
import { useAddress } from '../../hooks/data.ts';
import { useWindows } from '../../hooks/windows.ts';
import { useText } from '../../text/text.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { useFieldText, useValueText } from '../../ui/changes.ts';
import { Empty } from '../../ui/page/Empty.tsx';
import { SearchField } from '../../ui/form/SearchField.tsx';
import { ToggleGroup } from '../../ui/form/ToggleGroup.tsx';
import type { Column } from '../../ui/table/DataTable.tsx';
import { LazyTable } from '../../ui/table/LazyTable.tsx';
import { ChangeDialog } from './ChangeDialog.tsx';
import css from './runs.module.css';

type Filter = 'action' | 'entity' | 'search';

export function RunChanges({ run }: { run: Run }) {
  const t = useText();
  const [address, change] = useAddress<Filter>();
  const { action, entity, search } = address;
  const [shown, setShown] = useState<RunChange>();
  const query = { action, entity, search } as object;
  const windows = useWindows('GET /runs/{runId}/changes', { params: { runId: run.runId }, query });
  return (
    <section aria-label={t('runs.changes')} className={css['changes']}>
      <h2 className="visually-hidden">{t('runs.changes')}</h2>
      <div className={css['changesBar']} data-above>
        <Filters run={run} address={address} onChange={change} />
      </div>
      <LazyTable
        label={t('runs.changes')}
        columns={useColumns(run)}
        windows={windows}
        rowKey={({ position }) => position}
        rowHeight={40}
        onRow={setShown}
        empty={
          <Empty
            icon={SearchX}
            title={t('runs.noMatch')}
            action={
              <Button onClick={() => change({ action: '', entity: '', search: '' })}>
                {t('action.clearFilters')}
              </Button>
            }
          />
        }
      />
      <ChangeDialog change={shown} run={run} onClose={() => setShown(undefined)} />
    </section>
  );
}

type FiltersProps = {
  run: Run;
  address: Partial<Record<Filter, string>>;
  onChange: (changes: Partial<Record<Filter, string>>) => void;
};

function Filters({ run: { summary, changeCount }, address, onChange }: FiltersProps) {
  const t = useText();
  const sum = (kind: 'created' | 'updated' | 'deleted') =>
    (summary?.users[kind] ?? 0) + (summary?.groups[kind] ?? 0);
  return (
    <>
      <ToggleGroup
        label={t('runs.action')}
        value={address.action ?? ''}
        onChange={(action) => onChange({ action })}
        options={[
          { value: '', label: t('runs.allCount', { count: changeCount }) },
          { value: 'delete', label: t('runs.removeCount', { count: sum('deleted') }) },
          { value: 'update', label: t('runs.updateCount', { count: sum('updated') }) },
          { value: 'create', label: t('runs.createCount', { count: sum('created') }) },
        ]}
      />
      <ToggleGroup
        label={t('runs.kind')}
        value={address.entity ?? ''}
        onChange={(entity) => onChange({ entity })}
        options={[
          { value: '', label: t('runs.both') },
          { value: 'user', label: t('runs.people') },
          { value: 'group', label: t('runs.groups') },
        ]}
      />
      <span className={css['gap']} />
      <SearchField
        label={t('runs.searchChanges')}
        value={address.search ?? ''}
        onChange={(search) => onChange({ search })}
      />
    </>
  );
}

const icons = { create: Plus, update: Pencil, delete: Minus };

function useColumns(run: Run): Column<RunChange>[] {
  const t = useText();
  return [
    {
      key: 'name',
      title: t('runs.name'),
      width: 'minmax(160px, 1.3fr)',
      cell: ({ action, entity, name, externalId }) => {
        const Icon = icons[action];
        return (
          <>
            <span className={css[action]}>
              <Icon aria-hidden size={14} strokeWidth={2} />
              <span className="visually-hidden">{t(`runs.did.${action}`)}</span>
            </span>
            <span className={css['changed']}>{name ?? externalId}</span>
            {entity === 'group' && <Badge>{t('runs.group')}</Badge>}
          </>
        );
      },
    },
    {
      key: 'externalId',
      title: t('files.meaning.externalId'),
      width: 'minmax(90px, 0.6fr)',
      wideOnly: true,
      cell: ({ externalId }) => <code className={css['cut']}>{externalId}</code>,
    },
    {
      key: 'what',
      title: t('runs.what'),
      width: 'minmax(140px, 3fr)',
      cell: (change) => <What change={change} run={run} />,
    },
  ];
}

function What({ change, run }: { change: RunChange; run: Run }) {
  const t = useText();
  const { action, entity, weeks, arrivesAs, fields } = change;
  if (arrivesAs)
    return <strong className={css['bad']}>{t(`runs.arrivesAs.${entity}`, { id: arrivesAs })}</strong>;
  if (action === 'delete' && weeks)
    return <strong className={css['bad']}>{t('runs.weeksLost', { count: weeks })}</strong>;
  if (action === 'update' && fields) return <Fields fields={fields} />;
  if (action === 'update') return <span className={css['soft']}>{t('runs.erased')}</span>;
  const isDone = run.outcome === 'applied';
  if (action === 'create') return <span className={css['soft']}>{t(`runs.new.${entity}`)}</span>;
  return (
    <span className={css['soft']}>
      {t(entity === 'user' ? 'runs.userGone' : isDone ? 'runs.groupGone' : 'runs.groupEmpty')}
    </span>
  );
}

/** The first changed fields on one line. The dialog shows all of them. */
function Fields({ fields }: { fields: NonNullable<RunChange['fields']> }) {
  const t = useText();
  const fieldTextOf = useFieldText();
  const valueTextOf = useValueText();
  const all = Object.entries(fields);
  return (
    <span className={css['fields']}>
      {all.slice(0, 2).map(([field, { from, to }]) => (
        <span key={field} className={css['field']}>
          <span className={css['soft']}>{fieldTextOf(field)}</span>
          <del className={css['before']}>{valueTextOf(from)}</del>
          <ArrowRight aria-hidden size={12} className={css['icon']} />
          <ins className={css['after']}>{valueTextOf(to)}</ins>
        </span>
      ))}
      {all.length > 2 && (
        <span className={css['soft']}>{t('runs.moreFields', { count: all.length - 2 })}</span>
      )}
    </span>
  );
}
