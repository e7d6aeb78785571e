// The dialogs for actions on a person. Each explains the consequences first.
import { maxExternalIdLength } from '@soundings/contract/limits.ts';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { useRefresh } from '../../hooks/data.ts';
import { useText } from '../../text/text.tsx';
import { ConfirmDialog } from '../../ui/dialog/ConfirmDialog.tsx';
import { Consequences } from '../../ui/dialog/Consequences.tsx';
import { FormDialog, useDialogForm } from '../../ui/dialog/FormDialog.tsx';
import { TextField } from '../../ui/form/Field.tsx';
import { type PersonAction, type SelectedPerson, usePeopleRefresh } from './actions.ts';
import { LinkDialog } from './LinkDialog.tsx';
import { personName } from './names.ts';

export type OpenPersonDialog = { what: PersonAction; person: SelectedPerson };
type DialogProps = { person: SelectedPerson; onClose: () => void };

const dialogs = {
  adopt: AdoptDialog,
  release: ReleaseDialog,
  remove: RemoveDialog,
  link: LinkDialog,
  sessions: SessionsDialog,
  twoFactor: TwoFactorDialog,
  emails: SurveyEmailsDialog,
};

/** Shows the dialog of the current action, if any. */
export function PersonDialogs({
  doing,
  onClose,
}: {
  doing: OpenPersonDialog | undefined;
  onClose: () => void;
}) {
  if (!doing) return null;
  const ActionDialog = dialogs[doing.what];
  return <ActionDialog person={doing.person} onClose={onClose} />;
}

function AdoptDialog({ person, onClose }: DialogProps) {
  const t = useText();
  const refresh = usePeopleRefresh();
  const name = personName(person);
  const form = useDialogForm({
    initial: { externalId: person.externalId ?? '' },
    warn: false,
    submit: ({ externalId }) =>
      api('POST /users/{userId}/adopt', {
        params: { userId: person.id },
        body: person.externalId === null ? { externalId } : {},
      }),
    done: async () => {
      await refresh();
      return t('people.handedOver', { name });
    },
    onClose,
  });
  const { externalId } = form.values;
  const id = externalId === '' ? '…' : externalId;
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={t('people.handOverTitle', { name })}
      description={t('people.handOverText')}
      confirm={t('people.handOverConfirm')}
    >
      {person.externalId === null && (
        <TextField
          label={t('people.externalId')}
          hint={t('people.handOverHint')}
          {...form.field('externalId')}
          required
          mono
          autoComplete="off"
          maxLength={maxExternalIdLength}
        />
      )}
      <Consequences
        title={t('people.next')}
        items={[
          t('people.handOverLists', { id }),
          t('people.handOverOmits', { id }),
          t('people.handOverLocks'),
        ]}
      />
    </FormDialog>
  );
}

function ReleaseDialog({ person, onClose }: DialogProps) {
  const t = useText();
  const refresh = usePeopleRefresh();
  const name = personName(person);
  const id = person.externalId ?? '';
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t(person.byDirectory ? 'people.takeBackTitle' : 'people.takeOverTitle', { name })}
      text={
        <Consequences
          title={t('people.next')}
          items={
            person.byDirectory
              ? [t('people.takeBackKeeps'), t('people.takeBackAgain')]
              : [t('people.takeOverKeeps'), t('people.takeOverLists', { id }), t('people.takeOverBack')]
          }
        />
      }
      confirm={t('people.takeOverConfirm')}
      onConfirm={async () => {
        await api('POST /users/{userId}/release', { params: { userId: person.id } });
        await refresh();
        return t('people.takenOver', { name });
      }}
    />
  );
}

function RemoveDialog({ person, onClose }: DialogProps) {
  const t = useText();
  const refresh = useRefresh();
  const navigate = useNavigate();
  const name = personName(person);
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('people.removeTitle', { name })}
      text={
        <Consequences
          title={t('people.next')}
          items={[t('people.removeErases'), t('people.removeAnswers'), t('people.removeLog')]}
        />
      }
      confirm={t('people.removeConfirm')}
      danger
      onConfirm={async () => {
        await api('DELETE /users/{userId}', { params: { userId: person.id } });
        await navigate({ to: '/people', search: (before: object) => before as never });
        await refresh('GET /users', 'GET /groups/tree');
        return t('people.removed', { name });
      }}
    />
  );
}

function SessionsDialog({ person, onClose }: DialogProps) {
  const t = useText();
  const refresh = usePeopleRefresh();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('people.endSessionsTitle', { name: personName(person) })}
      text={t('people.endSessionsText')}
      confirm={t('people.endSessions')}
      onConfirm={async () => {
        await api('DELETE /users/{userId}/sessions', { params: { userId: person.id } });
        await refresh();
        return t('people.sessionsEnded');
      }}
    />
  );
}

function TwoFactorDialog({ person, onClose }: DialogProps) {
  const t = useText();
  const refresh = usePeopleRefresh();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('people.turnOffTwoFactorTitle', { name: personName(person) })}
      text={t('people.turnOffTwoFactorText')}
      confirm={t('people.turnOffTwoFactorConfirm')}
      danger
      onConfirm={async () => {
        await api('DELETE /users/{userId}/two-factor', { params: { userId: person.id } });
        await refresh();
        return t('people.twoFactorTurnedOff');
      }}
    />
  );
}

function SurveyEmailsDialog({ person, onClose }: DialogProps) {
  const t = useText();
  const refresh = usePeopleRefresh();
  const name = personName(person);
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('people.emailsOnTitle', { name })}
      text={t('people.emailsOnText')}
      confirm={t('people.emailsOn')}
      onConfirm={async () => {
        await api('DELETE /users/{userId}/survey-opt-out', { params: { userId: person.id } });
        await refresh();
        return t('people.emailsAreOn', { name });
      }}
    />
  );
}
