// The dialogs for actions on a group. Each explains the consequences first.
import type { GroupDetails, RemovalPlan } from '@soundings/contract/console/groups.ts';
import { maxExternalIdLength, maxNameLength } from '@soundings/contract/limits.ts';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { useData, useRefresh } from '../../hooks/data.ts';
import { type Translator, useText } from '../../text/text.tsx';
import { Confirm, PlanDialog } from '../../ui/dialog/ConfirmDialog.tsx';
import { Consequences } from '../../ui/dialog/Consequences.tsx';
import { Dialog } from '../../ui/dialog/Dialog.tsx';
import type { DialogFooterProps } from '../../ui/dialog/DialogFooter.tsx';
import { DialogForm, FormDialog, useDialogForm } from '../../ui/dialog/FormDialog.tsx';
import { RadioField, TextField } from '../../ui/form/Field.tsx';
import type { FormState } from '../../ui/form/Form.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { Loaded, Skeleton } from '../../ui/page/States.tsx';
import { type GroupAction, type SelectedGroup, useGroupsRefresh } from './actions.ts';
import { MoveDialog } from './MoveDialog.tsx';
import type { Tree } from './tree/tree.ts';

export type OpenGroupDialog =
  | { what: 'add'; group?: SelectedGroup }
  | { what: Exclude<GroupAction, 'add' | 'move'>; group: SelectedGroup }
  /** `target`: the group that it was dropped on; null: the top level. Undefined: the user chooses it in the dialog. */
  | { what: 'move'; group: SelectedGroup; target?: number | null };

type DialogProps = { group: SelectedGroup; onClose: () => void };

/** Shows the dialog of the current action, if any. `onRemoved`: called after a removal, to leave the page. */
export function GroupDialogs(props: {
  doing: OpenGroupDialog | undefined;
  tree: Tree;
  onClose: () => void;
  onRemoved?: () => void;
}) {
  const { doing, tree, onClose, onRemoved } = props;
  switch (doing?.what) {
    case 'add':
      return <AddDialog parent={doing.group} onClose={onClose} />;
    case 'move':
      return <MoveDialog group={doing.group} target={doing.target} tree={tree} onClose={onClose} />;
    case 'edit':
      return <EditDialog group={doing.group} onClose={onClose} />;
    case 'adopt':
      return <AdoptDialog group={doing.group} onClose={onClose} />;
    case 'release':
      return <ReleaseDialog group={doing.group} onClose={onClose} />;
    case 'remove':
      return <RemoveDialog group={doing.group} onClose={onClose} onRemoved={onRemoved} />;
    default:
      return null;
  }
}

type Fields = { name: string; description: string; externalId: string };

const FieldsForm = ({
  form,
  ...foot
}: Pick<DialogFooterProps, 'confirm' | 'onClose'> & { form: FormState<Fields> }) => {
  const t = useText();
  return (
    <DialogForm form={form} {...foot}>
      <TextField
        label={t('groups.name')}
        {...form.field('name')}
        required
        autoFocus
        autoComplete="off"
        maxLength={maxNameLength}
      />
      <TextField label={t('groups.description')} {...form.field('description')} optional multiline />
      <TextField
        label={t('groups.externalId')}
        hint={t('groups.externalIdHint')}
        {...form.field('externalId')}
        optional
        mono
        autoComplete="off"
        maxLength={maxExternalIdLength}
      />
    </DialogForm>
  );
};

function AddDialog({ parent, onClose }: { parent?: SelectedGroup | undefined; onClose: () => void }) {
  const t = useText();
  const navigate = useNavigate();
  const refresh = useGroupsRefresh();
  const form = useDialogForm({
    initial: { name: '', description: '', externalId: '' },
    submit: (values) => api('POST /groups', { body: { ...values, parentId: parent?.id ?? null } }),
    done: async ({ id }, { name }) => {
      await refresh();
      void navigate({ to: `/groups/${id}` });
      return t('groups.added', { name });
    },
    onClose,
  });
  return (
    <Dialog
      onClose={onClose}
      title={t('groups.add')}
      description={parent ? t('groups.addUnder', { name: parent.name }) : t('groups.addTop')}
    >
      <FieldsForm form={form} confirm={t('groups.add')} onClose={onClose} />
    </Dialog>
  );
}

function EditDialog({ group, onClose }: DialogProps) {
  const t = useText();
  const response = useData('GET /groups/{groupId}', { params: { groupId: group.id } });
  return (
    <Dialog
      onClose={onClose}
      title={t('groups.editTitle', { name: group.name })}
      isLoading={response.data === undefined}
    >
      <Loaded response={response} skeleton={<Skeleton rows={4} />}>
        {(details) => <EditForm details={details} onClose={onClose} />}
      </Loaded>
    </Dialog>
  );
}

