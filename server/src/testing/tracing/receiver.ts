// A receiver of OTLP over HTTP for tests. It understands Protobuf and JSON, and keeps what arrived, byte for byte.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { until } from '../until.ts';
import { type Exported, fromJson, fromProtobuf, type ReceivedSpan } from './read-otlp.ts';

export type Export = {
  path: string;
  headers: IncomingMessage['headers'];
  bytes: Buffer;
};

export type Receiver = {
  /** The address, without the path. */
  url: string;
  port: number;
  exports: Export[];
  spans: ReceivedSpan[];
  /** The attributes of the service that sent the last spans. */
  resource(): Record<string, string>;
  /** Waits until a span with this name has arrived, and returns it. */
  span(name: string): Promise<ReceivedSpan>;
  /** The parts of a span that have arrived, in the order in which they began. */
  partsOf(span: ReceivedSpan): ReceivedSpan[];
  /** Responds with this status from now on; undefined: not at all. */
  respond(status: number | undefined): void;
  close(): Promise<void>;
};

export async function openReceiver({
  port = 0,
  tls,
}: { port?: number; tls?: { cert: string; key: string; ca?: string } } = {}): Promise<Receiver> {
  const exports: Export[] = [];
  const spans: ReceivedSpan[] = [];
  let resource: Exported['resource'] = {};
  let status: number | undefined = 200;
  const receive: RequestListener = async (request, response) => {
    const sent = await buffer(request).catch(() => undefined);
    if (!sent || status === undefined) return;
    const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    exports.push({ path: request.url ?? '', headers: request.headers, bytes });
    if (status === 200) {
      const isJson = request.headers['content-type'] === 'application/json';
      const read = isJson ? fromJson(bytes) : fromProtobuf(bytes);
      spans.push(...read.spans);
      if (read.spans.length > 0) resource = read.resource;
    }
    response.writeHead(status).end();
  };
  const server = tls
    ? createTlsServer(
        { ...tls, requestCert: tls.ca !== undefined, rejectUnauthorized: tls.ca !== undefined },
        receive,
      )
    : createServer(receive);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const own = (server.address() as AddressInfo).port;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${own}`,
    port: own,
    exports,
    spans,
    resource: () => resource,
    span: (name) => until(async () => spans.find((one) => one.name === name)),
    partsOf: ({ spanId }) =>
      spans
        .filter(({ parentSpanId }) => parentSpanId === spanId)
        .toSorted((one, other) => Number(one.startedAt - other.startedAt)),
    respond: (next) => void (status = next),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close').catch(() => {});
    },
  };
}
