// The dialogs for actions on a person. Each explains the consequences first.
import { maxExternalIdLength } from '@soundings/contract/limits.ts';
import type { Role } from '@soundings/contract/shared-values.ts';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { useRefresh } from '../../hooks/data.ts';
import { useText } from '../../text/text.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog/Dialog.tsx';
import { TextField } from '../../ui/form/Field.tsx';
import { Form, useForm } from '../../ui/form/Form.tsx';
import { useToast } from '../../ui/floating/Toast.tsx';
import { Consequences } from './Consequences.tsx';
import { LinkDialog } from './LinkDialog.tsx';
import { nameOf } from './names.ts';

/** The fields of a person that the dialogs need. */
export type SelectedPerson = {
  id: number;
  firstName: string;
  lastName: string;
  email: string | null;
  externalId: string | null;
  role: Role;
};
export type PersonAction = 'adopt' | 'release' | 'remove' | 'link' | 'sessions' | 'twoFactor';
export type Doing = { what: PersonAction; person: SelectedPerson };
type DialogProps = { person: SelectedPerson; onClose: () => void };

/** Shows the dialog of the current action, if any. */
export function PersonDialogs({ doing, onClose }: { doing: Doing | undefined; onClose: () => void }) {
  if (!doing) return null;
  const { what, person } = doing;
  switch (what) {
    case 'adopt':
      return <AdoptDialog person={person} onClose={onClose} />;
    case 'release':
      return <ReleaseDialog person={person} onClose={onClose} />;
    case 'remove':
      return <RemoveDialog person={person} onClose={onClose} />;
    case 'link':
      return <LinkDialog person={person} onClose={onClose} />;
    case 'sessions':
      return <SessionsDialog person={person} onClose={onClose} />;
    case 'twoFactor':
      return <TwoFactorDialog person={person} onClose={onClose} />;
  }
}

/** Returns a function that refetches everything that shows people. */
export function usePeopleRefresh(): () => Promise<void> {
  const refresh = useRefresh();
  return () => refresh('GET /users', 'GET /users/{userId}', 'GET /groups/tree');
}

function AdoptDialog({ person, onClose }: DialogProps) {
  const t = useText();
  const toast = useToast();
  const refresh = usePeopleRefresh();
  const name = nameOf(person);
  const form = useForm({
    initial: { externalId: person.externalId ?? '' },
    warn: false,
    submit: ({ externalId }) =>
      api('POST /users/{userId}/adopt', {
        params: { userId: person.id },
        body: person.externalId === null ? { externalId } : {},
      }),
    onDone: async () => {
      await refresh();
      onClose();
      toast({ text: t('people.adopted', { name }) });
    },
  });
  const { externalId } = form.values;
  const id = externalId === '' ? '…' : externalId;
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('people.adoptTitle', { name })}
      description={t('people.adoptText')}
    >
      <Form
        form={form}
        actions={
          <>
            <Button onClick={onClose}>{t('action.cancel')}</Button>
            <Button type="submit" kind="primary" busy={form.busy}>
              {t('people.adoptConfirm')}
            </Button>
          </>
        }
      >
        {person.externalId === null && (
          <TextField
            label={t('people.externalId')}
            hint={t('people.adoptHint')}
            {...form.field('externalId')}
            required
            mono
            autoComplete="off"
            maxLength={maxExternalIdLength}
          />
        )}
        <Consequences
          items={[t('people.adoptLists', { id }), t('people.adoptOmits', { id }), t('people.adoptLocks')]}
        />
      </Form>
    </Dialog>
  );
}

function ReleaseDialog({ person, onClose }: DialogProps) {
  const t = useText();
  const toast = useToast();
  const refresh = usePeopleRefresh();
  const name = nameOf(person);
  const id = person.externalId ?? '';
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t('people.releaseTitle', { name })}
      text={
        <Consequences
          items={[t('people.releaseKeeps'), t('people.releaseLists', { id }), t('people.releaseBack')]}
        />
      }
      confirm={t('people.releaseConfirm')}
      onConfirm={async () => {
        await api('POST /users/{userId}/release', { params: { userId: person.id } });
        await refresh();
        toast({ text: t('people.released', { name }) });
      }}
    />
  );
}

function RemoveDialog({ person, onClose }: DialogProps) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  const navigate = useNavigate();
  const name = nameOf(person);
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t('people.removeTitle', { name })}
      text={
        <Consequences items={[t('people.removeErases'), t('people.removeAnswers'), t('people.removeLog')]} />
      }
      confirm={t('people.removeConfirm')}
      danger
      onConfirm={async () => {
        await api('DELETE /users/{userId}', { params: { userId: person.id } });
        await navigate({ to: '/people', search: (before: object) => before as never });
        await refresh('GET /users', 'GET /groups/tree');
        toast({ text: t('people.removed', { name }) });
      }}
    />
  );
}

function SessionsDialog({ person, onClose }: DialogProps) {
  const t = useText();
  const toast = useToast();
  const refresh = usePeopleRefresh();
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t('people.endSessionsTitle', { name: nameOf(person) })}
      text={t('people.endSessionsText')}
      confirm={t('people.endSessions')}
      onConfirm={async () => {
        await api('DELETE /users/{userId}/sessions', { params: { userId: person.id } });
        await refresh();
        toast({ text: t('people.sessionsEnded') });
      }}
    />
  );
}

function TwoFactorDialog({ person, onClose }: DialogProps) {
  const t = useText();
  const toast = useToast();
  const refresh = usePeopleRefresh();
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t('people.turnOffStepTitle', { name: nameOf(person) })}
      text={t('people.turnOffStepText')}
      confirm={t('people.turnOffStepConfirm')}
      danger
      onConfirm={async () => {
        await api('DELETE /users/{userId}/second-step', { params: { userId: person.id } });
        await refresh();
        toast({ text: t('people.stepTurnedOff') });
      }}
    />
  );
}