function EditForm({ details, onClose }: { details: GroupDetails; onClose: () => void }) {
  const t = useText();
  const refresh = useGroupsRefresh();
  const { id, name, description, externalId } = details;
  const form = useDialogForm({
    initial: { name, description: description ?? '', externalId: externalId ?? '' },
    submit: (body) => api('PATCH /groups/{groupId}', { params: { groupId: id }, body }),
    done: async () => {
      await refresh();
      return t('groups.saved');
    },
    onClose,
  });
  return <FieldsForm form={form} confirm={t('action.save')} onClose={onClose} />;
}

function RemoveDialog({ group, onClose, onRemoved }: DialogProps & { onRemoved?: (() => void) | undefined }) {
  const t = useText();
  const refresh = useRefresh();
  const params = { groupId: group.id };
  const plan = useData('GET /groups/{groupId}/removal', { params });
  return (
    <PlanDialog plan={plan} onClose={onClose} title={t('groups.removeTitle', { name: group.name })}>
      {(data) => (
        <Confirm
          onClose={onClose}
          text={<Consequences items={removalTexts(t, data)} />}
          confirm={t('groups.removeConfirm')}
          danger
          {...(data.weeks > 0 && { typed: group.name })}
          onConfirm={async () => {
            await api('DELETE /groups/{groupId}', { params, query: { weeks: data.weeks } });
            onRemoved?.();
            await refresh('GET /groups/tree');
            return t('groups.removed', { name: group.name });
          }}
        />
      )}
    </PlanDialog>
  );
}

/** Returns the consequences of removing a group. */
function removalTexts(t: Translator, { weeks, people, movesUp, to, schedules }: RemovalPlan) {
  const below = { count: movesUp.length, names: listed(movesUp) };
  const emptied = schedules.filter(({ only }) => only);
  return [
    weeks > 0 ? t('groups.removeWeeks', { count: weeks }) : t('groups.removeNoWeeks'),
    people > 0 && t('groups.removePeople', { count: people }),
    below.count > 0 &&
      (to ? t('groups.removeMovesUp', { ...below, to: to.name }) : t('groups.removeToTop', below)),
    emptied.length > 0 && t('groups.removeSchedules', { count: emptied.length, names: listed(emptied) }),
  ];
}

/** Returns the first few names. */
const listed = (all: { name: string }[]) =>
  all
    .slice(0, 5)
    .map(({ name }) => name)
    .join(', ') + (all.length > 5 ? ' …' : '');

function AdoptDialog({ group, onClose }: DialogProps) {
  const t = useText();
  const refresh = useGroupsRefresh();
  const form = useDialogForm({
    initial: { externalId: group.externalId ?? '' },
    submit: (body) => api('POST /groups/{groupId}/adopt', { params: { groupId: group.id }, body }),
    done: async () => {
      await refresh();
      return t('groups.handedOver', { name: group.name });
    },
    onClose,
  });
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={t('groups.handOverTitle', { name: group.name })}
      description={t('groups.handOverText')}
      confirm={t('groups.handOverConfirm')}
    >
      <TextField
        label={t('groups.externalId')}
        hint={t('groups.handOverHint')}
        {...form.field('externalId')}
        required
        mono
        autoComplete="off"
        maxLength={maxExternalIdLength}
      />
      <Notice tone="warn" title={t('groups.next')}>
        {t('groups.handOverNext')}
      </Notice>
    </FormDialog>
  );
}

function ReleaseDialog({ group, onClose }: DialogProps) {
  const t = useText();
  const refresh = useGroupsRefresh();
  const externalId = group.externalId ?? '';
  const form = useDialogForm({
    initial: { keep: 'keep' as 'keep' | 'drop' },
    submit: ({ keep }) =>
      api('POST /groups/{groupId}/release', {
        params: { groupId: group.id },
        body: { keepExternalId: keep === 'keep' },
      }),
    done: async () => {
      await refresh();
      return t('groups.takenOver', { name: group.name });
    },
    onClose,
  });
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={t('groups.takeOverTitle', { name: group.name })}
      description={t('groups.takeOverText')}
      confirm={t('groups.takeOverConfirm')}
    >
      <RadioField
        label={t('groups.takeOverNext')}
        {...form.field('keep')}
        options={[
          { value: 'keep', label: t('groups.keepId', { externalId }), hint: t('groups.keepIdHint') },
          { value: 'drop', label: t('groups.dropId', { externalId }), hint: t('groups.dropIdHint') },
        ]}
      />
    </FormDialog>
  );
}
