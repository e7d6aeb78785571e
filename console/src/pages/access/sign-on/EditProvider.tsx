// The dialog to change a sign-in provider: whether it is on, whose addresses it confirms, and which roles it gives.
import type { ProviderView, RoleValue } from '@soundings/contract/console/sign-on/single-sign-on.ts';
import { roles } from '@soundings/contract/people/roles.ts';
import { Plus, X } from 'lucide-react';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { Button, IconButton } from '../../../ui/Button.tsx';
import { FormDialog, useDialogForm } from '../../../ui/dialog/FormDialog.tsx';
import { CheckboxField, NumberField, SwitchField, TextField } from '../../../ui/form/Field.tsx';
import type { FieldState, FormState } from '../../../ui/form/Form.tsx';
import { SelectField } from '../../../ui/form/Select.tsx';
import css from '../access.module.css';

const listOf = (text: string) =>
  text
    .split(/[\s,;]+/)
    .map((one) => one.trim())
    .filter((one) => one !== '');

const valuesOf = (provider: ProviderView) => ({
  name: provider.name,
  enabled: provider.enabled,
  clientSecret: '',
  domains: provider.domains.join(', '),
  trustsDomains: provider.trustsDomains,
  createsPeople: provider.createsPeople,
  roleClaim: provider.roleClaim ?? '',
  roleValues: provider.roleValues,
  sessionHours: provider.sessionHours ?? undefined,
});
type Values = ReturnType<typeof valuesOf>;

export function EditProvider({ provider, onClose }: { provider: ProviderView; onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  const form = useDialogForm({
    initial: valuesOf(provider),
    submit: ({ clientSecret, domains, roleClaim, roleValues, sessionHours, ...fields }) =>
      api('PATCH /sso/providers/{providerId}', {
        params: { providerId: provider.id },
        body: {
          ...fields,
          ...(clientSecret !== '' && { clientSecret }),
          domains: listOf(domains),
          roleClaim: roleClaim.trim() || null,
          roleValues: roleClaim.trim() === '' ? [] : roleValues,
          sessionHours: sessionHours ?? null,
        },
      }),
    done: async (_, { name }) => {
      await refresh('GET /sso');
      return t('signOn.saved', { name });
    },
    onClose,
  });
  return (
    <FormDialog
      form={form}
      wide
      onClose={onClose}
      title={t('signOn.editTitle', { name: provider.name })}
      confirm={t('signOn.save')}
    >
      <SwitchField label={t('signOn.enabled')} hint={t('signOn.enabledHint')} {...form.field('enabled')} />
      <TextField label={t('signOn.name')} required maxLength={60} {...form.field('name')} />
      <PeopleFields form={form} />
      <NumberField
        label={t('signOn.sessionHours')}
        hint={t('signOn.sessionHoursHint')}
        min={1}
        max={720}
        unit={(count) => t('signOn.hours', { count })}
        optional
        {...form.field('sessionHours')}
      />
      <TextField
        label={t('signOn.newSecret')}
        hint={t('signOn.newSecretHint')}
        type="password"
        autoComplete="new-password"
        mono
        optional
        {...form.field('clientSecret')}
      />
    </FormDialog>
  );
}

/** Whose addresses count, who is created, and which roles people get. */
function PeopleFields({ form }: { form: Pick<FormState<Values>, 'field' | 'values'> }) {
  const t = useText();
  return (
    <>
      <TextField
        label={t('signOn.domains')}
        hint={t('signOn.domainsHint')}
        placeholder="example.com"
        mono
        optional
        {...form.field('domains')}
      />
      <CheckboxField
        label={t('signOn.trustsDomains')}
        hint={t('signOn.trustsDomainsHint')}
        {...form.field('trustsDomains')}
      />
      <CheckboxField
        label={t('signOn.createsPeople')}
        hint={t('signOn.createsPeopleHint')}
        {...form.field('createsPeople')}
      />
      <TextField
        label={t('signOn.roleClaim')}
        hint={t('signOn.roleClaimHint')}
        placeholder="roles"
        mono
        optional
        {...form.field('roleClaim')}
      />
      {form.values.roleClaim.trim() !== '' && <RoleValues {...form.field('roleValues')} />}
    </>
  );
}

function RoleValues({ value: rows, onChange, error }: FieldState<RoleValue[]>) {
  const t = useText();
  const change = (at: number, row: RoleValue) => onChange(rows.map((one, i) => (i === at ? row : one)));
  return (
    <fieldset className={css['choices']}>
      <legend>{t('signOn.roleValues')}</legend>
      {rows.map((row, i) => (
        // oxlint-disable-next-line react/no-array-index-key -- rows have no other identity while they are typed
        <div key={i} className={css['roleValue']}>
          <TextField
            label={t('signOn.value')}
            hideLabel
            mono
            required
            placeholder="soundings-admin"
            value={row.value}
            onChange={(value) => change(i, { ...row, value })}
          />
          <SelectField
            label={t('signOn.role')}
            hideLabel
            value={row.role}
            onChange={(role) => change(i, { ...row, role })}
            options={roles.map((role) => ({ value: role, label: t(`role.${role}`) }))}
          />
          <IconButton
            icon={X}
            label={t('signOn.removeValue', { value: row.value })}
            onClick={() => onChange(rows.filter((_, at) => at !== i))}
          />
        </div>
      ))}
      {error !== undefined && (
        <p role="alert" className={css['wrong']}>
          {error}
        </p>
      )}
      <div>
        <Button icon={Plus} onClick={() => onChange([...rows, { value: '', role: 'Manager' }])}>
          {t('signOn.addValue')}
        </Button>
      </div>
      <p className={css['soft']}>{t('signOn.roleValuesText')}</p>
    </fieldset>
  );
}
