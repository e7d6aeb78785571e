// Checks that the receiver of traces can be reached and accepts them, by sending it an empty list.
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { TracingOptions } from '../../base/tracing/tracing-options.ts';
import { isLoopback } from '../../base/messages/smtp.ts';
import { type Finding, reportOn } from '../findings.ts';

const { ok, warning, problem } = reportOn('traces');

/** Checks the receiver of traces, in at most `ms`. */
export async function checkTracing(options: TracingOptions | undefined, ms: number): Promise<Finding[]> {
  if (!options) return [ok('off', 'Nothing is traced: OTEL_EXPORTER_OTLP_ENDPOINT is not set.')];
  const { protocol, hostname, host } = new URL(options.url);
  const isPlain = protocol === 'http:' && !isLoopback(hostname) && Object.keys(options.headers).length > 0;
  return [
    await sendNothing(options, ms).then(
      (status) => ofStatus(status, host),
      (error: unknown) => ofError(error as NodeJS.ErrnoException, host),
    ),
    ...(isPlain
      ? [
          warning(
            'plain',
            `OTEL_EXPORTER_OTLP_HEADERS is sent to ${host} unencrypted. Use an address that begins with https:.`,
          ),
        ]
      : []),
  ];
}

/** Sends an empty list of spans. Returns the status of the response. */
function sendNothing({ url, isJson, headers, tls }: TracingOptions, ms: number): Promise<number> {
  const body = isJson ? '{}' : '';
  const type = isJson ? 'application/json' : 'application/x-protobuf';
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sending = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': type, 'content-length': body.length },
      agent: false,
      timeout: ms,
      ...tls,
    });
    sending.on('timeout', () => sending.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
    sending.on('error', reject);
    sending.on('response', (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    sending.end(body);
  });
}

function ofStatus(status: number, host: string): Finding {
  if (status >= 200 && status < 300) return ok('accepted', `The receiver of traces at ${host} accepts them.`);
  const remedy =
    status === 401 || status === 403
      ? 'Check OTEL_EXPORTER_OTLP_HEADERS.'
      : status === 404 || status === 405
        ? 'Check the address: /v1/traces is added to OTEL_EXPORTER_OTLP_ENDPOINT, and nothing to OTEL_EXPORTER_OTLP_TRACES_ENDPOINT.'
        : 'Its log says why.';
  return problem('refused', `The receiver of traces at ${host} responds with HTTP ${status}. ${remedy}`);
}

function ofError({ code, message }: NodeJS.ErrnoException, host: string): Finding {
  if (/CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code ?? ''))
    return problem(
      'certificate',
      `The certificate of the receiver of traces at ${host} can’t be verified (${code}). Set OTEL_EXPORTER_OTLP_CERTIFICATE to the certificates to check it against.`,
    );
  return problem(
    'unreachable',
    `The receiver of traces at ${host} can’t be reached (${code ?? message}). Start it, or correct OTEL_EXPORTER_OTLP_ENDPOINT. It must accept OTLP over HTTP (usually port 4318), not gRPC (usually port 4317).`,
  );
}
