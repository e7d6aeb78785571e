// How endpoints, deliveries and their errors are shown.
import type { DeliveryRow, EndpointSummary } from '@soundings/contract/webhooks/endpoints.ts';
import { type EventType, testEvent } from '@soundings/contract/webhooks/events.ts';
import { type Translator, useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';

export const hostOf = (url: string): string => URL.parse(url)?.host ?? url;

/** Whether an endpoint receives events, and if not, why. */
export function EndpointState({
  turnedOff,
  failingSince,
}: Pick<EndpointSummary, 'turnedOff' | 'failingSince'>) {
  const t = useText();
  if (turnedOff === 'user') return <Badge>{t('webhooks.off')}</Badge>;
  if (turnedOff !== null) return <Badge tone="bad">{t(`webhooks.off.${turnedOff}`)}</Badge>;
  if (failingSince !== null) return <Badge tone="warn">{t('webhooks.failing')}</Badge>;
  return <Badge tone="good">{t('webhooks.on')}</Badge>;
}

const tones = { waiting: 'neutral', sent: 'good', failed: 'bad' } as const;

export function DeliveryState({ state, attempts }: Pick<DeliveryRow, 'state' | 'attempts'>) {
  const t = useText();
  const isRetried = state === 'waiting' && attempts > 0;
  return (
    <Badge dot tone={isRetried ? 'warn' : tones[state]}>
      {t(isRetried ? 'webhooks.delivery.retried' : `webhooks.delivery.${state}`)}
    </Badge>
  );
}

export const eventText = (t: Translator, type: string): string =>
  type === testEvent ? t('webhooks.event.test') : t(`webhooks.event.${type as EventType}`);

type About = 'run' | 'file' | 'pull' | 'week' | 'token' | 'administrator' | 'test';

/** Returns what an event is about, such as "Run 019a…", from its subject. */
export function aboutText(t: Translator, subject: string): string {
  const [kind, id = ''] = subject.split(' ');
  return t(`webhooks.about.${kind as About}`, { id });
}

/** The error codes that have a text, by their text. Others are shown unchanged. */
const errors: Record<
  string,
  'timeout' | 'refused' | 'unknownHost' | 'forbidden' | 'secret' | 'reset' | 'certificate'
> = {
  ETIMEDOUT: 'timeout',
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'unknownHost',
  EAI_AGAIN: 'unknownHost',
  EFORBIDDENADDRESS: 'forbidden',
  ESECRET: 'secret',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
};

/** Returns what came back from the last attempt: the HTTP status, or why there was none. */
export function resultText(t: Translator, { status, error }: Pick<DeliveryRow, 'status' | 'error'>): string {
  if (status !== null) return `HTTP ${status}`;
  if (error === null) return '';
  const isCertificate = /CERT|SELF_SIGNED|LEAF_SIGNATURE|TLS/.test(error);
  const known = isCertificate ? 'certificate' : errors[error];
  return known ? t(`webhooks.error.${known}`) : error;
}
