// Reads exports of traces: ExportTraceServiceRequest of opentelemetry/proto/collector/trace/v1, as Protobuf and as JSON.

export type ReceivedSpan = {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  traceState: string;
  /** 1: internal, 2: server, 3: client. */
  kind: number;
  /** In ns since 1970. */
  startedAt: bigint;
  endedAt: bigint;
  attributes: Record<string, string>;
  /** 0: unset, 2: error. */
  status: number;
  statusMessage: string;
  events: number;
  links: number;
};

export type Exported = { resource: Record<string, string>; spans: ReceivedSpan[] };

type Value = bigint | Buffer;
type Message = Map<number, Value[]>;

/** Reads a message of Protobuf: the values of each field, in their order. */
function messageIn(bytes: Buffer): Message {
  const fields: Message = new Map();
  let at = 0;
  const varint = (): bigint => {
    let [value, shift] = [0n, 0n];
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('The message ends in the middle of a number.');
      value |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('The message ends in the middle of a field.');
    return bytes.subarray(at, (at += length));
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const [field, type] = [tag >> 3, tag & 7];
    let value: Value;
    if (type === 0) value = varint();
    else if (type === 1) value = take(8).readBigUInt64LE();
    else if (type === 2) value = take(Number(varint()));
    else if (type === 5) value = BigInt(take(4).readUInt32LE());
    else throw new Error(`Unknown wire type ${type}.`);
    fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

const messages = (of: Message, field: number) => (of.get(field) ?? []).map((one) => messageIn(one as Buffer));
const bytesAt = (of: Message, field: number) =>
  (of.get(field)?.at(-1) as Buffer | undefined) ?? Buffer.alloc(0);
const textAt = (of: Message, field: number) => bytesAt(of, field).toString();
const hexAt = (of: Message, field: number) => bytesAt(of, field).toString('hex');
const numberAt = (of: Message, field: number) => (of.get(field)?.at(-1) as bigint | undefined) ?? 0n;

/** Reads attributes. Values are texts, or else as text: only texts and whole numbers are expected. */
function attributesAt(of: Message, field: number): Record<string, string> {
  return Object.fromEntries(
    messages(of, field).map((pair) => {
      const [value = new Map() as Message] = messages(pair, 2);
      const isText = value.has(1);
      if (!isText && !value.has(3)) throw new Error(`${textAt(pair, 1)} is neither a text nor a number.`);
      return [textAt(pair, 1), isText ? textAt(value, 1) : String(numberAt(value, 3))];
    }),
  );
}

export function fromProtobuf(bytes: Buffer): Exported {
  const found = messages(messageIn(bytes), 1);
  return {
    resource: Object.assign(
      {},
      ...found.flatMap((one) => messages(one, 1).map((all) => attributesAt(all, 1))),
    ) as Record<string, string>,
    spans: found.flatMap((one) => messages(one, 2).flatMap((scope) => messages(scope, 2).map(spanOf))),
  };
}

function spanOf(span: Message): ReceivedSpan {
  const [status = new Map() as Message] = messages(span, 15);
  return {
    traceId: hexAt(span, 1),
    spanId: hexAt(span, 2),
    traceState: textAt(span, 3),
    parentSpanId: hexAt(span, 4),
    name: textAt(span, 5),
    kind: Number(numberAt(span, 6)),
    startedAt: numberAt(span, 7),
    endedAt: numberAt(span, 8),
    attributes: attributesAt(span, 9),
    events: (span.get(11) ?? []).length,
    links: (span.get(13) ?? []).length,
    status: Number(numberAt(status, 3)),
    statusMessage: textAt(status, 2),
  };
}

type JsonAttributes = { key: string; value: { stringValue?: string; intValue?: number | string } }[];
type JsonSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: JsonAttributes;
  events: unknown[];
  links: unknown[];
  status: { code: number; message?: string };
};

export function fromJson(bytes: Buffer): Exported {
  const { resourceSpans = [] } = JSON.parse(bytes.toString()) as {
    resourceSpans?: { resource: { attributes: JsonAttributes }; scopeSpans: { spans: JsonSpan[] }[] }[];
  };
  const attributesOf = (all: JsonAttributes) =>
    Object.fromEntries(all.map(({ key, value }) => [key, String(value.stringValue ?? value.intValue)]));
  return {
    resource: Object.assign(
      {},
      ...resourceSpans.map(({ resource }) => attributesOf(resource.attributes)),
    ) as Record<string, string>,
    spans: resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) =>
        spans.map((span) => ({
          ...span,
          parentSpanId: span.parentSpanId ?? '',
          traceState: span.traceState ?? '',
          startedAt: BigInt(span.startTimeUnixNano),
          endedAt: BigInt(span.endTimeUnixNano),
          attributes: attributesOf(span.attributes),
          events: span.events.length,
          links: span.links.length,
          status: span.status.code,
          statusMessage: span.status.message ?? '',
        })),
      ),
    ),
  };
}
