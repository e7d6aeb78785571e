// Why a list could not be fetched, as administrators see it. Pure.
import type { PullError } from '@soundings/contract/pulls/pull-values.ts';
import { ForbiddenAddress, LargeResponse } from '../base/outgoing/exchange.ts';
import { visible } from '../base/visible-text.ts';

/** The longest text from another system that is shown, in characters. */
const maxDetail = 300;

/** `detail`: what the other system said, or what is wrong with its response. Never a secret. `isBrief`: it may work in a few minutes. */
export class PullFault extends Error {
  override name = 'PullFault';
  readonly error: PullError;
  readonly detail: string | undefined;
  readonly isBrief: boolean;

  constructor(error: PullError, detail?: string, isBrief = false) {
    super(detail ?? error);
    this.error = error;
    this.detail = detail === undefined ? undefined : visible(detail, maxDetail);
    this.isBrief = isBrief;
  }
}

/** Returns the fault for an error of a request. Throws any other error again. */
export function connectionFaultOf(error: unknown, host: string): PullFault {
  if (error instanceof PullFault) return error;
  if (error instanceof ForbiddenAddress) return new PullFault('address', host);
  if (error instanceof LargeResponse) return new PullFault('large', host);
  const { code } = error as { code?: unknown };
  if (code === 'ETIMEDOUT') return new PullFault('timeout', host, true);
  if (code === 'EENCODING') return new PullFault('format', (error as Error).message);
  if (typeof code !== 'string') throw error;
  return new PullFault('unreachable', `${host}: ${code}`, true);
}

/** Returns the fault for a status other than 200. */
export function statusFaultOf(status: number, host: string): PullFault {
  const detail = `${host}: HTTP ${status}`;
  if (status === 401 || status === 403) return new PullFault('refused', detail);
  return new PullFault('status', detail, status === 429 || status >= 500);
}
