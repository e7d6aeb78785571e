// The settings of the account: company, privacy, files, email and text messages. Each section explains the consequences of its fields.
import type { AccountSettingsView } from '@soundings/contract/console/access.ts';
import type { LimitName } from '@soundings/contract/limits.ts';
import { managerComparisons } from '@soundings/contract/comparisons.ts';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useData, useRefresh } from '../../hooks/data.ts';
import { useText } from '../../text/text.tsx';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { CountryField } from '../../ui/form/CountryField.tsx';
import { CheckboxField, NumberField, RadioField, SwitchField, TextField } from '../../ui/form/Field.tsx';
import { Form, useForm } from '../../ui/form/Form.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { Section } from '../../ui/page/Section.tsx';
import { Loaded } from '../../ui/page/States.tsx';
import { useToast } from '../../ui/floating/Toast.tsx';
import { TimezoneField } from '../session/TimezoneField.tsx';
import { MailSettings } from './MailSettings.tsx';
import { SmsSettings } from './SmsSettings.tsx';
import type { SettingsForm, Values } from './settings-form.ts';
import css from './access.module.css';
import { LanguageField } from '../session/LanguageField.tsx';

export function SettingsPage() {
  const response = useData('GET /settings');
  return (
    <Loaded response={response}>{(settings) => <Settings key={settings.id} settings={settings} />}</Loaded>
  );
}

const valuesOf = ({ managerComparisons: allowed, ...settings }: AccountSettingsView): Values => ({
  ...settings,
  company: allowed.includes('company'),
  parent: allowed.includes('parent'),
  halfYear: allowed.includes('halfYear'),
  kpiWeeks: settings.kpiWeeks ?? undefined,
  notify: settings.notify.join('\n'),
  distributionThreshold: settings.distributionThreshold ?? undefined,
  commentThreshold: settings.commentThreshold ?? undefined,
});

/** Returns only the changed fields, so that changes another user makes at the same time stay. */
function changesOf(values: Values, before: AccountSettingsView) {
  const { notify, distributionThreshold = null, commentThreshold = null, kpiWeeks = null, ...rest } = values;
  const { company, parent, halfYear, ...others } = rest;
  const comparisons = { company, parent, halfYear };
  const addresses = notify.split(/[\s,;]+/).filter((one) => one !== '');
  const all = {
    ...others,
    notify: addresses,
    distributionThreshold,
    commentThreshold,
    kpiWeeks,
    managerComparisons: managerComparisons.filter((one) => comparisons[one]),
  };
  return Object.fromEntries(
    Object.entries(all).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof AccountSettingsView]),
    ),
  );
}

function Settings({ settings }: { settings: AccountSettingsView }) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  /** The initial values of the fields. Fields that others have changed since are not sent with their old values. */
  const [before, setBefore] = useState(settings);
  const form = useForm({
    initial: valuesOf(settings),
    submit: (values) => api('PATCH /settings', { body: changesOf(values, before) }),
    onDone: (saved) => {
      setBefore(saved);
      form.reset(valuesOf(saved));
      toast({ text: t('settings.saved') });
      void refresh('GET /settings', 'GET /session');
    },
  });
  return (
    <Page
      title={t('settings.title')}
      subtitle={t('settings.subtitle', { name: settings.name, id: String(settings.id) })}
      narrow
    >
      <Form
        form={form}
        actions={
          <Button kind="primary" type="submit" busy={form.busy} disabled={!form.isDirty}>
            {t('action.save')}
          </Button>
        }
      >
        <Company form={form} />
        <Privacy form={form} />
        <Results form={form} />
        <Files form={form} />
        <MailSettings form={form} mailFrom={settings.mailFrom} />
        <SmsSettings form={form} language={settings.language} />
      </Form>
    </Page>
  );
}

function Company({ form }: { form: SettingsForm }) {
  const t = useText();
  return (
    <Section title={t('settings.company')}>
      <div className={css['fields']}>
        <TextField label={t('settings.name')} required maxLength={500} {...form.field('name')} />
        <LanguageField
          label={t('settings.language')}
          hint={t('settings.languageHint')}
          {...form.field('language')}
        />
        <TimezoneField
          label={t('settings.timezone')}
          hint={t('settings.timezoneHint')}
          required
          {...form.field('timezone')}
        />
      </div>
    </Section>
  );
}

