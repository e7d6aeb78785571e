// The dialog to create an API token: its purpose and expiry. Afterwards it shows the token once.
import type { Scope } from '@soundings/contract/operation.ts';
import { type ComponentProps, useState } from 'react';
import { api } from '../../api.ts';
import { useData, useRefresh } from '../../hooks/data.ts';
import { useText } from '../../text/text.tsx';
import { Button } from '../../ui/Button.tsx';
import { Copy } from '../../ui/Copy.tsx';
import { Dialog } from '../../ui/dialog/Dialog.tsx';
import { FormDialog } from '../../ui/dialog/FormDialog.tsx';
import { CheckboxField, DateField, TextField } from '../../ui/form/Field.tsx';
import { SelectField } from '../../ui/form/Select.tsx';
import { useForm } from '../../ui/form/Form.tsx';
import css from './access.module.css';

type CreatedToken = { token: string; name: string; scopes: Scope[] };
const scopes = ['data', 'organization', 'files', 'audit'] as const;
const noScopes = { data: false, organization: false, files: false, audit: false };
type Expiry = 'none' | '30' | '90' | '365' | 'own';

/** Returns the day that is `days` days from today, in the service's format. */
const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

export function NewToken({ onClose }: { onClose: () => void }) {
  const [created, setCreated] = useState<CreatedToken>();
  return created ? (
    <ShownToken created={created} onClose={onClose} />
  ) : (
    <TokenForm onCreated={setCreated} onClose={onClose} />
  );
}

function TokenForm({
  onCreated,
  onClose,
}: {
  onCreated: (created: CreatedToken) => void;
  onClose: () => void;
}) {
  const t = useText();
  const refresh = useRefresh();
  const form = useForm({
    initial: {
      name: '',
      ...noScopes,
      isQuoted: false,
      expiry: '365' as Expiry,
      day: '',
    },
    warn: false,
    submit: async ({ name, expiry, day, isQuoted, ...chosen }) => {
      const wanted = scopes.filter((scope) => chosen[scope]);
      const expires = expiry === 'none' ? null : expiry === 'own' ? day : dayIn(Number(expiry));
      const numbers = chosen.data && isQuoted ? 'quoted' : 'plain';
      const { token } = await api('POST /tokens', { body: { name, scopes: wanted, expires, numbers } });
      await refresh('GET /tokens');
      return { token, name, scopes: wanted };
    },
    onDone: onCreated,
  });
  const { values } = form;
  const isChosen = scopes.some((scope) => values[scope]);
  return (
    <FormDialog
      staysWhileBusy
      form={form}
      onClose={onClose}
      title={t('tokens.createTitle')}
      confirm={t('tokens.create')}
      disabled={!isChosen}
    >
      <TextField
        label={t('tokens.name')}
        hint={t('tokens.nameHint')}
        required
        autoFocus
        {...form.field('name')}
      />
      <fieldset className={css['choices']}>
        <legend>{t('tokens.scopes')}</legend>
        {scopes.map((scope) => (
          <CheckboxField
            key={scope}
            label={t(`tokens.scope.${scope}`)}
            hint={t(`tokens.scopeHint.${scope}`)}
            {...form.field(scope)}
          />
        ))}
        {!isChosen && <p className={css['soft']}>{t('tokens.scopesNeeded')}</p>}
      </fieldset>
      {values.data && (
        <CheckboxField label={t('tokens.quoted')} hint={t('tokens.quotedHint')} {...form.field('isQuoted')} />
      )}
      <ExpiryField {...form.field('expiry')} />
      {values.expiry === 'own' && (
        <DateField label={t('tokens.ownDay')} required min={dayIn(1)} {...form.field('day')} />
      )}
    </FormDialog>
  );
}

type ExpiryProps = Omit<ComponentProps<typeof SelectField<Expiry>>, 'label' | 'hint' | 'options'>;

function ExpiryField(field: ExpiryProps) {
  const t = useText();
  return (
    <SelectField
      label={t('tokens.expires')}
      hint={t('tokens.expiresHint')}
      {...field}
      options={[
        { value: '30', label: t('tokens.days30') },
        { value: '90', label: t('tokens.days90') },
        { value: '365', label: t('tokens.year') },
        { value: 'own', label: t('tokens.ownDay') },
        { value: 'none', label: t('tokens.noExpiry') },
      ]}
    />
  );
}

/** Returns a shell command that tests the token with its first scope. */
function tryLine({ token, scopes: [scope] }: CreatedToken, base: string): string {
  const header = `-H "Authorization: ${token}"`;
  if (scope === 'data') return `curl ${base}/v1/groups ${header}`;
  if (scope === 'audit') return `curl ${base}/v1/audit ${header}`;
  if (scope === 'files') return `curl ${base}/v1/storage/files ${header}`;
  return `curl ${base}/v1/organization/organization ${header} -H "Content-Type: application/json" -d '{}'`;
}

function ShownToken({ created, onClose }: { created: CreatedToken; onClose: () => void }) {
  const t = useText();
  const base = useData('GET /access').data?.addresses.data.replace(/\/v1$/, '') ?? location.origin;
  return (
    <Dialog
      open
      stays
      wide
      onClose={onClose}
      title={t('tokens.createdTitle', { name: created.name })}
      description={t('tokens.createdText')}
      actions={
        <Button kind="primary" onClick={onClose}>
          {t('tokens.done')}
        </Button>
      }
    >
      <div className={css['created']}>
        <h3>{t('tokens.token')}</h3>
        <Copy text={created.token} label={t('tokens.token')} />
        <h3>{t('tokens.try')}</h3>
        <Copy text={tryLine(created, base)} label={t('tokens.try')} />
      </div>
    </Dialog>
  );
}
