// Determines the client address of a request: that of the connection, or the one that a trusted proxy reports. Also detects
// proxies that are missing in the settings.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isNear, plainAddress, within } from '../base/network.ts';
import type { Log } from '../base/log.ts';

/** Headers that proxies add. Only X-Forwarded-For is used, and only from a trusted proxy. */
const headersOfProxies = [
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-real-ip',
  'forwarded',
];

export type Forwarding = {
  /** Returns the client address of a request, or undefined if the client has disconnected. */
  addressOf(request: IncomingMessage): string | undefined;
  /** Returns whether an address belongs to a trusted proxy. */
  isTrusted(address: string): boolean;
  /** Checks a request for signs of a proxy that is not trusted, and logs them once. */
  notice(request: IncomingMessage): void;
  /** Returns the address of a detected proxy that is not trusted, on this machine or in a private network. */
  forgottenProxy(): string | undefined;
};

/** `trusted`: addresses and ranges of proxies. */
export function openForwarding(trusted: readonly string[], log: Log): Forwarding {
  const isTrusted = within(trusted);
  let forgotten: string | undefined;
  const warned = new Set<string>();
  function warnOnce(of: string, facts: object, text: string): void {
    if (!warned.has(of)) log.warn(facts, text);
    warned.add(of);
  }
  return {
    addressOf: ({ socket, headers }) =>
      socket.remoteAddress === undefined
        ? undefined
        : clientAddress(socket.remoteAddress, headers['x-forwarded-for'], isTrusted),
    isTrusted,
    notice({ socket, headers }) {
      const { remoteAddress: address } = socket;
      const sent = headersOfProxies.filter((name) => headers[name] !== undefined);
      if (address === undefined || sent.length === 0 || isTrusted(address)) return;
      const facts = { address: plainAddress(address), headers: sent };
      // Anyone on the Internet can send such a header, so it doesn't prove that there is a proxy.
      if (!isNear(address)) return warnOnce('far', facts, farText);
      forgotten ??= plainAddress(address);
      warnOnce('near', facts, nearText);
    },
    forgottenProxy: () => forgotten,
  };
}

const nearText =
  'Requests come through a proxy that is not listed in TRUST_PROXY, so all clients seem to have the same address. Rate limits apply to ' +
  'all of them together and IP allowlists do not work. Set TRUST_PROXY to the address of the proxy. Until the next start, /metrics ' +
  'requires METRICS_TOKEN';
const farText =
  'A client sent headers that proxies usually add. If your proxy has this address, set TRUST_PROXY to it';

/**
 * Returns the address of a client: that of the connection, or from X-Forwarded-For, read from the end as long as each entry was
 * added by a trusted proxy. Reading stops at anything that is not an address.
 */
function clientAddress(
  peer: string,
  forwardedFor: string | string[] | undefined,
  isTrusted: (address: string) => boolean,
): string {
  let address = plainAddress(peer);
  if (forwardedFor === undefined) return address;
  for (const part of String(forwardedFor).split(',').toReversed()) {
    if (!isTrusted(address)) break;
    const before = addressIn(part.trim());
    if (before === undefined) break;
    address = before;
  }
  return address;
}

/** Returns an address without the port that some proxies add: 192.0.2.1:80, [2001:db8::1]:80. */
function addressIn(text: string): string | undefined {
  const address = /^\[([^\]]*)\](:\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1');
  return isIP(address) === 0 ? undefined : plainAddress(address);
}