function Privacy({ form }: { form: SettingsForm }) {
  const t = useText();
  const { threshold, publication } = form.values;
  const twice = threshold === 1 ? 1 : 2 * (threshold || 0);
  const count = form.field('threshold');
  const noise = form.field('noise');
  return (
    <Section
      title={t('settings.privacy')}
      description={t('settings.privacyText')}
      actions={<LinkButton to="/privacy">{t('privacy.open')}</LinkButton>}
    >
      <div className={css['fields']}>
        <NumberField
          label={t('settings.threshold')}
          hint={t('settings.thresholdHint')}
          required
          min={1}
          max={1000}
          {...count}
          onChange={(value) => count.onChange(value as number)}
        />
        {threshold === 1 && <Notice tone="warn">{t('settings.notAnonymous')}</Notice>}
        <NumberField
          label={t('settings.distributionThreshold')}
          hint={t('settings.distributionThresholdHint', { value: twice })}
          optional
          min={threshold}
          max={2000}
          {...form.field('distributionThreshold')}
        />
        <NumberField
          label={t('settings.commentThreshold')}
          hint={t('settings.commentThresholdHint', { value: twice })}
          optional
          min={threshold}
          max={2000}
          {...form.field('commentThreshold')}
        />
        <RadioField
          label={t('settings.publication')}
          options={[
            { value: 'weekly', label: t('settings.weekly'), hint: t('settings.weeklyHint') },
            { value: 'live', label: t('settings.live'), hint: t('settings.liveHint') },
          ]}
          {...form.field('publication')}
        />
        {publication === 'live' && <Notice tone="warn">{t('settings.liveRisk')}</Notice>}
        <RadioField
          label={t('settings.noise')}
          hint={t('settings.noiseHint')}
          options={[
            { value: '0', label: t('settings.noiseOff'), hint: t('settings.noiseOffHint') },
            { value: '1', label: t('settings.noiseOne'), hint: t('settings.noiseOneHint') },
            { value: '2', label: t('settings.noiseTwo'), hint: t('settings.noiseTwoHint') },
          ]}
          {...noise}
          value={String(noise.value) as '0' | '1' | '2'}
          onChange={(value) => noise.onChange(Number(value) as 0 | 1 | 2)}
        />
      </div>
    </Section>
  );
}

function Results({ form }: { form: SettingsForm }) {
  const t = useText();
  return (
    <Section title={t('settings.results')}>
      <div className={css['fields']}>
        <NumberField
          label={t('settings.kpiWeeks')}
          hint={t('settings.kpiWeeksHint')}
          optional
          min={1}
          max={13}
          unit={(count) => t('settings.weeks', { count })}
          {...form.field('kpiWeeks')}
        />
        <div>
          <h3 className={css['small']}>{t('settings.comparisons')}</h3>
          <p className={css['soft']}>{t('settings.comparisonsText')}</p>
        </div>
        {managerComparisons.map((one) => (
          <CheckboxField key={one} label={t(`settings.comparison.${one}`)} {...form.field(one)} />
        ))}
      </div>
    </Section>
  );
}

const rows = [
  ['settings.users', ['maxUsersCreated', 'maxUsersUpdated', 'maxUsersDeleted']],
  ['settings.groups', ['maxGroupsCreated', 'maxGroupsUpdated', 'maxGroupsDeleted']],
] as const;
const verbs = ['settings.created', 'settings.updated', 'settings.deleted'] as const;

function Files({ form }: { form: SettingsForm }) {
  const t = useText();
  return (
    <Section title={t('settings.files')} description={t('settings.filesText')} id="files">
      <div className={css['fields']}>
        <SwitchField
          label={t('settings.applyFiles')}
          hint={t('settings.applyFilesHint')}
          {...form.field('applyFiles')}
        />
        <SwitchField
          label={t('settings.filesPartial')}
          hint={t('settings.filesPartialHint')}
          {...form.field('filesPartial')}
        />
        <SwitchField
          label={t('settings.createGroups')}
          hint={t('settings.createGroupsHint')}
          {...form.field('createGroupsFromUsers')}
        />
        <CountryField
          label={t('settings.country')}
          hint={t('settings.countryHint')}
          optional
          {...form.field('defaultCountry')}
        />
        <div>
          <h3 className={css['small']}>{t('settings.limits')}</h3>
          <p className={css['soft']}>{t('settings.limitsText')}</p>
        </div>
        {rows.map(([kind, names]) => (
          <div key={kind} className={css['limits']}>
            {names.map((name, i) => (
              <Limit
                key={name}
                form={form}
                name={name}
                label={`${t(kind)}, ${t(verbs[i] as 'settings.created')}`}
              />
            ))}
          </div>
        ))}
      </div>
    </Section>
  );
}

function Limit({ form, name, label }: { form: SettingsForm; name: LimitName; label: string }) {
  const field = form.field(name);
  return (
    <NumberField
      label={label}
      required
      min={0}
      max={20_000}
      {...field}
      onChange={(value) => field.onChange(value as number)}
    />
  );
}
