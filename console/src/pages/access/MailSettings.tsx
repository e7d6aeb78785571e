// The email section of the settings: the sender, who is notified, and a test that shows what is wrong and how to fix it.
import {
  findingText,
  hasProblem,
  type MailFinding,
  type MailOutcome,
} from '@soundings/contract/console/mail-findings.ts';
import { Mail } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useAction } from '../../hooks/action.ts';
import { useText } from '../../text/text.tsx';
import { Badge, type Tone } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { useErrorText } from '../../ui/faults.ts';
import { CheckboxField, TextField } from '../../ui/form/Field.tsx';
import { DescriptionList } from '../../ui/page/DescriptionList.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { Section } from '../../ui/page/Section.tsx';
import css from './access.module.css';
import { DigestFields } from './DigestFields.tsx';
import type { SettingsForm } from './settings-form.ts';

export function MailSettings({ form, mailFrom }: { form: SettingsForm; mailFrom: string | null }) {
  const t = useText();
  return (
    <Section title={t('settings.mail')}>
      <div className={css['fields']}>
        {mailFrom === null ? (
          <Notice tone="warn">{t('settings.mailOff')}</Notice>
        ) : (
          <>
            <DescriptionList items={[[t('settings.mailFrom'), <code key="from">{mailFrom}</code>]]} />
            <TestMail />
          </>
        )}
        <TextField
          label={t('settings.notify')}
          hint={t('settings.notifyHint')}
          multiline={4}
          optional
          {...form.field('notify')}
        />
        <CheckboxField label={t('settings.notifySuccess')} {...form.field('notifySuccess')} />
        <DigestFields form={form} />
      </div>
    </Section>
  );
}

type Result = { to: string; findings: MailFinding[] };

function TestMail() {
  const t = useText();
  const errorText = useErrorText();
  const { busy, error, run } = useAction();
  const [result, setResult] = useState<Result>();
  const send = async () => {
    setResult(undefined);
    setResult(await api('POST /settings/test-mail'));
  };
  return (
    <div className={css['mailTest']}>
      <div>
        <Button icon={Mail} busy={busy} onClick={() => run(send)}>
          {t('settings.testMail')}
        </Button>
        <p className={css['soft']}>{t('settings.testMailHint')}</p>
      </div>
      {error !== undefined && (
        <Notice tone="bad" live>
          {errorText(error)}
        </Notice>
      )}
      {result && <MailTestResult {...result} />}
    </div>
  );
}

const tones: Record<MailOutcome, Tone> = { ok: 'good', note: 'warn', problem: 'bad' };

function MailTestResult({ to, findings }: { to: string; findings: MailFinding[] }) {
  const t = useText();
  const hasNotes = findings.some(({ outcome }) => outcome === 'note');
  return (
    <>
      {hasProblem(findings) ? (
        <Notice tone="bad" live>
          {t('settings.testMailFailed')}
        </Notice>
      ) : (
        <Notice tone={hasNotes ? 'warn' : 'good'} live>
          {t(hasNotes ? 'settings.testMailNotes' : 'settings.testMailSent', { to })}
        </Notice>
      )}
      <ol className={css['findings']} aria-label={t('settings.testMailResult')}>
        {findings.map((one) => (
          <li key={`${one.step} ${one.code}`}>
            <b>{t(`mailCheck.step.${one.step}`)}</b>
            <Badge tone={tones[one.outcome]} dot>
              {t(`mailCheck.outcome.${one.outcome}`)}
            </Badge>
            <p>{findingText(one, t)}</p>
          </li>
        ))}
      </ol>
    </>
  );
}
