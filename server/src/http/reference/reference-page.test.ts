// The program of the API reference is decompressed once, however often it is requested in an encoding other than brotli.
import Fastify from 'fastify';
import { brotliCompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openScalar } from './reference-page.ts';

const program = Buffer.from('const answer = 42;\n'.repeat(1000));

/** Serves a compressed program. Returns a function that requests it, and returns the status and the bytes that were sent. */
function serve(compressed: Buffer) {
  const app = Fastify();
  const sent: unknown[] = [];
  app.addHook('onSend', async (_request, _reply, payload) => void sent.push(payload));
  app.get('/', openScalar(compressed));
  onTestFinished(() => app.close());
  return async (encoding: string) => {
    const { statusCode, rawPayload } = await app.inject({
      url: '/',
      headers: { 'accept-encoding': encoding },
    });
    return { status: statusCode, bytes: rawPayload, kept: sent.at(-1) };
  };
}

describe.each([
  ['identity', (bytes: Buffer) => bytes],
  ['gzip', gunzipSync],
])('%s', (encoding, decoded) => {
  test('is the program, from the same memory each time', async () => {
    const get = serve(brotliCompressSync(program));
    const first = await get(encoding);
    expect([first.status, decoded(first.bytes).equals(program)]).toEqual([200, true]);
    expect((await get(encoding)).kept).toBe(first.kept);
  });

  test('is tried again after a failure', async () => {
    const compressed = brotliCompressSync(program);
    const right = Buffer.from(compressed);
    const get = serve(compressed.fill(0xff));
    expect((await get(encoding)).status).toBe(500);
    right.copy(compressed);
    const { status, bytes } = await get(encoding);
    expect([status, decoded(bytes).equals(program)]).toEqual([200, true]);
  });
});
