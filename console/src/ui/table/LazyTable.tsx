// A table that fetches its rows in windows while it is scrolled, with any error above the rows that have loaded.
import type { Windows } from '../../hooks/windows.ts';
import { Failed } from '../page/States.tsx';
import { VirtualTable, type VirtualTableProps } from './DataTable.tsx';

type FromWindows = 'count' | 'rowAt' | 'onVisible' | 'isOld' | 'gap';
type LazyTableProps<Row> = Omit<VirtualTableProps<Row>, FromWindows> & { windows: Windows<Row, unknown> };

export function LazyTable<Row>({ windows, ...table }: LazyTableProps<Row>) {
  const { error, retry, count, rowAt, onVisible, isOld, gap } = windows;
  return (
    <>
      {error && <Failed error={error} onRetry={retry} />}
      {!(error && count === undefined) && (
        <VirtualTable {...table} {...{ count, rowAt, onVisible, isOld, gap }} />
      )}
    </>
  );
}
