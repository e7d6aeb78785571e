// One sign-in provider: what to enter there, its test, and its actions.
import type { ProviderView } from '@soundings/contract/console/sign-on/single-sign-on.ts';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useProviderVisit } from '../../../hooks/provider-visit.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Copy } from '../../../ui/Copy.tsx';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { DescriptionList } from '../../../ui/page/DescriptionList.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Failed } from '../../../ui/page/States.tsx';
import { EditProvider } from './EditProvider.tsx';
import css from '../access.module.css';

export function Provider({ provider }: { provider: ProviderView }) {
  const t = useText();
  const refresh = useRefresh();
  const [doing, setDoing] = useState<'editing' | 'removing'>();
  const { id, name, enabled } = provider;
  const test = useProviderVisit({
    begin: async () =>
      (await api('POST /sso/providers/{providerId}/test', { params: { providerId: id } })).address,
    onReturn: () => void refresh('GET /sso'),
  });
  async function remove() {
    await api('DELETE /sso/providers/{providerId}', { params: { providerId: id } });
    await refresh('GET /sso');
    return t('signOn.removed', { name });
  }
  return (
    <Section
      title={name}
      description={
        <span className={css['badges']}>
          <Badge tone={enabled ? 'good' : 'neutral'} dot>
            {t(enabled ? 'signOn.isOn' : 'signOn.isOff')}
          </Badge>
        </span>
      }
      actions={
        <>
          <Button onClick={() => void test.visit()}>{t('signOn.test')}</Button>
          <Button onClick={() => setDoing('editing')}>{t('signOn.edit')}</Button>
          <Button kind="quiet" onClick={() => setDoing('removing')}>
            {t('signOn.remove')}
          </Button>
        </>
      }
    >
      {test.error !== undefined && <Failed error={test.error} />}
      <Addresses {...provider} />
      <Tested {...provider} />
      {doing === 'editing' && <EditProvider provider={provider} onClose={() => setDoing(undefined)} />}
      <ConfirmDialog
        open={doing === 'removing'}
        onClose={() => setDoing(undefined)}
        title={t('signOn.removeTitle', { name })}
        text={t('signOn.removeText', { count: provider.people })}
        confirm={t('signOn.removeConfirm')}
        danger
        onConfirm={remove}
      />
    </Section>
  );
}

function Addresses({ addresses, issuer, clientId, people }: ProviderView) {
  const t = useText();
  const copied = (
    key: 'redirect' | 'afterSignOut' | 'backChannel' | 'frontChannel',
  ): [string, React.ReactNode] => [
    t(`signOn.addresses.${key}`),
    <Copy key={key} text={addresses[key]} label={t(`signOn.addresses.${key}`)} />,
  ];
  return (
    <DescriptionList
      items={[
        copied('redirect'),
        copied('afterSignOut'),
        copied('backChannel'),
        copied('frontChannel'),
        [t('signOn.issuer'), <code key="issuer">{issuer}</code>],
        [t('signOn.clientId'), <code key="client">{clientId}</code>],
        [t('signOn.people'), t('signOn.peopleCount', { count: people })],
      ]}
    />
  );
}

/** The last test: whether the administrator could have signed in, and what the provider reported. */
function Tested({ lastTest, roleClaim, enabled }: ProviderView) {
  const t = useText();
  const format = useFormat();
  if (!lastTest) return <Notice tone="neutral">{t('signOn.notTested')}</Notice>;
  const { refusal, detail, email, isVerified, roleValues, role, hasTime, methods, at } = lastTest;
  const facts = [
    ...(detail === null ? [] : [t('signOn.testDetail', { detail })]),
    ...(email === null ? [] : [t(isVerified ? 'signOn.testVerified' : 'signOn.testUnverified', { email })]),
    ...(roleClaim === null || detail !== null
      ? []
      : [
          roleValues === null
            ? t('signOn.testNoClaim', { claim: roleClaim })
            : t('signOn.testRole', {
                values: roleValues.join(', ') || '–',
                role: t(`role.${role ?? 'User'}`),
              }),
        ]),
    ...(detail === null && !hasTime ? [t('signOn.testNoTime')] : []),
    ...(methods.length === 0 ? [] : [t('signOn.testMethods', { methods: methods.join(', ') })]),
  ];
  return (
    <Notice
      tone={refusal ? 'warn' : 'good'}
      live
      title={t(refusal ? 'signOn.testFailed' : 'signOn.testWorks', { time: format.time(at) })}
    >
      {refusal && <p>{t(`sso.refused.${refusal}`)}</p>}
      {facts.map((fact) => (
        <p key={fact}>{fact}</p>
      ))}
      {!refusal && !enabled && <p>{t('signOn.testNext')}</p>}
    </Notice>
  );
}
