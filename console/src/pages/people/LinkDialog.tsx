// The dialog to create a link with which a person sets a password: shown once, or emailed.
import { useState } from 'react';
import { api } from '../../api.ts';
import { useData } from '../../hooks/data.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { Copy } from '../../ui/Copy.tsx';
import { ShownOnceDialog } from '../../ui/dialog/ShownOnceDialog.tsx';
import { FormDialog } from '../../ui/dialog/FormDialog.tsx';
import { RadioField } from '../../ui/form/Field.tsx';
import { useForm } from '../../ui/form/Form.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { useToast } from '../../ui/floating/Toast.tsx';
import { linkKindOf, type SelectedPerson, usePeopleRefresh } from './actions.ts';
import { personName } from './names.ts';
import css from './people.module.css';

type DialogProps = { person: SelectedPerson; onClose: () => void };
const titles = {
  invite: 'people.inviteTitle',
  remind: 'people.remindTitle',
  link: 'people.linkTitle',
} as const;
const confirms = {
  invite: 'people.inviteConfirm',
  remind: 'people.remindConfirm',
  link: 'people.linkSend',
} as const;

type CreatedLink = { link: string; until: string };

export function LinkDialog({ person, onClose }: DialogProps) {
  const [created, setCreated] = useState<CreatedLink>();
  return created ? (
    <CreatedDialog created={created} onClose={onClose} />
  ) : (
    <CreateDialog person={person} onClose={onClose} onCreated={setCreated} />
  );
}

function CreateDialog({
  person,
  onClose,
  onCreated,
}: DialogProps & { onCreated: (created: CreatedLink) => void }) {
  const t = useText();
  const toast = useToast();
  const { data: fields } = useData('GET /users/fields');
  const canMail = fields?.canMail ?? false;
  // The service refuses to show it, so that no administrator can sign in as another.
  const isMailOnly = canMail && person.role === 'Administrator';
  const kind = linkKindOf(person);
  const isInvited = kind !== 'link';
  const usual = canMail && (isMailOnly || isInvited) ? 'mail' : 'screen';
  const refresh = usePeopleRefresh();
  const form = useForm({
    initial: { by: '' as '' | 'screen' | 'mail' },
    warn: false,
    submit: ({ by }) =>
      api('POST /users/{userId}/sign-in-link', {
        params: { userId: person.id },
        body: { by: by === '' || isMailOnly ? usual : by },
      }),
    onDone: async ({ link, until }) => {
      await refresh();
      if (link !== null) return onCreated({ link, until });
      onClose();
      const sent = isInvited ? 'people.invitationMailed' : 'people.linkMailed';
      toast({ text: t(sent, { email: person.email ?? '' }) });
    },
  });
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={t(titles[kind], { name: personName(person) })}
      description={t('people.linkText')}
      confirm={t((form.values.by || usual) === 'mail' || isMailOnly ? confirms[kind] : 'people.linkCreate')}
    >
      <RadioField
        label={t('people.linkBy')}
        {...form.field('by')}
        value={isMailOnly ? 'mail' : form.values.by || usual}
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
    </FormDialog>
  );
}

function CreatedDialog({ created, onClose }: { created: CreatedLink; onClose: () => void }) {
  const t = useText();
  const { time } = useFormat();
  return (
    <ShownOnceDialog onClose={onClose} title={t('people.linkCreated')} done={t('people.linkDone')}>
      <div className={css['stack']}>
        <Copy text={created.link} label={t('people.link')} />
        <Notice tone="warn">{t('people.linkOnce', { until: time(created.until) })}</Notice>
      </div>
    </ShownOnceDialog>
  );
}
