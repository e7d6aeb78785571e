// A list that is fetched in windows: its table, with any error above the rows that have loaded.
import type { Windows } from '../../hooks/windows.ts';
import { Failed } from '../page/States.tsx';
import { WindowTable, type WindowTableProps } from './Table.tsx';

type FromWindows = 'count' | 'rowAt' | 'onVisible' | 'isOld' | 'gap';
type WindowListProps<Row> = Omit<WindowTableProps<Row>, FromWindows> & { windows: Windows<Row, unknown> };

export function WindowList<Row>({ windows, ...table }: WindowListProps<Row>) {
  const { error, retry, count, rowAt, onVisible, isOld, gap } = windows;
  return (
    <>
      {error && <Failed error={error} onRetry={retry} />}
      {!(error && count === undefined) && (
        <WindowTable {...table} {...{ count, rowAt, onVisible, isOld, gap }} />
      )}
    </>
  );
}
