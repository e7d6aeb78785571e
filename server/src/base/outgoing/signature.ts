// Signs requests as described by Standard Webhooks: the receiver can verify that a request comes from this service, and is recent. Pure.
import { createHmac } from 'node:crypto';

/**
 * Returns the headers of a signed request. `keys`: while a key is being replaced, the new and the previous one, so that the receiver can
 * check with either. `now`: ms since 1970.
 */
export function signatureHeaders(
  keys: readonly Uint8Array[],
  { id, body, now }: { id: string; body: string; now: number },
): Record<string, string> {
  const seconds = String(Math.floor(now / 1000));
  const signatures = keys.map((key) => {
    const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
    return `v1,${signature}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') };
}
