// Approves or rejects a pending run. Approving applies exactly what is shown. Removing many people, or any groups, has a red button
// and requires typing the numbers.
import type { Run } from '@soundings/contract/console/runs.ts';
import { isLargeRemoval } from '@soundings/contract/limits.ts';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useRefresh } from '../../hooks/data.ts';
import { type Translator, useText } from '../../text/text.tsx';
import { Button } from '../../ui/Button.tsx';
import { Consequences } from '../../ui/dialog/Consequences.tsx';
import { ConfirmDialog } from '../../ui/dialog/ConfirmDialog.tsx';
import css from './runs.module.css';
import { managersNamed } from './texts.tsx';

/**
 * Returns the numbers of removals that the user must type: the number of people if there are many, and always the number of groups.
 */
function removalOf({ summary, people }: Run): { people: number; groups: number } {
  const removed = summary?.users.deleted ?? 0;
  return {
    people: removed > 0 && isLargeRemoval(removed, people) ? removed : 0,
    groups: summary?.groups.deleted ?? 0,
  };
}

/** Returns the title of the dialog, its button, and what must be typed. */
function textsOf(t: Translator, run: Run) {
  const { people, groups } = removalOf(run);
  if (people === 0 && groups === 0) return { title: t('runs.applyTitle'), confirm: t('runs.applyConfirm') };
  const ofAll = t('runs.ofPeople', { removed: people, count: run.people });
  const both = people > 0 && groups > 0;
  const groupText = t('runs.removed.groups', { count: groups });
  const parts = (peopleText: string) =>
    both
      ? t('runs.removed.both', { people: peopleText, groups: groupText })
      : people > 0
        ? peopleText
        : groupText;
  return {
    title: t('runs.removeTitle', { what: parts(ofAll) }),
    confirm: t('runs.remove', { what: parts(t('runs.removed.people', { count: people })) }),
    typed: [
      ...(people > 0
        ? [{ text: String(people), label: both ? t('runs.typePeople', { people }) : undefined }]
        : []),
      ...(groups > 0
        ? [{ text: String(groups), label: both ? t('runs.typeGroups', { groups }) : undefined }]
        : []),
    ],
  };
}

export function Decision({ run }: { run: Run }) {
  const t = useText();
  const refresh = useRefresh();
  const [confirming, setConfirming] = useState<'apply' | 'reject'>();
  const params = { runId: run.runId };
  const texts = textsOf(t, run);
  const isDangerous = texts.typed !== undefined;
  const refreshRuns = () =>
    refresh('GET /runs', 'GET /runs/{runId}', 'GET /runs/{runId}/changes', 'GET /files', 'GET /session');
  return (
    <>
      <Button onClick={() => setConfirming('reject')}>{t('runs.reject')}</Button>
      <Button kind={isDangerous ? 'danger' : 'primary'} onClick={() => setConfirming('apply')}>
        {t('runs.apply')}
      </Button>
      <ConfirmDialog
        open={confirming === 'apply'}
        onClose={() => setConfirming(undefined)}
        text={<Cost run={run} t={t} />}
        danger={isDangerous}
        {...texts}
        onConfirm={async () => {
          const body = {
            peopleRemoved: run.summary?.users.deleted ?? 0,
            groupsRemoved: run.summary?.groups.deleted ?? 0,
          };
          await api('POST /runs/{runId}/approval', { params, body });
          await refreshRuns();
          return t('runs.applied');
        }}
      />
      <ConfirmDialog
        open={confirming === 'reject'}
        onClose={() => setConfirming(undefined)}
        title={t('runs.rejectTitle')}
        text={t('runs.rejectText')}
        confirm={t('runs.rejectConfirm')}
        onConfirm={async () => {
          await api('POST /runs/{runId}/rejection', { params, body: {} });
          await refreshRuns();
          return t('runs.rejected');
        }}
      />
    </>
  );
}

function Cost({ run, t }: { run: Run; t: Translator }) {
  const { summary, lostCount, managersRemoved } = run;
  const kinds = ['users', 'groups'] as const;
  const verbs = ['deleted', 'updated', 'created'] as const;
  const costs = kinds.flatMap((kind) =>
    verbs
      .filter((verb) => (summary?.[kind][verb] ?? 0) > 0)
      .map((verb) => t(`runs.cost.${kind}.${verb}`, { count: summary?.[kind][verb] ?? 0 })),
  );
  return (
    <>
      <p>{t('runs.applyText')}</p>
      <Consequences items={costs} />
      {managersRemoved.count > 0 && <p className={css['bad']}>{managersNamed(t, managersRemoved)}</p>}
      {lostCount > 0 && <p className={css['bad']}>{t('runs.costLost', { count: lostCount })}</p>}
    </>
  );
}
