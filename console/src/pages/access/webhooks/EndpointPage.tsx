// A webhook endpoint: what it receives, whether it takes it, and everything that was sent to it in the last 30 days.
import type { EndpointView } from '@soundings/contract/webhooks/endpoints.ts';
import { deliveryDays } from '@soundings/contract/webhooks/events.ts';
import { useNavigate, useParams } from '@tanstack/react-router';
import { KeyRound, Pencil, Power, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useOnce } from '../../../hooks/once.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { Menu } from '../../../ui/floating/Menu.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import { DescriptionList } from '../../../ui/page/DescriptionList.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded, PageSkeleton } from '../../../ui/page/States.tsx';
import { Deliveries } from './Deliveries.tsx';
import { EditEndpoint, ShownSecret } from './EndpointForm.tsx';
import { EndpointState, eventText, hostOf } from './texts.tsx';
import css from './webhooks.module.css';

export function EndpointPage() {
  const t = useText();
  const { endpointId } = useParams({ strict: false }) as { endpointId: string };
  const response = useData('GET /webhooks/{endpointId}', { params: { endpointId } }, { everyMs: 5_000 });
  const crumbs = [{ label: t('webhooks.title'), to: '/webhooks' }];
  return (
    <Loaded response={response} skeleton={<PageSkeleton crumbs={crumbs} />}>
      {(endpoint) => (
        <Page
          title={endpoint.description || hostOf(endpoint.url)}
          crumbs={crumbs}
          subtitle={<EndpointState {...endpoint} />}
          actions={<Actions endpoint={endpoint} />}
        >
          <Facts endpoint={endpoint} />
          <Deliveries endpoint={endpoint} />
        </Page>
      )}
    </Loaded>
  );
}

/** Returns a function that turns the endpoint on or off. */
function useSwitch({ id }: EndpointView) {
  const refresh = useRefresh();
  return async (isOn: boolean) => {
    await api('PATCH /webhooks/{endpointId}', { params: { endpointId: id }, body: { isOn } });
    await refresh('GET /webhooks', 'GET /webhooks/{endpointId}', 'GET /webhooks/{endpointId}/deliveries');
  };
}

