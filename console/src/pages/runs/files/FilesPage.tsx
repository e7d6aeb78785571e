// The files of the account, and uploads from the browser.
import type { FileRow } from '@soundings/contract/console/runs.ts';
import { Columns3, FileSpreadsheet, SearchX, Upload } from 'lucide-react';
import { useRef, useState } from 'react';
import { useAddress, useData } from '../../../hooks/data.ts';
import { useWindows } from '../../../hooks/windows.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Page, ToolbarGap, ToolbarText } from '../../../ui/page/Page.tsx';
import { SearchField } from '../../../ui/form/SearchField.tsx';
import type { Column } from '../../../ui/table/DataTable.tsx';
import { LazyTable } from '../../../ui/table/LazyTable.tsx';
import { NameCell, useSharedColumns } from '../columns.tsx';
import css from './files.module.css';
import { useLiveFiles } from '../live.ts';
import { MappingsDialog } from './MappingsDialog.tsx';
import { accepted, DropArea, UploadList } from './UploadArea.tsx';
import { useUploads } from './uploads.ts';
import { storedSizeText } from './upload-list.ts';
import { countText, sourceText, StateBadge } from '../texts.tsx';

export function FilesPage() {
  const t = useText();
  const [{ search }, change] = useAddress<'search'>();
  const windows = useWindows('GET /files', { query: { search } as object });
  const uploads = useUploads();
  const columns = useColumns();
  useLiveFiles((windows.response?.underWay ?? 0) > 0);
  return (
    <DropArea onFiles={uploads.send}>
      <Page
        title={t('files.title')}
        subtitle={t('files.subtitle')}
        actions={<Choose onFiles={uploads.send} />}
        toolbar={
          <>
            {windows.count !== undefined && (
              <ToolbarText>{t('files.found', { count: windows.count })}</ToolbarText>
            )}
            <ToolbarGap />
            <Layouts />
            <SearchField
              label={t('files.search')}
              value={search ?? ''}
              onChange={(text) => change({ search: text })}
            />
          </>
        }
      >
        <UploadList uploads={uploads} />
        <LazyTable
          label={t('files.title')}
          columns={columns}
          windows={windows}
          rowKey={({ fileId }) => fileId}
          rowHeight={52}
          to={({ fileId }) => `/files/${fileId}`}
          empty={<Nothing isFiltered={search !== undefined} onClear={() => change({ search: '' })} />}
        />
      </Page>
    </DropArea>
  );
}

function Choose({ onFiles }: { onFiles: (files: File[]) => void }) {
  const t = useText();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={accepted}
        aria-label={t('files.choose')}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          target.value = ''; // so that the same file can be chosen again
        }}
      />
      <Button kind="primary" icon={Upload} onClick={() => input.current?.click()}>
        {t('files.choose')}
      </Button>
    </>
  );
}

function Layouts() {
  const t = useText();
  const [open, setOpen] = useState(false);
  const { data } = useData('GET /mappings');
  const count = data ? data.columns.length + data.values.length : 0;
  if (!data || count === 0) return null;
  return (
    <>
      <Button kind="quiet" icon={Columns3} onClick={() => setOpen(true)}>
        {t('files.layouts', { count })}
      </Button>
      <MappingsDialog open={open} onClose={() => setOpen(false)} mappings={data} />
    </>
  );
}

function useColumns(): Column<FileRow>[] {
  const t = useText();
  const { number, bytes } = useFormat();
  const { at, users, groups, warnings } = useSharedColumns();
  return [
    {
      key: 'name',
      title: t('files.file'),
      width: 'minmax(110px, 2fr)',
      cell: (row) => (
        <NameCell icon={FileSpreadsheet} name={row.name}>
          {[sourceText(t, row), storedSizeText(row, bytes)].filter(Boolean).join(' · ')}
        </NameCell>
      ),
    },
    {
      key: 'state',
      title: t('files.state'),
      width: 'minmax(164px, 1.7fr)',
      cell: ({ state, place, faults, hasUnknownColumns }) => (
        <>
          <StateBadge state={state} dot />
          {place !== null && <span className={css['soft']}>{t('files.place', { place })}</span>}
          {state === 'refused' && <span className={css['bad']}>{countText(faults, number)}</span>}
          {hasUnknownColumns && (
            <span className={css['wideOnly']}>
              <Badge tone="warn">{t('files.unknown')}</Badge>
            </span>
          )}
        </>
      ),
    },
    { ...at, title: t('files.at') },
    users,
    groups,
    warnings,
  ];
}

function Nothing({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const t = useText();
  if (isFiltered)
    return (
      <Empty
        icon={SearchX}
        title={t('files.noMatch')}
        action={<Button onClick={onClear}>{t('action.clearFilters')}</Button>}
      />
    );
  return <Empty icon={FileSpreadsheet} title={t('files.none')} text={t('files.noneText')} />;
}
