// Requires single sign-on, and chooses the break-glass administrators, who can still sign in with a password.
import type { SingleSignOn } from '@soundings/contract/console/sign-on/single-sign-on.ts';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { CheckboxField, SwitchField } from '../../../ui/form/Field.tsx';
import { Form, useForm } from '../../../ui/form/Form.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import css from '../access.module.css';

export function RequiredSignOn({ required, administrators }: SingleSignOn) {
  const t = useText();
  const refresh = useRefresh();
  const toast = useToast();
  const form = useForm({
    initial: { required, breakGlass: administrators.filter(({ isChosen }) => isChosen).map(({ id }) => id) },
    submit: (body) => api('PUT /sso/required', { body }),
    onDone: async () => {
      await refresh('GET /sso');
      toast({ text: t('signOn.requiredSaved') });
    },
  });
  const { value: chosen, onChange, error } = form.field('breakGlass');
  return (
    <Section title={t('signOn.required')} description={t('signOn.requiredText')}>
      <Form
        form={form}
        actions={
          <Button type="submit" kind="primary" busy={form.busy}>
            {t('signOn.save')}
          </Button>
        }
      >
        {required && chosen.length === 0 && <Notice tone="bad">{t('signOn.noBreakGlass')}</Notice>}
        <SwitchField label={t('signOn.requiredField')} {...form.field('required')} />
        <fieldset className={css['choices']}>
          <legend>{t('signOn.breakGlass')}</legend>
          {administrators.map(({ id, name, email, hasPassword, hasTwoFactor, isChosen }) => (
            <CheckboxField
              key={id}
              label={name}
              hint={
                hasPassword && hasTwoFactor
                  ? (email ?? '')
                  : t(hasPassword ? 'signOn.needsTwoFactor' : 'signOn.needsPassword')
              }
              disabled={!(hasPassword && hasTwoFactor) && !isChosen}
              value={chosen.includes(id)}
              onChange={(is) => onChange(is ? [...chosen, id] : chosen.filter((one) => one !== id))}
            />
          ))}
          {error !== undefined && (
            <p role="alert" className={css['wrong']}>
              {error}
            </p>
          )}
        </fieldset>
      </Form>
    </Section>
  );
}
