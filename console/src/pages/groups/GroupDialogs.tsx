// The dialogs for actions on a group. Each explains the consequences first.
import type { GroupDetails } from '@soundings/contract/console.groups.ts';
import { maxExternalIdLength, maxNameLength } from '@soundings/contract/limits.ts';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { useData, useRefresh } from '../../hooks/data.ts';
import { useText } from '../../text/text.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog/Dialog.tsx';
import { RadioField, TextField } from '../../ui/form/Field.tsx';
import { Form, useForm } from '../../ui/form/Form.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { Loaded, Failed, Skeleton } from '../../ui/page/States.tsx';
import { useToast } from '../../ui/floating/Toast.tsx';
import { type GroupAction, type SelectedGroup, useGroupsRefresh } from './actions.ts';
import css from './GroupDialogs.module.css';
import { MoveDialog } from './MoveDialog.tsx';
import type { Tree } from './tree.ts';

export type Doing =
  | { what: 'add'; group?: SelectedGroup }
  | { what: Exclude<GroupAction, 'add' | 'move'>; group: SelectedGroup }
  /** `target`: the group it was dropped on; null: the top level. */
  | { what: 'move'; group: SelectedGroup; target?: number | null };

type DialogProps = { group: SelectedGroup; onClose: () => void };

/** Shows the dialog of the current action, if any. `onRemoved`: called after a removal, to leave the page. */
export function GroupDialogs(props: {
  doing: Doing | undefined;
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

function FieldsForm(props: {
  initial: Fields;
  label: string;
  submit: (values: Fields) => Promise<unknown>;
  onDone: (answer: unknown, values: Fields) => void;
  onClose: () => void;
}) {
  const t = useText();
  const form = useForm({ initial: props.initial, submit: props.submit, onDone: props.onDone });
  return (
    <Form
      form={form}
      actions={
        <>
          <Button onClick={props.onClose}>{t('action.cancel')}</Button>
          <Button type="submit" kind="primary" busy={form.busy}>
            {props.label}
          </Button>
        </>
      }
    >
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
    </Form>
  );
}

function AddDialog({ parent, onClose }: { parent?: SelectedGroup | undefined; onClose: () => void }) {
  const t = useText();
  const toast = useToast();
  const navigate = useNavigate();
  const refresh = useGroupsRefresh();
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('groups.add')}
      description={parent ? t('groups.addUnder', { name: parent.name }) : t('groups.addTop')}
    >
      <FieldsForm
        initial={{ name: '', description: '', externalId: '' }}
        label={t('groups.add')}
        submit={(values) => api('POST /groups', { body: { ...values, parentId: parent?.id ?? null } })}
        onDone={async (answer, { name }) => {
          await refresh();
          onClose();
          toast({ text: t('groups.added', { name }) });
          await navigate({ to: `/groups/${(answer as { id: number }).id}` });
        }}
        onClose={onClose}
      />
    </Dialog>
  );
}

function EditDialog({ group, onClose }: DialogProps) {
  const t = useText();
  const toast = useToast();
  const refresh = useGroupsRefresh();
  const answer = useData('GET /groups/{groupId}', { params: { groupId: group.id } });
  const form = ({ name, description, externalId }: GroupDetails) => (
    <FieldsForm
      initial={{ name, description: description ?? '', externalId: externalId ?? '' }}
      label={t('action.save')}
      submit={(body) => api('PATCH /groups/{groupId}', { params: { groupId: group.id }, body })}
      onDone={async () => {
        await refresh();
        onClose();
        toast({ text: t('groups.saved') });
      }}
      onClose={onClose}
    />
  );
  return (
    <Dialog open onClose={onClose} title={t('groups.editTitle', { name: group.name })}>
      <Loaded answer={answer} skeleton={<Skeleton rows={4} />}>
        {form}
      </Loaded>
    </Dialog>
  );
}

