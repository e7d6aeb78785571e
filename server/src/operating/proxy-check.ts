// Checks PUBLIC_URL, TRUST_PROXY and TLS: whether they fit together, and what a request to PUBLIC_URL shows. Pure.
import { isLoopback } from '../base/messages/smtp.ts';
import { type Finding, reportOn } from './findings.ts';

const { ok, warning, problem } = reportOn('proxy');

export type AddressSettings = {
  host: string;
  publicUrl: string;
  /** Whether PUBLIC_URL is set. Otherwise `publicUrl` is the address that the service listens on. */
  isPublicUrlSet: boolean;
  hasTls: boolean;
  trustProxy: readonly string[];
};

/** Checks the settings alone. */
export function checkAddressSettings(settings: AddressSettings): Finding[] {
  const { host, publicUrl, isPublicUrlSet, hasTls, trustProxy } = settings;
  const url = new URL(publicUrl);
  const publicHost = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const isHttps = url.protocol === 'https:';
  if (!isPublicUrlSet && !isLoopback(host))
    return [
      warning(
        'noPublicUrl',
        'PUBLIC_URL is not set, so links show the address that the service listens on. Set it to the address that people use.',
      ),
    ];
  if (!isPublicUrlSet && trustProxy.length > 0)
    return [
      warning('noPublicUrl', 'TRUST_PROXY is set but PUBLIC_URL is not. Set it to the address of the proxy.'),
    ];
  if (!isHttps && !isLoopback(publicHost))
    return [
      warning(
        'plainHttp',
        'PUBLIC_URL begins with http:, so passwords and answers cross the network unencrypted. Use HTTPS: set TLS_CERT_FILE, or put a proxy with a certificate in front.',
      ),
    ];
  if (isHttps && !hasTls && trustProxy.length === 0)
    return [
      warning(
        'noTrustProxy',
        'PUBLIC_URL begins with https:, but neither TLS_CERT_FILE nor TRUST_PROXY is set. Set TRUST_PROXY to the address of the proxy that serves HTTPS. Otherwise everyone seems to have the proxy’s address: rate limits apply to all together, and IP allowlists don’t work.',
      ),
    ];
  return [ok('settings', `PUBLIC_URL (${publicUrl}), TRUST_PROXY and TLS fit together.`)];
}

/**
 * What requests to PUBLIC_URL got: an error of the connection, or the status of `/health/live` and whether it is that of Soundings, the status of
 * `/health/ready`, whether `/metrics` can be read, and whether the service refused a page because it came over plain HTTP.
 */
export type PublicAnswer =
  | { error: string }
  | { live: number; isOurs: boolean; ready: number; isMetricsPublic: boolean; isPlainHttpRefused: boolean };

/**
 * Checks what is at PUBLIC_URL. `isDirect`: PUBLIC_URL leads to the service itself, not to a proxy. `isServiceRunning`: the service
 * answers on its own port.
 */
export function checkPublicAnswer(
  answer: PublicAnswer,
  {
    publicUrl,
    isDirect,
    isServiceRunning,
  }: { publicUrl: string; isDirect: boolean; isServiceRunning: boolean },
): Finding[] {
  if ('error' in answer) {
    if (!isServiceRunning)
      return [
        ok('notRunning', `No service is running, so nothing answers at ${publicUrl} (${answer.error}).`),
      ];
    return [
      warning(
        'unreachable',
        `The service is running, but ${publicUrl} can’t be reached from here (${answer.error}). Check DNS, the proxy and its certificate. If only this machine can’t reach it, ignore this.`,
      ),
    ];
  }
  const { live, isOurs, ready, isMetricsPublic, isPlainHttpRefused } = answer;
  if (live >= 300 && live < 400)
    return [
      warning('redirected', `${publicUrl} redirects to another address. Set PUBLIC_URL to that address.`),
    ];
  if (!isOurs)
    return [
      (isServiceRunning ? problem : warning)(
        'otherService',
        `${publicUrl} responds (status ${live}), but not with Soundings. Check that PUBLIC_URL is right, that the proxy forwards all paths, and that the service is running.`,
      ),
    ];
  return [
    isPlainHttpRefused
      ? problem(
          'proxyRefused',
          'The service refuses the requests of your proxy, because TRUST_PROXY doesn’t contain its address. The log has the address. Add it, and restart the service.',
        )
      : ok('answers', `${publicUrl} leads to Soundings.`),
    ...(ready === 200
      ? []
      : [
          problem(
            'notReady',
            `The service is not ready (status ${ready}). Look for errors in its log, and see the other lines here.`,
          ),
        ]),
    ...(isMetricsPublic && !isDirect
      ? [
          problem(
            'metricsPublic',
            `${publicUrl}/metrics can be read by everyone, because the service doesn’t notice the proxy: it seems that all requests come from this machine. Let the proxy set X-Forwarded-For, and set TRUST_PROXY to its address.`,
          ),
        ]
      : []),
  ];
}
