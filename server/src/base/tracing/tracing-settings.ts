// The settings of traces. Their names and values are those of OpenTelemetry. tracing-options.ts reads them.

export type TracingSetting = {
  name: string;
  kind:
    | 'otlpUrl'
    | 'otlpHeaders'
    | 'otlpProtocol'
    | 'otlpMs'
    | 'otlpCompression'
    | 'otlpPlace'
    | 'otlpSwitch'
    | 'otlpExporter'
    | 'otlpName'
    | 'otlpResource'
    | 'otlpSampler'
    | 'otlpShare'
    | 'otlpCount';
  fallback: string;
  secret?: true;
  sentence: string;
};

/** All settings of traces, in the order of docs/operators/configuration.md. */
export const tracingSettings = [
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    kind: 'otlpUrl',
    fallback: '',
    secret: true, // some receivers expect a key in it
    sentence:
      'Where to send traces: the address of an OpenTelemetry Collector or another receiver of OTLP over HTTP, such as `http://127.0.0.1:4318`. `/v1/traces` is added to it. Default: nothing is traced.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    kind: 'otlpUrl',
    fallback: '',
    secret: true, // some receivers expect a key in it
    sentence: 'The whole address instead, to which nothing is added.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    kind: 'otlpProtocol',
    fallback: 'http/protobuf',
    sentence: '`http/protobuf` or `http/json`. gRPC is not supported.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
    kind: 'otlpProtocol',
    fallback: '',
    sentence: 'Takes precedence over OTEL_EXPORTER_OTLP_PROTOCOL.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    kind: 'otlpHeaders',
    fallback: '',
    secret: true,
    sentence:
      'Headers for the receiver, such as `authorization=Bearer%20token`, separated by commas. Values are encoded as in URLs.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    kind: 'otlpHeaders',
    fallback: '',
    secret: true,
    sentence: 'Further headers. They take precedence over those in OTEL_EXPORTER_OTLP_HEADERS.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TIMEOUT',
    kind: 'otlpMs',
    fallback: '10000',
    sentence: 'How long sending a batch may take, with all attempts, in milliseconds.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT',
    kind: 'otlpMs',
    fallback: '',
    sentence: 'Takes precedence over OTEL_EXPORTER_OTLP_TIMEOUT.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_COMPRESSION',
    kind: 'otlpCompression',
    fallback: 'none',
    sentence: '`gzip` or `none`.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_COMPRESSION',
    kind: 'otlpCompression',
    fallback: '',
    sentence: 'Takes precedence over OTEL_EXPORTER_OTLP_COMPRESSION.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_CERTIFICATE',
    kind: 'otlpPlace',
    fallback: '',
    sentence:
      'A file with the certificates (PEM) that the certificate of the receiver is checked against. Default: the certificate authorities that Node knows.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE',
    kind: 'otlpPlace',
    fallback: '',
    sentence: 'Takes precedence over OTEL_EXPORTER_OTLP_CERTIFICATE.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
    kind: 'otlpPlace',
    fallback: '',
    sentence:
      'A file with the certificate (PEM) of this service, for receivers that require one. Needs OTEL_EXPORTER_OTLP_CLIENT_KEY.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_CLIENT_KEY',
    kind: 'otlpPlace',
    fallback: '',
    sentence: 'A file with the private key (PEM) of that certificate.',
  },
  {
    name: 'OTEL_SERVICE_NAME',
    kind: 'otlpName',
    fallback: '',
    sentence:
      'The name of this service in traces. Default: `service.name` in OTEL_RESOURCE_ATTRIBUTES, otherwise `soundings`.',
  },
  {
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    kind: 'otlpResource',
    fallback: '',
    sentence:
      'Attributes of this service, such as `deployment.environment.name=production,service.instance.id=a`. Values are encoded as in URLs.',
  },
  {
    name: 'OTEL_TRACES_SAMPLER',
    kind: 'otlpSampler',
    fallback: 'parentbased_always_on',
    sentence:
      'Which requests and jobs are traced: `always_on`, `always_off`, `traceidratio`, or one of these after `parentbased_`, which follows the decision of a trusted proxy.',
  },
  {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    kind: 'otlpShare',
    fallback: '',
    sentence: 'The share of requests and jobs for `traceidratio`, from 0 to 1. Default: 1.',
  },
  {
    name: 'OTEL_TRACES_EXPORTER',
    kind: 'otlpExporter',
    fallback: 'otlp',
    sentence: '`none` turns tracing off.',
  },
  {
    name: 'OTEL_SDK_DISABLED',
    kind: 'otlpSwitch',
    fallback: 'false',
    sentence: '`true` turns tracing off.',
  },
  {
    name: 'OTEL_BSP_SCHEDULE_DELAY',
    kind: 'otlpMs',
    fallback: '5000',
    sentence: 'How long spans wait to be sent together, in milliseconds.',
  },
  {
    name: 'OTEL_BSP_EXPORT_TIMEOUT',
    kind: 'otlpMs',
    fallback: '30000',
    sentence: 'After how many milliseconds a batch is given up.',
  },
  {
    name: 'OTEL_BSP_MAX_QUEUE_SIZE',
    kind: 'otlpCount',
    fallback: '2048',
    sentence: 'How many spans can wait. Further ones are dropped. A span takes about 1 kB.',
  },
  {
    name: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
    kind: 'otlpCount',
    fallback: '512',
    sentence: 'How many spans are sent together.',
  },
] as const satisfies readonly TracingSetting[];
