// Pulls: the lists that Soundings fetches itself, and whether that works.
import type { PullSummary } from '@soundings/contract/pulls/pulls.ts';
import { CloudDownload, Plus } from 'lucide-react';
import { useState } from 'react';
import { useData } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { type Column, DataTable } from '../../../ui/table/DataTable.tsx';
import { NewPull } from './PullForm.tsx';
import css from '../runs.module.css';
import { FetchState, fetchText, hostIn, PullState, useTimes } from './texts.tsx';

export function PullsPage() {
  const t = useText();
  const response = useData('GET /pulls', undefined, { everyMs: 10_000 });
  const [isCreating, setCreating] = useState(false);
  return (
    <Page
      title={t('pulls.title')}
      waits={!response.data}
      subtitle={t('pulls.subtitle')}
      actions={
        <Button kind="primary" icon={Plus} onClick={() => setCreating(true)}>
          {t('pulls.create')}
        </Button>
      }
    >
      <Loaded response={response}>{({ pulls }) => <Pulls rows={pulls} />}</Loaded>
      {isCreating && <NewPull onClose={() => setCreating(false)} />}
    </Page>
  );
}

function Pulls({ rows }: { rows: PullSummary[] }) {
  const t = useText();
  const { time, bytes } = useFormat();
  const timesOf = useTimes();
  const columns: Column<PullSummary>[] = [
    {
      key: 'pull',
      title: t('pulls.pull'),
      width: 'minmax(150px, 1.6fr)',
      cell: ({ name, url }) => (
        <span className={css['two']}>
          <span className={css['name']}>{name}</span>
          <small className={css['soft']}>{hostIn(url)}</small>
        </span>
      ),
    },
    {
      key: 'state',
      title: t('pulls.state'),
      width: 'minmax(110px, 0.8fr)',
      cell: (pull) => <PullState {...pull} />,
    },
    {
      key: 'last',
      title: t('pulls.last'),
      width: 'minmax(150px, 2fr)',
      wideOnly: true,
      cell: ({ last }) =>
        last === null ? (
          <span className={css['soft']}>{t('pulls.never')}</span>
        ) : (
          <span className={css['two']}>
            <FetchState fetch={last} />
            <small className={css['soft']}>{fetchText(t, last, bytes)}</small>
          </span>
        ),
    },
    {
      key: 'next',
      title: t('pulls.next'),
      width: 'minmax(150px, 1.2fr)',
      wideOnly: true,
      cell: (pull) => (
        <span className={css['two']}>
          <span>{pull.nextAt === null ? '–' : time(pull.nextAt)}</span>
          <small className={css['soft']}>{timesOf(pull)}</small>
        </span>
      ),
    },
  ];
  return (
    <DataTable
      label={t('pulls.title')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      rowHeight={60}
      to={({ id }) => `/pulls/${id}`}
      empty={<Empty icon={CloudDownload} title={t('pulls.emptyTitle')} text={t('pulls.emptyText')} />}
    />
  );
}
