// A run: its source, what it changes or would change, why it awaits approval or was refused, and the decision.
import type { Run } from '@soundings/contract/console/runs.ts';
import { useParams } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { addressOf } from '../../api.ts';
import { useData } from '../../hooks/data.ts';
import { useFormat, useLanguage, useText } from '../../text/text.tsx';
import { LinkButton } from '../../ui/Button.tsx';
import { Menu } from '../../ui/floating/Menu.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { Padded, Section } from '../../ui/page/Section.tsx';
import { Loaded, PageSkeleton } from '../../ui/page/States.tsx';
import { Decision } from './Decision.tsx';
import { FaultTable } from './FaultTable.tsx';
import { useLiveRuns } from './live.ts';
import { RunChanges } from './RunChanges.tsx';
import { RunNotices } from './RunNotices.tsx';
import { RunTotals } from './RunTotals.tsx';
import css from './runs.module.css';
import { sourceText, StateBadge, runStateOf } from './texts.tsx';

export function RunPage() {
  const t = useText();
  const { runId } = useParams({ strict: false }) as { runId: string };
  const language = useLanguage();
  const response = useData('GET /runs/{runId}', { params: { runId }, query: { language } });
  useLiveRuns(response.data?.outcome === 'processing');
  const crumbs = [{ label: t('runs.title'), to: '/runs' }];
  return (
    <Loaded response={response} skeleton={<PageSkeleton crumbs={crumbs} />}>
      {(run) => (
        <Page
          title={run.file ?? t('runs.request')}
          crumbs={crumbs}
          subtitle={<Subtitle run={run} />}
          actions={
            <>
              <Downloads run={run} />
              {run.outcome === 'pending' && <Decision run={run} />}
            </>
          }
        >
          <RunContent run={run} />
        </Page>
      )}
    </Loaded>
  );
}

function Subtitle({ run }: { run: Run }) {
  const t = useText();
  const { time } = useFormat();
  const labels = [
    sourceText(t, run),
    time(run.at),
    ...(run.validateOnly && run.outcome !== 'validated' ? [t('runs.dryRun')] : []),
    ...(run.outcome === 'applied' && run.decidedAt !== null
      ? [t('runs.approvedBy', { name: run.decidedBy ?? t('runs.unknownPerson') })]
      : []),
  ];
  return (
    <span className={css['facts']}>
      <span>
        <StateBadge state={runStateOf(run)} dot />
      </span>
      {labels.map((label) => (
        <span key={label}>{label}</span>
      ))}
    </span>
  );
}

function Downloads({ run: { runId, details, changeCount } }: { run: Run }) {
  const t = useText();
  const language = useLanguage();
  const params = { runId };
  return (
    <Menu
      label={t('action.download')}
      icon={Download}
      showsLabel
      items={[
        details.length > 0 && {
          label: t('runs.downloadFaults'),
          hint: 'CSV',
          download: addressOf('GET /runs/{runId}/faults.csv', { params, query: { language } }),
        },
        changeCount > 0 && {
          label: t('runs.downloadChanges'),
          hint: 'CSV',
          download: addressOf('GET /runs/{runId}/changes.csv', { params }),
        },
        {
          label: t('runs.downloadReport'),
          hint: 'JSON',
          download: addressOf('GET /runs/{runId}/report.json', { params }),
        },
      ]}
    />
  );
}

function RunContent({ run }: { run: Run }) {
  const t = useText();
  const faults = run.details.filter(({ type }) => type !== 'limit exceeded');
  const warnings = run.notices.filter(({ type }) => type !== 'new externalId');
  return (
    <>
      <Padded>
        <div className={css['stack']}>
          {run.summary && <RunTotals summary={run.summary} limits={run.limits} />}
          <RunNotices run={run} />
          <p className={css['id']}>
            {t('runs.id')} <code>{run.runId}</code>
            {run.settings?.forceSetLanguage === true && <span> · {t('runs.forceLanguage')}</span>}
          </p>
        </div>
      </Padded>
      {faults.length > 0 && (
        <Section
          title={t('runs.faultsTitle', { count: faults.length })}
          description={t('runs.faultsText')}
          flush
          actions={
            run.fileId !== null && <LinkButton to={`/files/${run.fileId}`}>{t('runs.toFile')}</LinkButton>
          }
        >
          <FaultTable label={t('runs.faults')} faults={faults} />
        </Section>
      )}
      {warnings.length > 0 && (
        <Section title={t('runs.warningsTitle', { count: warnings.length })} flush>
          <FaultTable label={t('runs.warnings')} faults={warnings} isWarning />
        </Section>
      )}
      {run.changeCount > 0 ? <RunChanges run={run} /> : <DeletedChanges run={run} />}
    </>
  );
}

/** Says that the changes of a dry run were deleted, because those of newer ones reach the limit. */
function DeletedChanges({ run: { outcome, summary } }: { run: Run }) {
  const t = useText();
  const changes = Object.values(summary ?? {}).reduce(
    (sum, { created, updated, deleted }) => sum + created + updated + deleted,
    0,
  );
  if (changes === 0 || (outcome !== 'validated' && outcome !== 'refused')) return null;
  return <Padded>{t('runs.changesDeleted')}</Padded>;
}
