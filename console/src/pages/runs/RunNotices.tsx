// Notices about a run: why it awaits approval or was refused, and its consequences.
import type { Run, RunFault } from '@soundings/contract/console/runs.ts';
import { useData } from '../../hooks/data.ts';
import { type Translator, useFormat, useText } from '../../text/text.tsx';
import { LinkButton } from '../../ui/Button.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import css from './runs.module.css';
import { managersNamed } from './texts.tsx';

/** How many are named. For the rest, only the number is shown. */
const named = 5;

export function RunNotices({ run }: { run: Run }) {
  return (
    <>
      <Outcome run={run} />
      <Managers run={run} />
      <Lost run={run} />
      <NewIds notices={run.notices} />
      {run.outcome === 'applied' && run.changeCount > 0 && <Uninvited runId={run.runId} />}
    </>
  );
}

function Outcome({ run }: { run: Run }) {
  const t = useText();
  const { time } = useFormat();
  const limits = run.details.filter(({ type }) => type === 'limit exceeded');
  const who = run.decidedBy ?? t('runs.unknownPerson');
  if (run.outcome === 'processing') return <Notice tone="accent">{t('runs.processingText')}</Notice>;
  if (run.outcome === 'pending')
    return (
      <Notice tone="warn" title={t('runs.pendingTitle')}>
        <ToggletipHandle limits={limits} /> {t('runs.pendingText')}
      </Notice>
    );
  if (run.outcome === 'refused' && run.decidedAt !== null)
    return (
      <Notice tone="neutral" title={t('runs.rejectedTitle')}>
        {t('runs.rejectedText', { name: who, time: time(run.decidedAt) })}
      </Notice>
    );
  if (run.outcome === 'refused' && limits.length > 0)
    return (
      <Notice tone="bad" title={t('runs.nothingChanged')}>
        <ToggletipHandle limits={limits} />{' '}
        {t(run.source === 'file' ? 'runs.limitFileText' : 'runs.limitText')}
      </Notice>
    );
  if (run.outcome === 'refused') return <Refused run={run} />;
  if (run.outcome === 'failed')
    return (
      <Notice tone="bad" title={t('runs.nothingChanged')}>
        {t('runs.failedText')}
      </Notice>
    );
  if (run.outcome === 'validated')
    return (
      <Notice tone="neutral" title={t('runs.checkedTitle')}>
        {t(run.source === 'file' ? 'runs.checkedFileText' : 'runs.checkedText')}
      </Notice>
    );
  return run.changeCount === 0 ? <Notice tone="good">{t('runs.upToDate')}</Notice> : null;
}

/** Faults that mapping the columns may fix. */
const ofLayout = ['unknown layout', 'missing column', 'repeated column'];

function Refused({ run }: { run: Run }) {
  const t = useText();
  const isLayout = run.details.some(({ type }) => ofLayout.includes(type));
  return (
    <Notice
      tone="bad"
      title={t('runs.nothingChanged')}
      actions={
        isLayout &&
        run.fileId !== null && (
          <LinkButton to={`/files/${run.fileId}`} search={{ columns: 'yes' }}>
            {t('files.columns')}
          </LinkButton>
        )
      }
    >
      {t('runs.refusedText', { count: run.details.length })}
    </Notice>
  );
}

function ToggletipHandle({ limits }: { limits: RunFault[] }) {
  const t = useText();
  return limits.map(({ setting, count = 0, limit = 0 }) => (
    <span key={setting}>
      {t(`runs.over.${setting as 'maxUsersCreated'}`, { count })} {t('runs.allows', { limit })}{' '}
    </span>
  ));
}

function Lost({ run: { lost, lostCount, outcome } }: { run: Run }) {
  const t = useText();
  if (lostCount === 0) return null;
  const first = lost.slice(0, named);
  return (
    <Notice
      tone={outcome === 'pending' || outcome === 'validated' ? 'warn' : 'neutral'}
      title={t(outcome === 'refused' ? 'runs.wouldLose' : 'runs.lose', { count: lostCount })}
    >
      <ul>
        {first.map(({ externalId, name, weeks }) => (
          <li key={externalId}>
            {t('runs.loseText', { name: name ?? externalId, id: externalId, count: weeks ?? 0 })}
          </li>
        ))}
        <More t={t} count={lostCount - first.length} />
      </ul>
    </Notice>
  );
}

function Managers({ run: { managersRemoved, outcome } }: { run: Run }) {
  const t = useText();
  if (managersRemoved.count === 0) return null;
  const tone = outcome === 'pending' || outcome === 'validated' ? 'warn' : 'neutral';
  return <Notice tone={tone}>{managersNamed(t, managersRemoved)}</Notice>;
}

type NewId = RunFault & { entity?: 'group'; arrivesAs?: string };

function NewIds({ notices }: { notices: RunFault[] }) {
  const t = useText();
  const all = notices.filter(({ type }) => type === 'new externalId') as NewId[];
  return (['user', 'group'] as const).map((entity) => {
    const found = all.filter((one) => (one.entity ?? 'user') === entity);
    if (found.length === 0) return null;
    return (
      <Notice key={entity} tone="warn" title={t(`runs.newIds.${entity}`, { count: found.length })}>
        <ul>
          {found.slice(0, named).map(({ externalId = '', arrivesAs = '' }) => (
            <li key={externalId}>{t(`runs.newIdText.${entity}`, { old: externalId, new: arrivesAs })}</li>
          ))}
          <More t={t} count={found.length - named} />
        </ul>
        <p className={css['remedy']}>{t(`runs.newIdRemedy.${entity}`)}</p>
      </Notice>
    );
  });
}

/** How many managers of the run have never been invited to sign in, with the list where they can be. */
function Uninvited({ runId }: { runId: string }) {
  const t = useText();
  const query = { run: runId, signIn: 'uninvited' as const, role: 'Manager' as const, offset: 0, limit: 0 };
  const { data } = useData('GET /users', { query });
  if (!data || data.total === 0) return null;
  return (
    <Notice
      title={t('runs.uninvited', { count: data.total })}
      actions={
        <LinkButton to="/people" search={{ run: runId, role: 'Manager', status: 'uninvited' }}>
          {t('runs.uninvitedOpen')}
        </LinkButton>
      }
    />
  );
}

const More = ({ t, count }: { t: Translator; count: number }) =>
  count > 0 ? <li>{t('runs.more', { count })}</li> : null;
