// Checks an address that an administrator enters, so that one that could never be reached is refused immediately. Pure. Where its host
// leads is checked again before each request (exchange.ts).
import { isIP } from 'node:net';
import { faultAtField } from '../errors.ts';
import { within } from '../network.ts';
import { isPublicAddress } from './addresses.ts';
import { outgoingUrlOf } from './exchange.ts';

/** Returns the address in a text. Throws a Fault at `path` if requests could never reach it. `example`: such an address. */
export function enteredUrl(
  text: string,
  networks: readonly string[],
  { path, example }: { path: string; example: string },
): URL {
  const invalid = (message: string) => faultAtField('invalid', 'invalid value', path, message);
  const url = outgoingUrlOf(text.trim());
  if (!url)
    throw invalid(`This is not a web address. Enter one such as ${example}, without user, password and #.`);
  if (url.protocol === 'http:' && networks.length === 0)
    throw invalid('HTTPS is required. Enter an address that begins with https://.');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const isReachable = isIP(host) === 0 || isPublicAddress(host) || within(networks)(host);
  if (!isReachable && networks.length === 0)
    throw invalid(
      `${host} is a private address. Enter a public one, or ask the operator of the installation to allow this network (OUTGOING_NETWORKS).`,
    );
  if (!isReachable)
    throw invalid(
      `${host} is a private address that the operator of the installation has not allowed (OUTGOING_NETWORKS).`,
    );
  return url;
}
