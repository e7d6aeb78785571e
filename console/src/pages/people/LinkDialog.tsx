// The dialog to create a link with which a person sets a password: shown once, or emailed.
import { useState } from 'react';
import { api } from '../../api.ts';
import { useData } from '../../hooks/data.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { Button } from '../../ui/Button.tsx';
import { Copy } from '../../ui/Copy.tsx';
import { Dialog } from '../../ui/dialog/Dialog.tsx';
import { RadioField } from '../../ui/form/Field.tsx';
import { Form, useForm } from '../../ui/form/Form.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { useToast } from '../../ui/floating/Toast.tsx';
import { nameOf } from './names.ts';
import css from './people.module.css';
import type { SelectedPerson } from './PersonDialogs.tsx';

type DialogProps = { person: SelectedPerson; onClose: () => void };
type Made = { link: string; until: string };

export function LinkDialog({ person, onClose }: DialogProps) {
  const [made, setMade] = useState<Made>();
  return made ? (
    <MadeDialog made={made} onClose={onClose} />
  ) : (
    <MakeDialog person={person} onClose={onClose} onMade={setMade} />
  );
}

function MakeDialog({ person, onClose, onMade }: DialogProps & { onMade: (made: Made) => void }) {
  const t = useText();
  const toast = useToast();
  const { data: fields } = useData('GET /users/fields');
  const canMail = fields?.canMail ?? false;
  // The service refuses to show it, so that no administrator can sign in as another.
  const isMailOnly = canMail && person.role === 'Administrator';
  const form = useForm({
    initial: { by: 'screen' as 'screen' | 'mail' },
    warn: false,
    submit: ({ by }) =>
      api('POST /users/{userId}/sign-in-link', {
        params: { userId: person.id },
        body: { by: isMailOnly ? 'mail' : by },
      }),
    onDone: ({ link, until }) => {
      if (link !== null) return onMade({ link, until });
      onClose();
      toast({ text: t('people.linkMailed', { email: person.email ?? '' }) });
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('people.linkTitle', { name: nameOf(person) })}
      description={t('people.linkText')}
    >
      <Form
        form={form}
        actions={
          <>
            <Button onClick={onClose}>{t('action.cancel')}</Button>
            <Button type="submit" kind="primary" busy={form.busy}>
              {t(isMailOnly || form.values.by === 'mail' ? 'people.linkSend' : 'people.linkMake')}
            </Button>
          </>
        }
      >
        <RadioField
          label={t('people.linkBy')}
          {...form.field('by')}
          {...(isMailOnly && { value: 'mail' as const })}
          options={[
            {
              value: 'screen',
              label: t('people.linkByScreen'),
              hint: t(isMailOnly ? 'people.linkByMailOnly' : 'people.linkByScreenHint'),
              disabled: isMailOnly,
            },
            {
              value: 'mail',
              label: t('people.linkByMail', { email: person.email ?? '' }),
              hint: t(
                isMailOnly
                  ? 'people.linkByMailHintAdministrator'
                  : canMail
                    ? 'people.linkByMailHint'
                    : 'people.linkNoMail',
              ),
              disabled: !canMail,
            },
          ]}
        />
      </Form>
    </Dialog>
  );
}

function MadeDialog({ made, onClose }: { made: Made; onClose: () => void }) {
  const t = useText();
  const { moment } = useFormat();
  return (
    <Dialog
      open
      stays
      onClose={onClose}
      title={t('people.linkMade')}
      actions={
        <Button kind="primary" onClick={onClose}>
          {t('people.linkDone')}
        </Button>
      }
    >
      <div className={css['stack']}>
        <Copy text={made.link} label={t('people.link')} />
        <Notice tone="warn">{t('people.linkOnce', { until: moment(made.until) })}</Notice>
      </div>
    </Dialog>
  );
}
