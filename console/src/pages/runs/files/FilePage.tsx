// A file: its outcome, its errors with their locations, and its columns.
import type { FileDetails } from '@soundings/contract/console/runs.ts';
import { useParams } from '@tanstack/react-router';
import { Columns3, Download } from 'lucide-react';
import { addressOf } from '../../../api.ts';
import { useAddress, useData } from '../../../hooks/data.ts';
import { type Translator, useFormat, useLanguage, useText } from '../../../text/text.tsx';
import { Button, LinkButton } from '../../../ui/Button.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Padded, Section } from '../../../ui/page/Section.tsx';
import { Loaded, PageSkeleton } from '../../../ui/page/States.tsx';
import { ColumnsDialog } from './ColumnsDialog.tsx';
import { storedSizeText } from './upload-list.ts';
import { FaultTable } from '../FaultTable.tsx';
import { useLiveFiles } from '../live.ts';
import { Deltas, sourceText, StateBadge } from '../texts.tsx';
import css from '../runs.module.css';

const isDone = ({ state }: FileDetails) => state !== 'waiting' && state !== 'processing';

export function FilePage() {
  const t = useText();
  const { fileId } = useParams({ strict: false }) as { fileId: string };
  const language = useLanguage();
  const response = useData('GET /files/{fileId}', { params: { fileId }, query: { language } });
  const [{ columns }, change] = useAddress<'columns'>();
  useLiveFiles(response.data !== undefined && !isDone(response.data));
  const crumbs = [{ label: t('files.title'), to: '/files' }];
  return (
    <Loaded response={response} skeleton={<PageSkeleton crumbs={crumbs} />}>
      {(file) => (
        <Page
          title={file.name}
          crumbs={crumbs}
          subtitle={<Subtitle file={file} />}
          actions={<Actions file={file} onColumns={() => change({ columns: 'yes' })} />}
        >
          <FileContent file={file} onColumns={() => change({ columns: 'yes' })} />
          {columns !== undefined && isDone(file) && file.isKept && (
            <ColumnsDialog file={file} onClose={() => change({ columns: '' })} />
          )}
        </Page>
      )}
    </Loaded>
  );
}

function Subtitle({ file }: { file: FileDetails }) {
  const t = useText();
  const { time, bytes } = useFormat();
  const size = storedSizeText(file, bytes);
  return (
    <span className={css['facts']}>
      <span>
        <StateBadge state={file.state} dot />
      </span>
      <span>{sourceText(t, file)}</span>
      <span>{time(file.at)}</span>
      {size && <span>{size}</span>}
    </span>
  );
}

function Actions({ file, onColumns }: { file: FileDetails; onColumns: () => void }) {
  const t = useText();
  const language = useLanguage();
  const params = { runId: file.runId ?? '' };
  return (
    <>
      {file.details.some(({ row }) => row !== undefined) && file.runId !== null && (
        <LinkButton
          icon={Download}
          href={addressOf('GET /runs/{runId}/faults.csv', { params, query: { language } })}
          download
        >
          {t('runs.downloadFaults')}
        </LinkButton>
      )}
      {isDone(file) && file.isKept && (
        <Button icon={Columns3} onClick={onColumns}>
          {t('files.columns')}
        </Button>
      )}
      {file.runId !== null && isDone(file) && (
        <LinkButton kind={file.state === 'pending' ? 'primary' : 'secondary'} to={`/runs/${file.runId}`}>
          {t(file.state === 'pending' ? 'files.decide' : 'files.toRun')}
        </LinkButton>
      )}
    </>
  );
}

function FileContent({ file, onColumns }: { file: FileDetails; onColumns: () => void }) {
  const t = useText();
  const { details, notices, summary } = file;
  const faults = details.filter(({ type }) => type !== 'limit exceeded');
  return (
    <>
      <Padded>
        <div className={css['stack']}>
          <Outcome file={file} />
          {file.hasUnknownColumns && (
            <Notice
              tone="warn"
              title={t('files.unknownTitle')}
              actions={<Button onClick={onColumns}>{t('files.columns')}</Button>}
            >
              {t('files.unknownText')}
            </Notice>
          )}
          {summary && (
            <div className={css['short']}>
              {(file.state === 'validated' || file.state === 'pending') && (
                <span className={css['wouldChange']}>{t('files.wouldChange')}:</span>
              )}
              <span>{t('runs.people')}</span>
              <Deltas counts={summary.users} />
              <span>{t('runs.groups')}</span>
              <Deltas counts={summary.groups} />
            </div>
          )}
        </div>
      </Padded>
      {faults.length > 0 && (
        <Section
          title={t('runs.faultsTitle', { count: faults.length })}
          description={t('runs.faultsText')}
          flush
        >
          <FaultTable label={t('runs.faults')} faults={faults} />
        </Section>
      )}
      {notices.length > 0 && (
        <Section title={t('runs.warningsTitle', { count: notices.length })} flush>
          <FaultTable label={t('runs.warnings')} faults={notices} isWarning />
        </Section>
      )}
    </>
  );
}

const tones = {
  waiting: 'accent',
  processing: 'accent',
  validated: 'neutral',
  applied: 'good',
  refused: 'bad',
  pending: 'warn',
  failed: 'bad',
} as const;

function Outcome({ file }: { file: FileDetails }) {
  const t = useText();
  return (
    <Notice tone={tones[file.state]} title={t(`files.title.${file.state}`)} live={!isDone(file)}>
      {textOf(t, file)}
    </Notice>
  );
}

function textOf(t: Translator, { isKept, place, state }: FileDetails): string {
  if (!isKept) return t('files.text.notKept');
  if (place !== null) return t('files.text.inQueue', { place });
  return t(`files.text.${state}`);
}
