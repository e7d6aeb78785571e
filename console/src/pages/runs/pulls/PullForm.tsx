// The dialogs to create and change a pull. A new one asks only for what is needed to request the list from the HR system; everything else follows from it and
// can be changed later.
import {
  accessKinds,
  clientMethods,
  maxAccessText,
  maxPullName,
  maxPullUrl,
  maxSecret,
  pullSources,
  repeats,
} from '@soundings/contract/pulls/pull-values.ts';
import type { PullView } from '@soundings/contract/pulls/pulls.ts';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../../../api.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { FormDialog, useDialogForm } from '../../../ui/dialog/FormDialog.tsx';
import { TextField } from '../../../ui/form/Field.tsx';
import { FieldRow, type FormState } from '../../../ui/form/Form.tsx';
import { SelectField } from '../../../ui/form/Select.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { useDays } from '../../asking/texts.ts';
import { bodyOf, emptyPull, type PullValues, valuesOf } from './presets.ts';

type Form = FormState<PullValues>;

export function NewPull({ onClose }: { onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  const navigate = useNavigate();
  const form = useDialogForm({
    initial: emptyPull,
    submit: (values) => {
      const { secret } = values;
      return api('POST /pulls', { body: { ...bodyOf(values, true), ...(secret !== '' && { secret }) } });
    },
    done: async ({ id }) => {
      await navigate({ to: `/pulls/${id}` });
      await refresh('GET /pulls');
      return t('pulls.created');
    },
    onClose,
  });
  const { source } = form.values;
  const { data: access } = useData('GET /access');
  return (
    <FormDialog
      wide
      form={form}
      onClose={onClose}
      title={t('pulls.createTitle')}
      description={t('pulls.createText')}
      confirm={t('pulls.create')}
    >
      {access && !access.files.filesPartial && <Notice>{t('pulls.wholeList')}</Notice>}
      <SelectField
        label={t('pulls.source')}
        options={pullSources.map((value) => ({ value, label: t(`pulls.source.${value}`) }))}
        {...form.field('source')}
      />
      <TextField
        label={t('pulls.name')}
        hint={t('pulls.nameHint')}
        required
        maxLength={maxPullName}
        {...form.field('name')}
      />
      {source === 'other' ? <AddressFields form={form} /> : <PresetFields form={form} />}
      <TimeFields form={form} />
    </FormDialog>
  );
}

export function EditPull({ pull, onClose }: { pull: PullView; onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  const form = useDialogForm({
    initial: valuesOf(pull),
    submit: (values) => {
      const { secret } = values;
      const body = { ...bodyOf(values, false), ...(secret !== '' && { secret }) };
      return api('PATCH /pulls/{pullId}', { params: { pullId: pull.id }, body });
    },
    done: async ({ isOn }) => {
      await refresh('GET /pulls', 'GET /pulls/{pullId}');
      return t(pull.isOn && !isOn ? 'pulls.savedOff' : 'pulls.saved');
    },
    onClose,
  });
  return (
    <FormDialog wide form={form} onClose={onClose} title={t('pulls.editTitle')} confirm={t('pulls.save')}>
      <TextField label={t('pulls.name')} required maxLength={maxPullName} {...form.field('name')} />
      <AddressFields form={form} isStored={pull.hasSecret} />
      <TimeFields form={form} />
    </FormDialog>
  );
}

/** What administrators of an HR system know. */
function PresetFields({ form }: { form: Form }) {
  const t = useText();
  const { source } = form.values;
  if (source === 'other') return null;
  const hasClient = source === 'personio' || source === 'graph';
  return (
    <>
      {source === 'workday' && (
        <>
          <TextField
            label={t('pulls.reportUrl')}
            hint={t('pulls.reportUrlHint')}
            type="url"
            mono
            required
            maxLength={maxPullUrl}
            {...form.field('url')}
          />
          <Plain form={form} name="access/user" label={t('pulls.user')} hint={t('pulls.workdayUserHint')} />
        </>
      )}
      {source === 'bamboohr' && (
        <FieldRow>
          <Plain form={form} name="company" label={t('pulls.company')} hint={t('pulls.companyHint')} />
          <Plain form={form} name="report" label={t('pulls.report')} hint={t('pulls.reportHint')} />
        </FieldRow>
      )}
      {source === 'graph' && (
        <Plain form={form} name="tenant" label={t('pulls.tenant')} hint={t('pulls.tenantHint')} />
      )}
      {hasClient && <Plain form={form} name="access/clientId" label={t('pulls.clientId')} />}
      <Secret form={form} label={t(`pulls.secretOf.${source}`)} />
    </>
  );
}

type TextName =
  | 'company'
  | 'report'
  | 'tenant'
  | `access/${'user' | 'clientId' | 'header' | 'scope' | 'audience' | 'resource'}`;
type PlainProps = { form: Form; name: TextName; label: string; hint?: string; optional?: boolean };

function Plain({ form, name, label, hint, optional = false }: PlainProps) {
  return (
    <TextField
      label={label}
      hint={hint}
      mono
      autoComplete="off"
      optional={optional}
      required={!optional}
      maxLength={maxAccessText}
      {...form.field(name)}
    />
  );
}

/** A secret, which browsers must not store as a password of the console. `isStored`: an empty field keeps the stored one. */
function Secret({ form, label, isStored = false }: { form: Form; label: string; isStored?: boolean }) {
  const t = useText();
  return (
    <TextField
      label={label}
      hint={t(isStored ? 'pulls.secretKept' : 'pulls.secretHint')}
      type="password"
      autoComplete="new-password"
      required={!isStored}
      maxLength={maxSecret}
      {...form.field('secret')}
    />
  );
}

/** Everything about the address and the access. */
function AddressFields({ form, isStored = false }: { form: Form; isStored?: boolean }) {
  const t = useText();
  const { kind } = form.values;
  return (
    <>
      <TextField
        label={t('pulls.url')}
        hint={t('pulls.urlHint')}
        type="url"
        mono
        required
        maxLength={maxPullUrl}
        {...form.field('url')}
      />
      <TextField
        label={t('pulls.list')}
        hint={t('pulls.listHint')}
        mono
        optional
        maxLength={maxAccessText}
        {...form.field('list')}
      />
      <SelectField
        label={t('pulls.access')}
        options={accessKinds.map((value) => ({ value, label: t(`pulls.access.${value}`) }))}
        {...form.field('kind')}
      />
      {kind === 'header' && (
        <Plain form={form} name="access/header" label={t('pulls.header')} hint={t('pulls.headerHint')} />
      )}
      {kind === 'basic' && <Plain form={form} name="access/user" label={t('pulls.user')} />}
      {kind === 'oauth' && <ClientFields form={form} />}
      {kind !== 'none' && <Secret form={form} label={t(`pulls.secret.${kind}`)} isStored={isStored} />}
    </>
  );
}

function ClientFields({ form }: { form: Form }) {
  const t = useText();
  return (
    <>
      <TextField
        label={t('pulls.tokenUrl')}
        hint={t('pulls.tokenUrlHint')}
        type="url"
        mono
        required
        maxLength={maxPullUrl}
        {...form.field('access/tokenUrl')}
      />
      <FieldRow>
        <Plain form={form} name="access/clientId" label={t('pulls.clientId')} />
        <SelectField
          label={t('pulls.method')}
          options={clientMethods.map((value) => ({ value, label: t(`pulls.method.${value}`) }))}
          {...form.field('access/method')}
        />
      </FieldRow>
      <FieldRow>
        <Plain form={form} name="access/scope" label="Scope" optional />
        <Plain form={form} name="access/audience" label="Audience" optional />
        <Plain form={form} name="access/resource" label="Resource" optional />
      </FieldRow>
    </>
  );
}

function TimeFields({ form }: { form: Form }) {
  const t = useText();
  const days = useDays();
  const { repeat } = form.values;
  return (
    <FieldRow>
      <SelectField
        label={t('pulls.repeat')}
        options={repeats.map((value) => ({ value, label: t(`pulls.repeat.${value}`) }))}
        {...form.field('repeat')}
      />
      {repeat === 'weekly' && (
        <SelectField
          label={t('pulls.weekday')}
          options={[1, 2, 3, 4, 5, 6, 7].map((day) => ({ value: String(day), label: days.weekday(day) }))}
          {...form.field('weekday')}
        />
      )}
      {repeat !== 'hourly' && (
        <SelectField
          label={t('pulls.hour')}
          options={Array.from({ length: 24 }, (_, hour) => ({ value: String(hour), label: days.hour(hour) }))}
          {...form.field('hour')}
        />
      )}
    </FieldRow>
  );
}
