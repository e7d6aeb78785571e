// Signs requests as described by Standard Webhooks: the receiver can verify that a request comes from this service, and is recent. Pure.
import { createHmac } from 'node:crypto';

/** Returns the headers of a signed request. `now`: ms since 1970. */
export function signatureHeaders(
  key: Buffer,
  { id, body, now }: { id: string; body: string; now: number },
): Record<string, string> {
  const seconds = String(Math.floor(now / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` };
}
