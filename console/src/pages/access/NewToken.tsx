// The dialog to create an API token: its purpose and expiry. Afterwards it shows the token once.
import type { Scope } from '@soundings/contract/operation.ts';
import { type ComponentProps, useState } from 'react';
import { api } from '../../api.ts';
import { useData, useRefresh } from '../../hooks/data.ts';
import { useText } from '../../text/text.tsx';
import { Copy } from '../../ui/Copy.tsx';
import { ShownOnceDialog } from '../../ui/dialog/ShownOnceDialog.tsx';
import { FormDialog } from '../../ui/dialog/FormDialog.tsx';
import { CheckboxField, DateField, TextField } from '../../ui/form/Field.tsx';
import { SelectField } from '../../ui/form/Select.tsx';
import { useForm } from '../../ui/form/Form.tsx';
import css from './access.module.css';

export type CreatedToken = { token: string; name: string; scopes: Scope[] };
export const scopes = ['data', 'organization', 'files', 'audit', 'scim'] as const;
const noScopes = { data: false, organization: false, files: false, audit: false, scim: false };
const onlyScope = (scope: Scope | undefined) => ({ ...noScopes, ...(scope && { [scope]: true }) });
type Expiry = 'none' | '30' | '90' | '365' | 'own';

/** Returns the day that is `days` days from today, in the service's format. */
const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** `scope`: chosen at the beginning. */
export function NewToken({ scope, onClose }: { scope?: Scope; onClose: () => void }) {
  const [created, setCreated] = useState<CreatedToken>();
  return created ? (
    <ShownToken created={created} onClose={onClose} />
  ) : (
    <TokenForm scope={scope} onCreated={setCreated} onClose={onClose} />
  );
}

function TokenForm({
  scope: chosenScope,
  onCreated,
  onClose,
}: {
  scope: Scope | undefined;
  onCreated: (created: CreatedToken) => void;
  onClose: () => void;
}) {
  const t = useText();
  const refresh = useRefresh();
  const form = useForm({
    initial: {
      name: '',
      ...onlyScope(chosenScope),
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
      <ScopeChoices field={form.field} isChosen={isChosen} />
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

type CheckboxProps = Omit<ComponentProps<typeof CheckboxField>, 'label' | 'hint'>;

/** The scopes of a token, as checkboxes. `field` returns what connects one with the form. */
export function ScopeChoices({
  field,
  isChosen,
}: {
  field: (scope: Scope) => CheckboxProps;
  isChosen: boolean;
}) {
  const t = useText();
  return (
    <fieldset className={css['choices']}>
      <legend>{t('tokens.scopes')}</legend>
      {scopes.map((scope) => (
        <CheckboxField
          key={scope}
          label={t(`tokens.scope.${scope}`)}
          hint={t(`tokens.scopeHint.${scope}`)}
          {...field(scope)}
        />
      ))}
      {!isChosen && <p className={css['soft']}>{t('tokens.scopesNeeded')}</p>}
    </fieldset>
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
export function tryLine({ token, scopes: [scope] }: Omit<CreatedToken, 'name'>, base: string): string {
  const header = `-H "Authorization: ${token}"`;
  if (scope === 'data') return `curl ${base}/v1/groups ${header}`;
  if (scope === 'audit') return `curl ${base}/v1/audit ${header}`;
  if (scope === 'scim') return `curl ${base}/scim/v2/Users ${header}`;
  if (scope === 'files') return `curl ${base}/v1/storage/files ${header}`;
  return `curl ${base}/v1/organization/organization ${header} -H "Content-Type: application/json" -d '{}'`;
}

/** Shows a token once. `text`: what the person should know about it; by default only that it isn't shown again. */
export function ShownToken({
  created,
  text,
  onClose,
}: {
  created: CreatedToken;
  text?: string;
  onClose: () => void;
}) {
  const t = useText();
  const base = useData('GET /access').data?.addresses.data.replace(/\/v1$/, '') ?? location.origin;
  return (
    <ShownOnceDialog
      wide
      onClose={onClose}
      title={t('tokens.createdTitle', { name: created.name })}
      description={text ?? t('tokens.createdText')}
      done={t('tokens.done')}
    >
      <div className={css['created']}>
        <h3>{t('tokens.token')}</h3>
        <Copy text={created.token} label={t('tokens.token')} />
        <h3>{t('tokens.try')}</h3>
        <Copy text={tryLine(created, base)} label={t('tokens.try')} />
      </div>
    </ShownOnceDialog>
  );
}
