// Where a request comes from: the address of the connection, or what a trusted proxy says of it. And signs that there is a
// proxy of which the settings know nothing.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isNear, plainAddress, within } from '../base/addresses.ts';
import type { Log } from '../base/log.ts';

/** What proxies add to a request. Of these, only X-Forwarded-For is believed, and only from a trusted proxy. */
const headersOfProxies = [
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-real-ip',
  'forwarded',
];

export type Forwarding = {
  /** The address that a request comes from. Undefined: the client has gone. */
  addressOf(request: IncomingMessage): string | undefined;
  /** Whether an address is of a trusted proxy. */
  isTrusted(address: string): boolean;
  /** Notes a request of a proxy that is not trusted. The log says so once. */
  notice(request: IncomingMessage): void;
  /** The address of a proxy that is not trusted, on this machine or in a private network. */
  forgottenProxy(): string | undefined;
};

/** `trusted`: addresses and ranges of proxies. */
export function openForwarding(trusted: readonly string[], log: Log): Forwarding {
  const isTrusted = within(trusted);
  let forgotten: string | undefined;
  const warned = new Set<string>();
  function warnOnce(of: string, facts: object, words: string): void {
    if (!warned.has(of)) log.warn(facts, words);
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
      // From the Internet anyone can send such a header: that proves no proxy.
      if (!isNear(address)) return warnOnce('far', facts, farWords);
      forgotten ??= plainAddress(address);
      warnOnce('near', facts, nearWords);
    },
    forgottenProxy: () => forgotten,
  };
}

const nearWords =
  'Requests come through a proxy that TRUST_PROXY does not name, so all clients seem to have its address: limits by address hit ' +
  'everyone together, and allowlists fail. Set TRUST_PROXY to the address of the proxy. Until the next start, /metrics needs METRICS_TOKEN';
const farWords =
  'A client sent headers that proxies add. If there is a proxy in front at this address, set TRUST_PROXY to it';

/**
 * The address of a client: of the connection, or of what stands in X-Forwarded-For, from its end on, as far as each part was
 * added by a trusted proxy. What is no address there counts as nothing.
 */
function clientAddress(
  peer: string,
  forwardedFor: string | string[] | undefined,
  isTrusted: (address: string) => boolean,
): string {
  let address = plainAddress(peer);
  for (const part of String(forwardedFor ?? '')
    .split(',')
    .toReversed()) {
    if (!isTrusted(address)) break;
    const before = addressIn(part.trim());
    if (before === undefined) break;
    address = before;
  }
  return address;
}

/** Some proxies add the port: 192.0.2.1:80, [2001:db8::1]:80. */
function addressIn(text: string): string | undefined {
  const address = /^\[([^\]]*)\](:\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1');
  return isIP(address) === 0 ? undefined : plainAddress(address);
}
