// Everything that relies on undocumented internals of the ssh2 library (docs/decisions/0022). If these ever change, connections still
// work: slower, or without the reason for their end. Only a host key that the library no longer accepts stops the server from starting.
import { createSecretKey } from 'node:crypto';
import type { Connection, ParsedKey } from 'ssh2';

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
export function disconnectClient(client: Connection, reason: string): void {
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

type Names = { array: string[] };
type Direction = Record<'cipher' | 'mac' | 'compress' | 'lang', Names>;
type Offer = { lists: { kex: Names; serverHostKey: Names; cs: Direction; sc: Direction } };

/**
 * Offers a client only these ciphers. If the internals of the library ever change, the client gets the usual offer.
 */
export function offerCiphers(client: Connection, ciphers: readonly string[]): void {
  const { _protocol: protocol } = client as unknown as { _protocol?: Record<string, Offer> };
  const offer = protocol?.['_offer'];
  if (!protocol || !offer?.lists?.cs) return;
  const { kex, serverHostKey, cs, sc } = offer.lists;
  const withCiphers = ({ mac, compress, lang }: Direction) => ({
    cipher: ciphers,
    mac: mac.array,
    compress: compress.array,
    lang: lang.array,
  });
  const OfferClass = offer.constructor as new (lists: object) => Offer;
  protocol['_offer'] = new OfferClass({
    kex: kex.array,
    serverHostKey: serverHostKey.array,
    cs: withCiphers(cs),
    sc: withCiphers(sc),
  });
}

/**
 * Returns a host key that the server offers by the name of this algorithm. The library accepts parsed keys, which its types don't
 * say, and takes the name from `type`. If that ever changes, it refuses the key and the server doesn't start.
 */
export const withAlgorithm = (key: ParsedKey, name: string): string =>
  Object.create(key, { type: { value: name } }) as string;

/**
 * Replaces the library's raw keys by key objects. Node would convert raw keys for every message, at a tenth of the total time. If
 * the internals of the library ever change, this has no effect.
 */
export function useKeyObjects(client: Connection): void {
  const { _protocol: protocol } = client as unknown as {
    _protocol?: Record<string, Record<string, unknown>>;
  };
  for (const side of [protocol?.['_cipher'], protocol?.['_decipher']]) {
    for (const name of ['_macKey', '_encKey', '_decipherKey']) {
      const key = side?.[name];
      if (side && Buffer.isBuffer(key)) side[name] = createSecretKey(key);
    }
  }
}
