// What requests to the service get: at its own port and at PUBLIC_URL. Sends no credentials, follows no redirect, and accepts any certificate
// only on the service's own port.
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { PublicAnswer } from './proxy-check.ts';

/** The status and the beginning of the body, or why there is none. */
type Got = { status: number; body: string } | { error: string };

/** How much of a body is read, in bytes. */
const bodyLimit = 2000;

/** Sends a GET request. Ends within `ms`. */
export function get(address: string, ms: number, rejectUnauthorized = true): Promise<Got> {
  const signal = AbortSignal.timeout(ms);
  const request = address.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) =>
      resolve({
        error: signal.aborted ? `no response within ${ms / 1000} s` : (error.code ?? error.message),
      });
    const headers = { accept: 'application/json' };
    const sent = request(address, { agent: false, headers, rejectUnauthorized, signal }, (response) => {
      let body = '';
      const end = () => {
        resolve({ status: response.statusCode ?? 0, body: body.slice(0, bodyLimit) });
        sent.destroy();
      };
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
        if (body.length >= bodyLimit) end();
      });
      response.once('end', end).once('error', fail);
    });
    sent.once('error', fail).end();
  });
}

/** Returns whether a response to /health/live is that of Soundings. */
const isLive = (got: Got): boolean => 'body' in got && /^\{"status":"live"\}$/.test(got.body.trim());

/** Returns whether Soundings responds at an address of this machine. */
export const isSoundingsAt = async (address: string, ms: number): Promise<boolean> =>
  isLive(await get(`${address}/health/live`, ms, false));

/** Sends requests to PUBLIC_URL, all at the same time, so that together they end within `ms`. */
export async function askPublicUrl(publicUrl: string, ms: number): Promise<PublicAnswer> {
  const paths = ['/health/live', '/health/ready', '/metrics', '/'];
  const [live, ready, metrics, page] = (await Promise.all(
    paths.map((path) => get(publicUrl + path, ms)),
  )) as [Got, Got, Got, Got];
  if ('error' in live) return live;
  const statusOf = (got: Got) => ('status' in got ? got.status : 0);
  return {
    live: live.status,
    isOurs: isLive(live),
    ready: statusOf(ready),
    isMetricsPublic: 'body' in metrics && metrics.status === 200 && metrics.body.includes('soundings_'),
    isPlainHttpRefused:
      'body' in page && page.status === 403 && page.body.includes('Plain HTTP is not accepted here'),
  };
}
