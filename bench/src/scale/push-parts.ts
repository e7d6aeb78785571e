// Sends a push in parts to the service, and waits for its result.
import { everyLimit } from '@soundings/contract/limits.ts';
import type { Push } from '@soundings/contract/people/push-parts.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchAccount, Service } from '../measuring/service.ts';

/** The settings of a push that is applied whatever it changes. */
export const allowingAll = { validateOnly: false, ...everyLimit(1_000_000) };

/** Sends these parts and commits them. Throws if they are not applied. Returns the milliseconds, without those that `parts` takes. */
export async function pushParts(
  { address }: Service,
  { token }: BenchAccount,
  parts: Iterable<Buffer>,
): Promise<{ ms: number; sending: number; push: Push }> {
  const send = async <T>(method: string, path: string, body?: Buffer | string): Promise<T> => {
    const response = await fetch(`${address}/v1/organization/pushes${path}`, {
      method,
      headers: { authorization: token, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: body as string }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
    return JSON.parse(text) as T;
  };
  let [ms, count] = [0, 0];
  const timedSend: typeof send = async (...sent) => {
    const start = performance.now();
    try {
      return await send(...sent);
    } finally {
      ms += performance.now() - start;
    }
  };
  const { id } = await timedSend<Push>('POST', '');
  for (const part of parts) await timedSend('PUT', `/${id}/parts/${++count}`, part);
  const sending = ms;
  await timedSend('POST', `/${id}/commit`, JSON.stringify({ parts: count, settings: allowingAll }));
  const start = performance.now();
  let push = await send<Push>('GET', `/${id}`);
  for (; push.state === 'processing'; push = await send('GET', `/${id}`)) await sleep(50); // reads the state again later
  ms += performance.now() - start;
  if (push.state !== 'applied')
    throw new Error(`The push was not applied: ${JSON.stringify(push.run).slice(0, 500)}`);
  return { ms, sending, push };
}
