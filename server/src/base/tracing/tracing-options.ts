// Reads the settings of traces (tracing-settings.ts). The libraries of OpenTelemetry get all values from here and never read the environment
// themselves, so that an invalid value is reported like that of any other setting.
import type { TracingSetting, tracingSettings } from './tracing-settings.ts';

export const samplers = ['always_on', 'always_off', 'traceidratio'] as const;

/** Where traces are sent, and how. */
export type TracingOptions = {
  url: string;
  /** Whether spans are sent as JSON instead of Protobuf. */
  isJson: boolean;
  headers: Record<string, string>;
  /** How long sending a batch may take, with all attempts, in ms. */
  timeoutMs: number;
  isCompressed: boolean;
  /** Certificates and keys (PEM). */
  tls: { ca?: string; cert?: string; key?: string };
  /** The attributes of this service, with its name. */
  resource: Record<string, string>;
  sampler: { of: (typeof samplers)[number]; share: number; followsParent: boolean };
  /** Times in ms, and numbers of spans. */
  batches: { delayMs: number; timeoutMs: number; waiting: number; size: number };
};

type Values = Record<(typeof tracingSettings)[number]['name'], string>;

/**
 * Returns how traces are sent, or undefined if nothing is traced. Adds what is wrong with the combination of the settings to `faults`.
 * `readFile` returns the content of the file that a setting names.
 */