function Actions({ endpoint }: { endpoint: EndpointView }) {
  const t = useText();
  const [open, setOpen] = useState<'edit' | 'rotate' | 'off' | 'remove'>();
  const [secret, setSecret] = useState<string>();
  const close = () => setOpen(undefined);
  const isOn = endpoint.turnedOff === null;
  return (
    <>
      {isOn && <TestButton endpoint={endpoint} />}
      <Button icon={Pencil} onClick={() => setOpen('edit')}>
        {t('webhooks.edit')}
      </Button>
      <Menu
        label={t('webhooks.more')}
        items={[
          { label: t('webhooks.rotate'), icon: KeyRound, onSelect: () => setOpen('rotate') },
          isOn && { label: t('webhooks.turnOff'), icon: Power, onSelect: () => setOpen('off') },
          'line',
          { label: t('webhooks.remove'), icon: Trash2, danger: true, onSelect: () => setOpen('remove') },
        ]}
      />
      {open === 'edit' && <EditEndpoint endpoint={endpoint} onClose={close} />}
      {open === 'rotate' && <Rotating endpoint={endpoint} onClose={close} onSecret={setSecret} />}
      {secret !== undefined && (
        <ShownSecret
          title={t('webhooks.rotatedTitle')}
          text={t('webhooks.rotatedText')}
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
      {open === 'off' && <TurningOff endpoint={endpoint} onClose={close} />}
      {open === 'remove' && <Removing endpoint={endpoint} onClose={close} />}
    </>
  );
}

function TestButton({ endpoint: { id } }: { endpoint: EndpointView }) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  const { busy, once } = useOnce();
  const send = async () => {
    await api('POST /webhooks/{endpointId}/test', { params: { endpointId: id } });
    await refresh('GET /webhooks/{endpointId}', 'GET /webhooks/{endpointId}/deliveries');
    toast({ text: t('webhooks.testSent') });
  };
  return (
    <Button icon={Send} busy={busy} onClick={() => once(send)}>
      {t('webhooks.test')}
    </Button>
  );
}

function Facts({ endpoint }: { endpoint: EndpointView }) {
  const t = useText();
  const { time, day } = useFormat();
  const { url, events, createdAt, createdBy, previousUntil } = endpoint;
  return (
    <Section title={t('webhooks.endpoint')}>
      <div className={css['facts']}>
        <OffNotice endpoint={endpoint} />
        <DescriptionList
          items={[
            [t('webhooks.url'), <code key="url">{url}</code>],
            [
              t('webhooks.events'),
              <ul key="events" className={css['events']}>
                {events.map((type) => (
                  <li key={type}>{eventText(t, type)}</li>
                ))}
              </ul>,
            ],
            [t('webhooks.created'), [day(createdAt), createdBy].filter(Boolean).join(', ')],
            [
              t('webhooks.previousSecret'),
              previousUntil === null ? undefined : t('webhooks.usedUntil', { time: time(previousUntil) }),
            ],
          ]}
        />
      </div>
    </Section>
  );
}

/** Says that nothing arrives, why, and what to do. */
function OffNotice({ endpoint }: { endpoint: EndpointView }) {
  const t = useText();
  const { time } = useFormat();
  const turn = useSwitch(endpoint);
  const { busy, once } = useOnce();
  const { turnedOff, failingSince } = endpoint;
  if (turnedOff === null)
    return (
      failingSince !== null && (
        <Notice tone="warn" title={t('webhooks.failingTitle', { time: time(failingSince) })}>
          {t('webhooks.failingText')}
        </Notice>
      )
    );
  return (
    <Notice
      tone={turnedOff === 'user' ? 'neutral' : 'bad'}
      title={t(`webhooks.offTitle.${turnedOff}`)}
      actions={
        <Button busy={busy} onClick={() => once(() => turn(true))}>
          {t('webhooks.turnOn')}
        </Button>
      }
    >
      {t('webhooks.offText', { days: deliveryDays })}
    </Notice>
  );
}

type DialogProps = { endpoint: EndpointView; onClose: () => void };

function Rotating({
  endpoint: { id },
  onClose,
  onSecret,
}: DialogProps & { onSecret: (secret: string) => void }) {
  const t = useText();
  const refresh = useRefresh();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('webhooks.rotateTitle')}
      text={<p>{t('webhooks.rotateText')}</p>}
      confirm={t('webhooks.rotate')}
      onConfirm={async () => {
        const rotated = await api('POST /webhooks/{endpointId}/rotate', { params: { endpointId: id } });
        await refresh('GET /webhooks/{endpointId}');
        onSecret(rotated.secret);
      }}
    />
  );
}

function TurningOff({ endpoint, onClose }: DialogProps) {
  const t = useText();
  const turn = useSwitch(endpoint);
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('webhooks.turnOffTitle')}
      text={<p>{t('webhooks.offText', { days: deliveryDays })}</p>}
      confirm={t('webhooks.turnOff')}
      onConfirm={async () => {
        await turn(false);
        return t('webhooks.turnedOff');
      }}
    />
  );
}

function Removing({ endpoint: { id, waiting }, onClose }: DialogProps) {
  const t = useText();
  const refresh = useRefresh();
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      danger
      onClose={onClose}
      title={t('webhooks.removeTitle')}
      text={<p>{t('webhooks.removeText', { count: waiting })}</p>}
      confirm={t('webhooks.remove')}
      onConfirm={async () => {
        await api('DELETE /webhooks/{endpointId}', { params: { endpointId: id } });
        await navigate({ to: '/webhooks' });
        await refresh('GET /webhooks');
        return t('webhooks.removed');
      }}
    />
  );
}
