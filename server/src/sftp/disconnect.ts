// Ends an SSH connection with a reason that clients show. The library's own disconnect message has no text.
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
 * Sends a disconnect message "service not available" with a reason. The caller closes the connection. Uses internals of the
 * library. If these ever change, only the reason is missing.
 */
export function disconnect(client: Connection, reason: string): void {
  const { _protocol: protocol } = client as unknown as {
    _protocol?: { _packetRW?: Packets; disconnect(reason: number): void };
  };
  const { _packetRW: packets } = protocol ?? {};
  const writer = packets?.write;
  if (packets && writer) packets.write = withText(writer, Buffer.from(reason));
  try {
    protocol?.disconnect(notAvailable);
  } finally {
    if (packets && writer) packets.write = writer;
  }
}

/** Wraps the library's writer to add a text. The message is: type, reason code, text with length, language with length. */
function withText(writer: Writer, text: Buffer): Writer {
  const wrapped = Object.create(writer) as Writer;
  wrapped.alloc = (length, force) => writer.alloc(length + text.length, force);
  wrapped.finalize = (packet, force) => {
    const at = writer.allocStartKEX + 5;
    packet.writeUInt32BE(text.length, at);
    text.copy(packet, at + 4);
    packet.writeUInt32BE(0, at + 4 + text.length);
    return writer.finalize(packet, force);
  };
  return wrapped;
}