export function tracingIn(
  value: Values,
  faults: string[],
  readFile: (setting: string, path: string) => string,
): TracingOptions | undefined {
  const endpoint = value.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || ofTraces(value.OTEL_EXPORTER_OTLP_ENDPOINT);
  const isOff = isTrue(value.OTEL_SDK_DISABLED) || value.OTEL_TRACES_EXPORTER === 'none';
  if (isOff || endpoint === '') return undefined;
  const [waiting, size] = [
    Number(value.OTEL_BSP_MAX_QUEUE_SIZE),
    Number(value.OTEL_BSP_MAX_EXPORT_BATCH_SIZE),
  ];
  if (size > waiting)
    faults.push('OTEL_BSP_MAX_EXPORT_BATCH_SIZE must not be larger than OTEL_BSP_MAX_QUEUE_SIZE.');
  const of = (name: 'PROTOCOL' | 'TIMEOUT' | 'COMPRESSION') =>
    value[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || value[`OTEL_EXPORTER_OTLP_${name}`];
  const resource = pairsIn(value.OTEL_RESOURCE_ATTRIBUTES);
  return {
    url: endpoint,
    isJson: of('PROTOCOL') === 'http/json',
    headers: {
      ...pairsIn(value.OTEL_EXPORTER_OTLP_HEADERS),
      ...pairsIn(value.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
    },
    timeoutMs: Number(of('TIMEOUT')),
    isCompressed: of('COMPRESSION') === 'gzip',
    tls: tlsIn(value, faults, readFile),
    resource: {
      ...resource,
      'service.name': value.OTEL_SERVICE_NAME || (resource?.['service.name'] ?? 'soundings'),
    },
    sampler: samplerIn(value),
    batches: {
      delayMs: Number(value.OTEL_BSP_SCHEDULE_DELAY),
      timeoutMs: Number(value.OTEL_BSP_EXPORT_TIMEOUT),
      waiting,
      size,
    },
  };
}

const isTrue = (text: string) => text.toLowerCase() === 'true';

/** Returns the address for traces of a receiver (the specification of OTLP says how). */
const ofTraces = (endpoint: string) => (endpoint === '' ? '' : `${endpoint.replace(/\/$/, '')}/v1/traces`);

function tlsIn(
  value: Values,
  faults: string[],
  readFile: (setting: string, path: string) => string,
): TracingOptions['tls'] {
  const [cert, key] = [value.OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE, value.OTEL_EXPORTER_OTLP_CLIENT_KEY];
  if ((cert === '') !== (key === ''))
    faults.push(
      'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY must be set together, but one is missing.',
    );
  const ofTracesOnly = value.OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE;
  const ca = ofTracesOnly || value.OTEL_EXPORTER_OTLP_CERTIFICATE;
  const caSetting = `OTEL_EXPORTER_OTLP_${ofTracesOnly ? 'TRACES_' : ''}CERTIFICATE`;
  return {
    ...(ca && { ca: readFile(caSetting, ca) }),
    ...(cert && { cert: readFile('OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE', cert) }),
    ...(key && { key: readFile('OTEL_EXPORTER_OTLP_CLIENT_KEY', key) }),
  };
}

function samplerIn(value: Values): TracingOptions['sampler'] {
  const name = value.OTEL_TRACES_SAMPLER;
  const base = name.replace(/^parentbased_/, '');
  const argument = value.OTEL_TRACES_SAMPLER_ARG;
  return {
    of: samplers.find((one) => one === base) ?? 'always_on',
    share: argument === '' ? 1 : Number(argument),
    followsParent: base !== name,
  };
}

/** Returns whether a kind is one of traces. */
export const isOfTracing = (kind: string): kind is TracingSetting['kind'] => kind.startsWith('otlp');

/** Returns what a setting of this kind must be, or undefined if the value is valid. */
export function expectedOfTracing(kind: TracingSetting['kind'], value: string): string | undefined {
  switch (kind) {
    case 'otlpUrl':
      return isReceiver(value)
        ? undefined
        : 'an address such as http://127.0.0.1:4318, without user and password';
    case 'otlpProtocol':
      return /^http\/(protobuf|json)$/.test(value)
        ? undefined
        : 'http/protobuf or http/json (gRPC is not supported; receivers usually accept HTTP on port 4318)';
    case 'otlpHeaders':
      return isHeaders(value)
        ? undefined
        : 'headers such as name=value,other=value, with values encoded as in URLs';
    case 'otlpMs':
      return /^\d{1,7}$/.test(value) && Number(value) > 0
        ? undefined
        : 'a number of milliseconds (1 to 9999999)';
    case 'otlpCount':
      return /^\d{1,6}$/.test(value) && Number(value) > 0 ? undefined : 'a number of spans (1 to 999999)';
    case 'otlpCompression':
      return /^(gzip|none)$/.test(value) ? undefined : 'gzip or none';
    case 'otlpExporter':
      return /^(otlp|none)$/.test(value) ? undefined : 'otlp or none';
    case 'otlpSwitch':
      return /^(true|false)$/i.test(value) ? undefined : 'true or false';
    case 'otlpResource':
      return pairsIn(value)
        ? undefined
        : 'attributes such as name=value,other=value, with values encoded as in URLs';
    case 'otlpSampler':
      return /^(parentbased_)?(always_on|always_off|traceidratio)$/.test(value)
        ? undefined
        : `${samplers.join(', ')}, or one of these after parentbased_`;
    case 'otlpShare':
      return /^(0|1|0?\.\d{1,12}|1\.0*|0\.0*)$/.test(value) ? undefined : 'a number from 0 to 1';
    case 'otlpPlace':
    case 'otlpName':
      return undefined;
  }
}

const isReceiver = (text: string) => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.hash === '';
};

/** Returns whether a text has headers, each of which can be sent (RFC 9110 §5). */
function isHeaders(text: string): boolean {
  const pairs = pairsIn(text);
  return (
    pairs !== undefined &&
    Object.entries(pairs).every(
      ([name, value]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\x20-\x7e\t]*$/.test(value),
    )
  );
}

/** Parses name=value,other=value, with values encoded as in URLs. Returns undefined if the text is invalid. */
function pairsIn(text: string): Record<string, string> | undefined {
  const pairs: [string, string][] = [];
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '') continue;
    const at = part.indexOf('=');
    if (at < 1) return undefined;
    try {
      pairs.push([part.slice(0, at).trim(), decodeURIComponent(part.slice(at + 1).trim())]);
    } catch {
      return undefined;
    }
  }
  return Object.fromEntries(pairs);
}
