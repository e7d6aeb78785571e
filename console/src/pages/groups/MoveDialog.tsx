// The dialog to move a group. It shows the target and the consequences before the move, which can be undone.
import type { MovePlan } from '@soundings/contract/console/groups.ts';
import { ArrowRight } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useData } from '../../hooks/data.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { ConfirmDialog } from '../../ui/dialog/ConfirmDialog.tsx';
import { Consequences } from '../../ui/dialog/Consequences.tsx';
import { useErrorText } from '../../ui/faults.ts';
import { GroupCombobox } from '../../ui/form/group-combobox/GroupCombobox.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { Failed, Skeleton } from '../../ui/page/States.tsx';
import { useToast } from '../../ui/floating/Toast.tsx';
import { type SelectedGroup, useGroupsRefresh } from './actions.ts';
import { mayBeParent, type Tree } from './tree/tree.ts';
import css from './MoveDialog.module.css';

/** Returns a function that moves a group, with Undo. Undo fails if someone else has moved the group since. */
function useMove(): (group: SelectedGroup, to: { id: number | null; name: string }) => Promise<void> {
  const t = useText();
  const toast = useToast();
  const refresh = useGroupsRefresh();
  const errorText = useErrorText();
  const move = async (groupId: number, parentId: number | null, from: number | null) => {
    await api('POST /groups/{groupId}/move', { params: { groupId }, body: { parentId, from } });
    await refresh();
  };
  return async ({ id, name, parentId }, to) => {
    await move(id, to.id, parentId);
    toast({
      text: t('groups.moved', { name, to: to.name }),
      undo: () =>
        void move(id, parentId, to.id).then(
          () => toast({ text: t('groups.movedBack', { name }) }),
          (error: unknown) => toast({ text: errorText(error), tone: 'bad' }),
        ),
    });
  };
}

type MoveDialogProps = {
  group: SelectedGroup;
  /** The group it was dropped on; null: the top level. Undefined: the user chooses it in the dialog. */
  target?: number | null | undefined;
  tree: Tree;
  onClose: () => void;
};

export function MoveDialog({ group, target: dropped, tree, onClose }: MoveDialogProps) {
  const t = useText();
  const move = useMove();
  const [target, setTarget] = useState(dropped === undefined ? group.parentId : dropped);
  const isChosen = target !== group.parentId;
  const plan = useData(
    'GET /groups/{groupId}/move',
    { params: { groupId: group.id }, query: { parentId: target ?? undefined } },
    { when: isChosen },
  );
  const isReady = isChosen && plan.data !== undefined && !plan.isFetching;
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('groups.moveTitle', { name: group.name })}
      text={
        <div className={css['plan']}>
          {dropped === undefined && (
            <GroupCombobox
              label={t('groups.newParent')}
              value={target ?? undefined}
              onChange={(id) => setTarget(id ?? null)}
              allowNone={group.parentId === null ? false : t('groups.top')}
              exclude={(option) => !mayBeParent(tree, group, option)}
            />
          )}
          {isChosen && plan.data && <Plan plan={plan.data} />}
          {isChosen && plan.isPending && <Skeleton rows={3} />}
          {plan.error && <Failed error={plan.error} />}
        </div>
      }
      confirm={t('groups.move')}
      disabled={!isReady}
      onConfirm={() => move(group, { id: target, name: plan.data?.to?.name ?? t('groups.top') })}
    />
  );
}

const namesOf = (all: { name: string }[]) => all.map(({ name }) => name).join(', ');

/** The consequences of a move: who moves, which results change, and whether the next push would move the group back. */
function Plan({ plan }: { plan: MovePlan }) {
  const t = useText();
  const { gains, loses, administrators, schedules } = plan;
  const lines = [
    plan.groups > 0
      ? t('groups.planWith', { count: plan.groups, people: t('groups.people', { count: plan.people }) })
      : plan.people > 0
        ? t('groups.planAlone', { count: plan.people })
        : t('groups.planEmpty'),
    t('groups.planKept'),
    gains.length > 0 && t('groups.planGains', { names: namesOf(gains) }),
    loses.length > 0 && t('groups.planLoses', { names: namesOf(loses) }),
    schedules.includes.length > 0 &&
      t('groups.planIncludes', { count: schedules.includes.length, names: namesOf(schedules.includes) }),
    schedules.excludes.length > 0 &&
      t('groups.planExcludes', { count: schedules.excludes.length, names: namesOf(schedules.excludes) }),
    administrators.gains > 0 && t('groups.planSeen', { count: administrators.gains }),
    administrators.loses > 0 && t('groups.planUnseen', { count: administrators.loses }),
  ];
  return (
    <>
      <div className={css['way']}>
        <span>
          <small>{t('groups.from')}</small>
          <strong>{plan.from?.name ?? t('groups.top')}</strong>
        </span>
        <ArrowRight aria-hidden size={18} />
        <span>
          <small>{t('groups.to')}</small>
          <strong>{plan.to?.name ?? t('groups.top')}</strong>
        </span>
      </div>
      <Consequences items={lines} />
      <PutBack plan={plan} />
    </>
  );
}

function PutBack({ plan: { putBack } }: { plan: MovePlan }) {
  const t = useText();
  const { day } = useFormat();
  if (!putBack) return null;
  const values = { day: day(putBack.at) };
  return putBack.setsTree ? (
    <Notice tone="warn" title={t('groups.putBack')}>
      {t(putBack.source === 'file' ? 'groups.putBackFile' : 'groups.putBackPush', values)}
    </Notice>
  ) : (
    <Notice tone="warn">{t('groups.putBackPerhaps')}</Notice>
  );
}