function RemoveDialog({ group, onClose, onRemoved }: DialogProps & { onRemoved?: (() => void) | undefined }) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  const params = { groupId: group.id };
  const title = t('groups.removeTitle', { name: group.name });
  const plan = useData('GET /groups/{groupId}/removal', { params });
  if (plan.error && !plan.data) {
    return (
      <Dialog open onClose={onClose} title={title}>
        <Failed error={plan.error} onRetry={() => void plan.refetch()} />
      </Dialog>
    );
  }
  // Don't show the plan of another group while this one loads.
  if (!plan.data || plan.isPlaceholderData) return null;
  const { data } = plan;
  const to = data.to?.name;
  const below = { count: data.movesUp.length, names: listed(data.movesUp) };
  const whole = data.schedules.filter(({ only }) => only);
  const text = (
    <ul className={css['list']}>
      <li>{data.weeks > 0 ? t('groups.removeWeeks', { count: data.weeks }) : t('groups.removeNoWeeks')}</li>
      {data.people > 0 && <li>{t('groups.removePeople', { count: data.people })}</li>}
      {below.count > 0 && (
        <li>
          {to === undefined ? t('groups.removeToTop', below) : t('groups.removeMovesUp', { ...below, to })}
        </li>
      )}
      {whole.length > 0 && (
        <li>{t('groups.removeSchedules', { count: whole.length, names: listed(whole) })}</li>
      )}
    </ul>
  );
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={title}
      text={text}
      confirm={t('groups.removeConfirm')}
      danger
      {...(data.weeks > 0 && { typed: group.name })}
      onConfirm={async () => {
        await api('DELETE /groups/{groupId}', { params, query: { weeks: data.weeks } });
        onRemoved?.();
        await refresh('GET /groups/tree');
        toast({ text: t('groups.removed', { name: group.name }) });
      }}
    />
  );
}

/** Returns the first few names. */
const listed = (all: { name: string }[]) =>
  all
    .slice(0, 5)
    .map(({ name }) => name)
    .join(', ') + (all.length > 5 ? ' …' : '');

function AdoptDialog({ group, onClose }: DialogProps) {
  const t = useText();
  const toast = useToast();
  const refresh = useGroupsRefresh();
  const form = useForm({
    initial: { externalId: group.externalId ?? '' },
    submit: (body) => api('POST /groups/{groupId}/adopt', { params: { groupId: group.id }, body }),
    onDone: async () => {
      await refresh();
      onClose();
      toast({ text: t('groups.adopted', { name: group.name }) });
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('groups.adoptTitle', { name: group.name })}
      description={t('groups.adoptText')}
    >
      <Form
        form={form}
        actions={
          <>
            <Button onClick={onClose}>{t('action.cancel')}</Button>
            <Button type="submit" kind="primary" busy={form.busy}>
              {t('groups.adoptConfirm')}
            </Button>
          </>
        }
      >
        <TextField
          label={t('groups.externalId')}
          hint={t('groups.adoptHint')}
          {...form.field('externalId')}
          required
          mono
          autoComplete="off"
          maxLength={maxExternalIdLength}
        />
        <Notice tone="warn" title={t('groups.next')}>
          {t('groups.adoptNext')}
        </Notice>
      </Form>
    </Dialog>
  );
}

function ReleaseDialog({ group, onClose }: DialogProps) {
  const t = useText();
  const toast = useToast();
  const refresh = useGroupsRefresh();
  const externalId = group.externalId ?? '';
  const form = useForm({
    initial: { keep: 'keep' as 'keep' | 'drop' },
    submit: ({ keep }) =>
      api('POST /groups/{groupId}/release', {
        params: { groupId: group.id },
        body: { keepExternalId: keep === 'keep' },
      }),
    onDone: async () => {
      await refresh();
      onClose();
      toast({ text: t('groups.released', { name: group.name }) });
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('groups.releaseTitle', { name: group.name })}
      description={t('groups.releaseText')}
    >
      <Form
        form={form}
        actions={
          <>
            <Button onClick={onClose}>{t('action.cancel')}</Button>
            <Button type="submit" kind="primary" busy={form.busy}>
              {t('groups.releaseConfirm')}
            </Button>
          </>
        }
      >
        <RadioField
          label={t('groups.releaseNext')}
          {...form.field('keep')}
          options={[
            { value: 'keep', label: t('groups.keepId', { externalId }), hint: t('groups.keepIdHint') },
            { value: 'drop', label: t('groups.dropId', { externalId }), hint: t('groups.dropIdHint') },
          ]}
        />
      </Form>
    </Dialog>
  );
}
