// The text message section of the settings: on or off, and what people get in each language.
import type { SmsSettingsView } from '@soundings/contract/console/access.ts';
import { useState } from 'react';
import { useData } from '../../hooks/data.ts';
import { useLanguageNames } from '../../text/languages.ts';
import { useText } from '../../text/text.tsx';
import { SwitchField } from '../../ui/form/Field.tsx';
import { SelectField } from '../../ui/form/Select.tsx';
import { DescriptionList } from '../../ui/page/DescriptionList.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { Section } from '../../ui/page/Section.tsx';
import { Loaded } from '../../ui/page/States.tsx';
import css from './access.module.css';
import type { SettingsForm } from './settings-form.ts';

export function SmsSettings({ form, language }: { form: SettingsForm; language: string }) {
  const t = useText();
  const response = useData('GET /settings/sms');
  return (
    <Section title={t('settings.sms')} description={t('settings.smsText')} id="text-messages">
      <Loaded response={response}>
        {(sms) => <Fields form={form} sms={sms} accountLanguage={language} />}
      </Loaded>
    </Section>
  );
}

type FieldsProps = { form: SettingsForm; sms: SmsSettingsView; accountLanguage: string };

function Fields({ form, sms: { gateway, people, previews }, accountLanguage }: FieldsProps) {
  const t = useText();
  const { nameOf } = useLanguageNames();
  const field = form.field('sms');
  const languages = [...new Set(previews.map((one) => one.language))];
  const [language, setLanguage] = useState(languages.includes(accountLanguage) ? accountLanguage : 'en');
  return (
    <div className={css['fields']}>
      {gateway === null ? (
        <Notice tone={field.value ? 'warn' : 'neutral'}>{t('settings.smsNoGateway')}</Notice>
      ) : (
        <DescriptionList items={[[t('settings.smsGateway'), <code key="gateway">{gateway}</code>]]} />
      )}
      <SwitchField
        label={t('settings.smsOn')}
        hint={t('settings.smsOnHint', { count: people })}
        {...field}
        // It can always be turned off.
        disabled={gateway === null && !field.value}
      />
      {gateway !== null && (
        <div className={css['smsPreview']}>
          <SelectField
            label={t('settings.smsLanguage')}
            options={languages.map((value) => ({ value, label: nameOf(value) }))}
            value={language}
            onChange={setLanguage}
          />
          {previews
            .filter((one) => one.language === language)
            .map(({ kind, text, length, segments, encoding }) => (
              <figure key={kind}>
                <figcaption>{t(`settings.smsPreview.${kind}`)}</figcaption>
                <blockquote dir="auto" lang={language}>
                  {text}
                </blockquote>
                <p className={css['soft']}>
                  {t('settings.smsSegments', { count: segments, length, encoding })}
                </p>
              </figure>
            ))}
          <p className={css['soft']}>{t('settings.smsPreviewHint')}</p>
        </div>
      )}
    </div>
  );
}
