// Your details, language and time zone. Fields that the HR system manages are locked, except for the language.
import type { Profile } from '@soundings/contract/console/session.ts';
import { useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useLanguageNames } from '../../../text/languages.ts';
import { useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { DescriptionList } from '../../../ui/page/DescriptionList.tsx';
import { FieldRow, Form, useForm } from '../../../ui/form/Form.tsx';
import { Locked } from '../../../ui/Locked.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import css from './Profile.module.css';
import { TimezoneField } from '../TimezoneField.tsx';
import { LanguageField } from '../LanguageField.tsx';

export function Person({ profile }: { profile: Profile }) {
  const t = useText();
  const { firstName, lastName, email, role, managed, account } = profile;
  const locked = managed && <Locked reason={t('profile.managed')} />;
  const name = `${firstName} ${lastName}`.trim();
  const of = (own: string | null, ofAccount: string) => own ?? t('profile.asCompany', { value: ofAccount });
  return (
    <Section title={t('profile.you')} description={account.name}>
      <DescriptionList
        items={[
          [
            t('profile.name'),
            <span key="name" className={css['locked']}>
              {name || '–'} {locked}
            </span>,
          ],
          [
            t('session.email'),
            <span key="email" className={css['locked']}>
              {email ?? '–'} {locked}
            </span>,
          ],
          [t('profile.role'), `${t(`role.${role}`)}: ${t(`profile.role.${role}`)}`],
          ...(managed
            ? ([
                [
                  t('session.timezone'),
                  <span key="timezone" className={css['locked']}>
                    {of(profile.timezone, account.timezone)} {locked}
                  </span>,
                ],
              ] as [string, React.ReactNode][])
            : []),
        ]}
      />
      <OwnForm key={`${profile.language} ${profile.timezone}`} profile={profile} />
    </Section>
  );
}

function OwnForm({ profile: { language, timezone, managed, account } }: { profile: Profile }) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  const queries = useQueryClient();
  const { nameOf } = useLanguageNames();
  const form = useForm({
    initial: { language: language ?? '', timezone: timezone ?? '' },
    submit: (values) =>
      api('PATCH /profile', {
        body: { language: values.language || null, timezone: values.timezone || null },
      }),
    onDone: async (saved) => {
      queries.setQueryData(['GET /profile', undefined], saved);
      toast({ text: t('profile.saved') });
      await refresh('GET /session', 'GET /profile/weeks');
    },
  });
  const { error, ...languageField } = form.field('language');
  return (
    <Form
      form={form}
      actions={
        form.isDirty && (
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              {t('action.save')}
            </Button>
            <Button onClick={() => form.reset()}>{t('action.cancel')}</Button>
          </>
        )
      }
    >
      <FieldRow>
        <LanguageField
          {...languageField}
          {...(error !== undefined && { error })}
          label={t('profile.language')}
          hint={t('profile.languageHint')}
          first={t('profile.asCompany', { value: nameOf(account.language) })}
          inherited={account.language}
        />
        {!managed && (
          <TimezoneField
            {...form.field('timezone')}
            label={t('session.timezone')}
            hint={t('profile.timezoneHint', { value: account.timezone })}
            placeholder={account.timezone}
          />
        )}
      </FieldRow>
    </Form>
  );
}
