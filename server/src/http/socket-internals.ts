// Everything that relies on undocumented internals of Node's sockets (docs/decisions/0026). If they ever change, clients that read a
// large response slowly are disconnected too early.
import type { Socket } from 'node:net';

/**
 * Returns a function that returns how many bytes of the current write the operating system has not accepted. 0 if Node doesn't say.
 * The handle is read here, because a closed socket no longer has one.
 */
export function unsentBytes(socket: Socket): () => number {
  const { _handle: handle } = socket as unknown as { _handle?: { writeQueueSize?: number } | null };
  return () => handle?.writeQueueSize ?? 0;
}
