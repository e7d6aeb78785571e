// Ending a connection of SSH with a reason in words, which clients show: the library's own message has none.
import type { Connection } from 'ssh2';

/** SSH_DISCONNECT_SERVICE_NOT_AVAILABLE (RFC 4253 §11.1). */
const notAvailable = 7;

type Writer = {
  allocStartKEX: number;
  alloc(length: number, force: boolean): Buffer;
  finalize(packet: Buffer, force: boolean): Buffer;
};
type Packets = { write: Writer };

/**
 * Sends that the service is not available, and why; the caller closes the connection. Where the library keeps its parts
 * otherwise one day, only the words are missing.
 */
export function disconnect(client: Connection, words: string): void {
  const { _protocol: protocol } = client as unknown as {
    _protocol?: { _packetRW?: Packets; disconnect(reason: number): void };
  };
  const { _packetRW: packets } = protocol ?? {};
  const writer = packets?.write;
  if (packets && writer) packets.write = withWords(writer, Buffer.from(words));
  try {
    protocol?.disconnect(notAvailable);
  } finally {
    if (packets && writer) packets.write = writer;
  }
}

/** A writer of the one message: byte, reason, length and words, length and language. The library's has no words. */
function withWords(writer: Writer, words: Buffer): Writer {
  const wrapped = Object.create(writer) as Writer;
  wrapped.alloc = (length, force) => writer.alloc(length + words.length, force);
  wrapped.finalize = (packet, force) => {
    const at = writer.allocStartKEX + 5;
    packet.writeUInt32BE(words.length, at);
    words.copy(packet, at + 4);
    packet.writeUInt32BE(0, at + 4 + words.length);
    return writer.finalize(packet, force);
  };
  return wrapped;
}
