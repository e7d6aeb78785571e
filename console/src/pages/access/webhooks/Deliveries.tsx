// The delivery log of an endpoint: what was sent, what came back, and when the next attempt is.
import type { DeliveryRow, EndpointView } from '@soundings/contract/webhooks/endpoints.ts';
import { RotateCw, Send } from 'lucide-react';
import { useEffect } from 'react';
import { api } from '../../../api.ts';
import { useAddress, useRefresh } from '../../../hooks/data.ts';
import { useOnce } from '../../../hooks/once.ts';
import { useWindows } from '../../../hooks/windows.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Button, IconButton } from '../../../ui/Button.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import type { Column } from '../../../ui/table/DataTable.tsx';
import { LazyTable } from '../../../ui/table/LazyTable.tsx';
import { aboutText, DeliveryState, eventText, resultText } from './texts.tsx';
import css from '../access.module.css';

const states = ['waiting', 'sent', 'failed'] as const;

export function Deliveries({ endpoint }: { endpoint: EndpointView }) {
  const t = useText();
  const [{ state }, change] = useAddress<'state'>();
  const sent = { params: { endpointId: endpoint.id }, query: { state } as object };
  const windows = useWindows('GET /webhooks/{endpointId}/deliveries', sent);
  useLive(endpoint.waiting > 0 && endpoint.turnedOff === null);
  const sendAgain = useSendAgain(endpoint);
  const { busy, once } = useOnce();
  return (
    <Section
      flush
      title={t('webhooks.deliveries')}
      description={t('webhooks.deliveriesText')}
      actions={
        <>
          <Select
            label={t('webhooks.state')}
            value={state ?? ''}
            onChange={(value) => change({ state: value })}
            options={[
              { value: '', label: t('webhooks.anyState') },
              ...states.map((value) => ({ value, label: t(`webhooks.delivery.${value}`) })),
            ]}
          />
          {endpoint.failed > 0 && (
            <Button icon={RotateCw} busy={busy} onClick={() => once(() => sendAgain(null))}>
              {t('webhooks.sendFailed', { count: endpoint.failed })}
            </Button>
          )}
        </>
      }
    >
      <LazyTable
        label={t('webhooks.deliveries')}
        columns={useColumns(sendAgain)}
        windows={windows}
        rowKey={({ id }) => id}
        rowHeight={60}
        empty={
          <Empty
            icon={Send}
            title={t(state ? 'webhooks.noneFound' : 'webhooks.noneTitle')}
            text={t(state ? 'webhooks.noneFoundText' : 'webhooks.noneText')}
          />
        }
      />
    </Section>
  );
}

/** Refetches every two seconds while something waits. */
function useLive(isUnderWay: boolean): void {
  const refresh = useRefresh();
  useEffect(() => {
    if (!isUnderWay) return undefined;
    const request = () => void refresh('GET /webhooks/{endpointId}', 'GET /webhooks/{endpointId}/deliveries');
    const timer = setInterval(request, 2000);
    return () => {
      clearInterval(timer);
      request();
    };
  }, [isUnderWay, refresh]);
}

/** Returns a function that sends a delivery again, or all that have failed (null). */
function useSendAgain({ id }: EndpointView) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  return async (deliveryId: number | null) => {
    const params = { endpointId: id };
    const { count } = await api('POST /webhooks/{endpointId}/send-again', { params, body: { deliveryId } });
    await refresh('GET /webhooks/{endpointId}', 'GET /webhooks/{endpointId}/deliveries');
    toast({ text: t('webhooks.queued', { count }) });
  };
}

type SendAgain = ReturnType<typeof useSendAgain>;

/** Each row has its own, so that sending one delivery doesn't keep the others from being sent. */
function AgainButton({ id, sendAgain }: { id: number; sendAgain: SendAgain }) {
  const t = useText();
  const { busy, once } = useOnce();
  const send = () => once(() => sendAgain(id));
  return <IconButton icon={RotateCw} label={t('webhooks.sendAgain')} busy={busy} onClick={send} />;
}

function useColumns(sendAgain: SendAgain): Column<DeliveryRow>[] {
  const t = useText();
  const { time } = useFormat();
  return [
    {
      key: 'event',
      title: t('webhooks.event'),
      width: 'minmax(104px, 1.6fr)',
      cell: ({ type, subject }) => (
        <span className={css['two']} title={aboutText(t, subject)}>
          <b>{eventText(t, type)}</b>
          <small>{aboutText(t, subject)}</small>
        </span>
      ),
    },
    {
      key: 'state',
      title: t('webhooks.state'),
      width: 'minmax(136px, 0.9fr)',
      cell: (delivery) => (
        <span className={css['two']}>
          <DeliveryState {...delivery} />
          <small>{resultText(t, delivery)}</small>
        </span>
      ),
    },
    {
      key: 'at',
      title: t('webhooks.occurred'),
      width: 'minmax(150px, 1fr)',
      wideOnly: true,
      cell: ({ occurredAt }) => <span className={css['time']}>{time(occurredAt)}</span>,
    },
    {
      key: 'attempts',
      title: t('webhooks.attempts'),
      width: 'minmax(160px, 1.2fr)',
      wideOnly: true,
      cell: (delivery) => <Attempts {...delivery} />,
    },
    {
      key: 'again',
      title: t('webhooks.sendAgain'),
      hideTitle: true,
      width: 48,
      align: 'end',
      cell: ({ id }) => <AgainButton id={id} sendAgain={sendAgain} />,
    },
  ];
}

function Attempts({ attempts, lastAttemptAt, nextAttemptAt }: DeliveryRow) {
  const t = useText();
  const { time } = useFormat();
  return (
    <span className={css['two']}>
      <span>{t('webhooks.attemptCount', { count: attempts })}</span>
      <small>
        {nextAttemptAt !== null && attempts > 0
          ? t('webhooks.next', { time: time(nextAttemptAt) })
          : lastAttemptAt !== null && t('webhooks.last', { time: time(lastAttemptAt) })}
      </small>
    </span>
  );
}
