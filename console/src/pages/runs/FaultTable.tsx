// Errors or warnings, each with its location and what to do. The location is the sheet, row, column and value in a file, or the
// JSON pointer in a push.
import type { RunFault } from '@soundings/contract/console/runs.ts';
import { useState } from 'react';
import { useText } from '../../text/text.tsx';
import { Dialog } from '../../ui/dialog/Dialog.tsx';
import { DescriptionList } from '../../ui/page/DescriptionList.tsx';
import { Padded } from '../../ui/page/Section.tsx';
import { type Column, longTable, DataTable } from '../../ui/table/DataTable.tsx';
import css from './runs.module.css';

type Placed = RunFault & { key: number };

export function FaultTable(props: { label: string; faults: RunFault[]; isWarning?: boolean }) {
  const { label, faults, isWarning = false } = props;
  const [shown, setShown] = useState<RunFault>();
  const rows = faults.map((fault, key) => ({ ...fault, key }));
  return (
    <>
      <Causes faults={faults} />
      <DataTable
        label={label}
        rows={rows}
        rowKey={({ key }) => key}
        rowHeight={40}
        columns={useColumns(faults, isWarning)}
        // Short lists show every fault in full.
        {...(rows.length >= longTable && { onRow: setShown })}
      />
      {shown && <FaultDialog fault={shown} isWarning={isWarning} onClose={() => setShown(undefined)} />}
    </>
  );
}

/** How many causes are listed. */
const mostCauses = 5;

/** Returns the causes that several rows share, most rows first. Each needs only one correction. */
function Causes({ faults }: { faults: RunFault[] }) {
  const t = useText();
  const causes = new Map<string, RunFault[]>();
  for (const fault of faults) {
    const { sheet, row, column, value, remedy } = fault;
    const key = JSON.stringify([sheet, column, value, remedy]);
    const cause = causes.get(key);
    if (cause) cause.push(fault);
    else if (row !== undefined) causes.set(key, [fault]);
  }
  const shared = [...causes]
    .filter(([, { length }]) => length > 1)
    .toSorted(([, a], [, b]) => b.length - a.length);
  if (shared.length === 0) return null;
  return (
    <Padded>
      <ul className={css['causes']}>
        {shared.slice(0, mostCauses).map(([key, [{ sheet, column, value } = {}, ...others]]) => (
          <li key={key}>
            {[sheet, column].filter((part) => part !== undefined).join(', ')}
            {value !== undefined && <code className={css['value']}>{value}</code>}
            <strong>{t('runs.causeRows', { count: others.length + 1 })}</strong>
          </li>
        ))}
      </ul>
    </Padded>
  );
}

/** The details of one of many faults. */
function FaultDialog(props: { fault: RunFault; isWarning: boolean; onClose: () => void }) {
  const t = useText();
  const { sheet, row, column, value, path, externalId, remedy } = props.fault;
  const code = (text: string | number | undefined) =>
    text === undefined ? undefined : <code className={css['break']}>{text}</code>;
  return (
    <Dialog
      open
      wide
      onClose={props.onClose}
      title={t(props.isWarning ? 'runs.oneWarning' : 'runs.oneFault')}
    >
      <DescriptionList
        items={[
          [t('runs.sheet'), sheet],
          [t('runs.row'), code(row)],
          [t('runs.column'), column],
          [t('runs.value'), code(value)],
          [t('runs.place'), code(path)],
          [t('files.meaning.externalId'), code(externalId)],
          [t(props.isWarning ? 'runs.what' : 'runs.remedy'), remedy],
        ]}
      />
    </Dialog>
  );
}

function useColumns(faults: RunFault[], isWarning: boolean): Column<Placed>[] {
  const t = useText();
  const some = (key: keyof RunFault) => faults.some((fault) => fault[key] !== undefined);
  const columns: (Column<Placed> | false)[] = [
    some('sheet') && {
      key: 'sheet',
      title: t('runs.sheet'),
      width: 'minmax(80px, 0.6fr)',
      wideOnly: true,
      cell: ({ sheet }) => sheet,
    },
    some('row') && {
      key: 'row',
      title: t('runs.row'),
      width: 64,
      cell: ({ row }) => row !== undefined && <code>{row}</code>,
    },
    some('column') && {
      key: 'column',
      title: t('runs.column'),
      width: 'minmax(90px, 0.8fr)',
      cell: ({ column }) => <span className={css['break']}>{column}</span>,
    },
    some('value') && {
      key: 'value',
      title: t('runs.value'),
      width: 'minmax(100px, 1fr)',
      wideOnly: true,
      cell: ({ value }) =>
        value !== undefined && <code className={isWarning ? css['value'] : css['badValue']}>{value}</code>,
    },
    some('path') && {
      key: 'path',
      title: t('runs.place'),
      width: 'minmax(130px, 1fr)',
      cell: ({ path }) => path !== undefined && <code className={css['break']}>{path || '/'}</code>,
    },
    some('externalId') &&
      !some('row') && {
        key: 'externalId',
        title: t('files.meaning.externalId'),
        width: 'minmax(90px, 0.6fr)',
        wideOnly: true,
        cell: ({ externalId }) =>
          externalId !== undefined && <code className={css['break']}>{externalId}</code>,
      },
    {
      key: 'remedy',
      title: t(isWarning ? 'runs.what' : 'runs.remedy'),
      width: 'minmax(160px, 2.4fr)',
      leads: true,
      cell: ({ remedy }) => <span className={css['break']}>{remedy}</span>,
    },
  ];
  return columns.filter((column) => column !== false);
}
