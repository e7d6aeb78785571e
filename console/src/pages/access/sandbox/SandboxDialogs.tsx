// The dialogs of the sandbox: create it, replace its token, reset it, delete it.
import type { Scope } from '@soundings/contract/operation.ts';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { FormDialog } from '../../../ui/dialog/FormDialog.tsx';
import { useForm } from '../../../ui/form/Form.tsx';
import { type CreatedToken, ScopeChoices, scopes } from '../NewToken.tsx';

type OnCreated = (created: CreatedToken) => void;

export function NewSandbox({
  days,
  onClose,
  onCreated,
}: {
  days: number;
  onClose: () => void;
  onCreated: OnCreated;
}) {
  const t = useText();
  return (
    <TokenDialog
      operation="POST /sandbox"
      title={t('sandbox.createTitle')}
      description={t('sandbox.createText', { days })}
      confirm={t('sandbox.create')}
      initial={scopes}
      onClose={onClose}
      onCreated={onCreated}
    />
  );
}

export function ReplaceToken({
  scopes: initial,
  onClose,
  onCreated,
}: {
  scopes: readonly Scope[];
  onClose: () => void;
  onCreated: OnCreated;
}) {
  const t = useText();
  return (
    <TokenDialog
      operation="POST /sandbox/token"
      title={t('sandbox.newTokenTitle')}
      description={t('sandbox.newTokenText')}
      confirm={t('sandbox.newToken')}
      initial={initial}
      onClose={onClose}
      onCreated={onCreated}
    />
  );
}

type TokenDialogProps = {
  operation: 'POST /sandbox' | 'POST /sandbox/token';
  title: string;
  description: string;
  confirm: string;
  /** The scopes that are chosen at the beginning. */
  initial: readonly Scope[];
  onClose: () => void;
  onCreated: OnCreated;
};

/** Chooses the scopes of a token and creates it. */
function TokenDialog({ operation, initial, onClose, onCreated, ...texts }: TokenDialogProps) {
  const t = useText();
  const refresh = useRefresh();
  const form = useForm({
    initial: Object.fromEntries(scopes.map((scope) => [scope, initial.includes(scope)])) as Record<
      Scope,
      boolean
    >,
    warn: false,
    submit: async (chosen) => {
      const wanted = scopes.filter((scope) => chosen[scope]);
      const { token } = await api(operation, { body: { scopes: wanted } });
      await refresh('GET /sandbox');
      return { token, name: t('sandbox.name'), scopes: wanted };
    },
    onDone: (created) => {
      onClose();
      onCreated(created);
    },
  });
  const isChosen = scopes.some((scope) => form.values[scope]);
  return (
    <FormDialog staysWhileBusy form={form} onClose={onClose} disabled={!isChosen} {...texts}>
      <ScopeChoices field={form.field} isChosen={isChosen} />
    </FormDialog>
  );
}

export function Resetting({ onClose }: { onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('sandbox.resetTitle')}
      text={<p>{t('sandbox.resetText')}</p>}
      confirm={t('sandbox.reset')}
      onConfirm={async () => {
        await api('POST /sandbox/reset');
        await refresh('GET /sandbox');
        return t('sandbox.resetDone');
      }}
    />
  );
}

export function Deleting({ onClose }: { onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  return (
    <ConfirmDialog
      danger
      onClose={onClose}
      title={t('sandbox.deleteTitle')}
      text={<p>{t('sandbox.deleteText')}</p>}
      confirm={t('sandbox.delete')}
      onConfirm={async () => {
        await api('DELETE /sandbox');
        await refresh('GET /sandbox');
        return t('sandbox.deletedDone');
      }}
    />
  );
}
