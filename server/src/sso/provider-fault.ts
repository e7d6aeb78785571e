// What can go wrong with a provider, and what an error of openid-client means. Pure.
import type { Refusal } from '@soundings/contract/console/sign-on/refusals.ts';
import { ForbiddenAddress } from '../base/outgoing/exchange.ts';

/** `detail`: for the administrator. */
export class ProviderFault extends Error {
  readonly refusal: Refusal;
  readonly detail: string;
  constructor(refusal: Refusal, detail: string, cause?: unknown) {
    super(`${refusal}: ${detail}`, { cause });
    this.refusal = refusal;
    this.detail = detail;
  }
}

/** Thrown if a person can't sign in, although the response of the provider is genuine. */
export class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal);
    this.refusal = refusal;
  }
}

/** Codes of Node and TLS that mean that the provider can't be reached. */
const unreachable =
  /^(E(NOTFOUND|AI_AGAIN|CONN\w+|HOSTUNREACH|NETUNREACH|TIMEDOUT|PIPE|PROTO)|OAUTH_TIMEOUT|CERT_\w+|ERR_TLS\w+|ERR_SSL\w+|DEPTH_ZERO\w+|SELF_SIGNED\w+|UNABLE_TO\w+)$/;

/** Returns what an error of a request, or of a check of openid-client, means. */
export function providerFaultOf(error: unknown): ProviderFault {
  const chain: Record<string, unknown>[] = [];
  for (let one = error; typeof one === 'object' && one !== null && chain.length < 5;)
    one = (chain[chain.push(one as Record<string, unknown>) - 1] as { cause?: unknown }).cause;
  const known = chain.find((one) => one instanceof ProviderFault);
  if (known instanceof ProviderFault) return known;
  const forbidden = chain.find((one) => one instanceof ForbiddenAddress);
  if (forbidden) return new ProviderFault('forbidden address', String(forbidden['message']), error);
  const code = chain
    .map((one) => one['code'])
    .find((one) => typeof one === 'string' && unreachable.test(one));
  if (code !== undefined) return new ProviderFault('unavailable', String(code), error);
  const refused = chain.map((one) => one['error']).find((one) => typeof one === 'string');
  if (/^(invalid|unauthorized)_client$/.test(String(refused)))
    return new ProviderFault('client refused', String(refused), error);
  const status = chain.map((one) => one['status']).find((one) => typeof one === 'number');
  if (typeof status === 'number' && status >= 500)
    return new ProviderFault('unavailable', `HTTP ${status}`, error);
  const message = chain.map((one) => one['message']).findLast((one) => typeof one === 'string');
  return new ProviderFault('invalid', String(refused ?? message ?? error).slice(0, 300), error);
}
