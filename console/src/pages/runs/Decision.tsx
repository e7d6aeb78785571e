// Deciding on a held run: applying exactly what it shows, or rejecting it.
import type { Run } from '@soundings/contract/console.runs.ts';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useRefresh } from '../../plumbing/answers.ts';
import { type Translate, useText } from '../../text/text.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { useToast } from '../../ui/Toast.tsx';
import css from './runs.module.css';

export function Decision({ run }: { run: Run }) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  const [asking, setAsking] = useState<'apply' | 'reject'>();
  const groupsRemoved = run.summary?.groups.deleted ?? 0;
  const params = { runId: run.runId };
  async function done(text: string) {
    toast({ text });
    await refresh(
      'GET /runs',
      'GET /runs/{runId}',
      'GET /runs/{runId}/changes',
      'GET /files',
      'GET /session',
    );
  }
  return (
    <>
      <Button onClick={() => setAsking('reject')}>{t('runs.reject')}</Button>
      <Button kind="primary" onClick={() => setAsking('apply')}>
        {t('runs.apply')}
      </Button>
      <ConfirmDialog
        open={asking === 'apply'}
        onClose={() => setAsking(undefined)}
        title={t('runs.applyTitle')}
        text={<Cost run={run} t={t} />}
        confirm={t('runs.applyConfirm')}
        danger={groupsRemoved > 0}
        {...(groupsRemoved > 0 && { typed: String(groupsRemoved) })}
        onConfirm={async () => {
          await api('POST /runs/{runId}/approval', { params, body: { groupsRemoved } });
          await done(t('runs.applied'));
        }}
      />
      <ConfirmDialog
        open={asking === 'reject'}
        onClose={() => setAsking(undefined)}
        title={t('runs.rejectTitle')}
        text={t('runs.rejectText')}
        confirm={t('runs.rejectConfirm')}
        onConfirm={async () => {
          await api('POST /runs/{runId}/rejection', { params, body: {} });
          await done(t('runs.rejected'));
        }}
      />
    </>
  );
}

function Cost({ run: { summary, lostCount }, t }: { run: Run; t: Translate }) {
  const kinds = ['users', 'groups'] as const;
  const verbs = ['deleted', 'updated', 'created'] as const;
  const costs = kinds.flatMap((kind) =>
    verbs
      .filter((verb) => (summary?.[kind][verb] ?? 0) > 0)
      .map((verb) => t(`runs.cost.${kind}.${verb}`, { count: summary?.[kind][verb] ?? 0 })),
  );
  return (
    <div className={css['stack']}>
      <p>{t('runs.applyText')}</p>
      <ul className={css['costs']}>
        {costs.map((cost) => (
          <li key={cost}>{cost}</li>
        ))}
      </ul>
      {lostCount > 0 && <p className={css['bad']}>{t('runs.costLost', { count: lostCount })}</p>}
    </div>
  );
}
