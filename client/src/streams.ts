// Reads responses of one JSON object per line, of any length, in limited memory.
import type { Call, Connection, OpenResponse } from './connection.ts';
import { waitBefore, waitFor } from './retries.ts';
import { isLost, SoundingsError } from './soundings-error.ts';

/** Requests a response of lines. A page of a proxy or portal is an error. */
export async function openLines(connection: Connection, call: Call): Promise<OpenResponse> {
  const opened = await connection.open(call);
  const type = opened.response.headers.get('content-type') ?? '';
  if (type.startsWith('application/x-ndjson')) return opened;
  opened.cancel();
  throw new SoundingsError({
    type: 'unexpected response',
    status: opened.response.status,
    title: 'The response isn’t from Soundings. Check the address, and any proxy in front of the service.',
  });
}

/** Yields each line of a response. A last line without a line break is a part of one, so the connection was lost. */
export async function* wholeLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() as string;
    yield* lines;
  }
  if (rest !== '')
    throw new SoundingsError({
      type: 'connection lost',
      title: 'The connection was lost in the middle of a line.',
    });
}

/**
 * Runs `attempt` until it ends, again after each lost connection. It continues from where it was, and calls `progressed` when there is
 * something new: then the attempts are counted from the beginning.
 */
export async function* untilComplete<T>(
  { retries, backoffMs }: Connection,
  { signal }: Pick<Call, 'signal'>,
  attempt: (progressed: () => void) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  for (let failures = 0; ;) {
    try {
      return yield* attempt(() => (failures = 0));
    } catch (error) {
      if (!isLost(error) || ++failures > retries) throw error;
      await waitFor(waitBefore(backoffMs, failures - 1, undefined), signal);
    }
  }
}

/**
 * Yields the lines of a response, each once and in order, also if connections are lost on the way. Then the response is requested again,
 * and the lines that were yielded before are skipped. That is right only if it is the same response, which its ETag shows.
 */
export async function* repeatedLines(connection: Connection, call: Call): AsyncGenerator<string> {
  let yielded = 0;
  let tag: string | null | undefined;
  yield* untilComplete(connection, call, async function* (progressed) {
    const opened = await openLines(connection, call);
    try {
      const current = opened.response.headers.get('etag');
      if (tag === undefined) tag = current;
      else if (yielded > 0 && (current === null || current !== tag)) throw responseChanged();
      else tag = current;
      let read = 0;
      for await (const line of wholeLines(opened.chunks)) {
        if (++read <= yielded) continue;
        yielded = read;
        progressed();
        yield line;
      }
      if (read < yielded) throw responseChanged();
    } finally {
      opened.cancel();
    }
  });
}

const responseChanged = () =>
  new SoundingsError({
    type: 'response changed',
    title: 'The connection was lost, and the data has changed since. Read it again from the start.',
  });
