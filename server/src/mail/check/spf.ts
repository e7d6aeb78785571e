// Evaluates the SPF record of a domain for the address of a mail server (RFC 7208). Macros depend on the sender and the connection, so
// a record that needs them can be undecided.
import { BlockList, isIP } from 'node:net';
import type { Dns } from './dns.ts';

export type SpfResult =
  | { result: 'pass' | 'fail' | 'softfail' | 'neutral' | 'undecided' }
  /** The record is invalid, so receivers ignore it. */
  | { result: 'invalid'; reason: string };

/** Limits of RFC 7208 §4.6.4: the terms that need a DNS query, and the names of an `mx` term. */
const [maxLookups, maxNames] = [10, 10];

/** Returns the SPF records among TXT records. */
export const spfRecordsIn = (texts: string[]): string[] =>
  texts.filter((text) => /^v=spf1(?:\s|$)/i.test(text));

/** Whether the record allows every address (`+all`). */
export const allowsAll = (record: string): boolean => /(?:^|\s)\+?all(?:\s|$)/i.test(record);

type Evaluation = { dns: Dns; address: string; lookups: number; usesMacro: boolean };

class Invalid extends Error {}

/** Evaluates the record of a domain for an IP address. Rejects with DnsUnavailable. */
export async function evaluateSpf(
  dns: Dns,
  domain: string,
  record: string,
  address: string,
): Promise<SpfResult> {
  const state: Evaluation = { dns, address, lookups: 0, usesMacro: false };
  try {
    const result = await evaluate(state, domain, record);
    return { result: state.usesMacro && result !== 'pass' ? 'undecided' : result };
  } catch (error) {
    if (error instanceof Invalid) return { result: 'invalid', reason: error.message };
    throw error;
  }
}

const results = { '+': 'pass', '-': 'fail', '~': 'softfail', '?': 'neutral' } as const;
type Result = (typeof results)[keyof typeof results];

async function evaluate(state: Evaluation, domain: string, record: string): Promise<Result> {
  const terms = record.trim().split(/\s+/).slice(1);
  for (const term of terms) {
    if (/^[a-z][\w.-]*=/i.test(term)) continue; // a modifier
    const {
      qualifier = '+',
      name = '',
      argument,
    } = /^(?<qualifier>[-+~?])?(?<name>[a-z\d]+)(?<argument>[:/].*)?$/i.exec(term)?.groups ?? {};
    if (await matches(state, domain, name.toLowerCase(), argument, term))
      return results[qualifier as keyof typeof results];
  }
  const target = terms.find((term) => /^redirect=/i.test(term))?.slice('redirect='.length);
  if (target === undefined) return 'neutral';
  countLookup(state);
  return evaluate(state, target, await recordOf(state, target));
}

async function matches(
  state: Evaluation,
  domain: string,
  name: string,
  argument: string | undefined,
  term: string,
): Promise<boolean> {
  const value = argument?.startsWith(':') ? argument.slice(1) : undefined;
  switch (name) {
    case 'all':
      return true;
    case 'ip4':
    case 'ip6':
      return isWithin(state.address, value ?? '', term);
    case 'include': {
      countLookup(state);
      if (isMacro(state, value)) return false;
      const included = required(value, term);
      return (await evaluate(state, included, await recordOf(state, included))) === 'pass';
    }
    case 'a':
    case 'mx':
      countLookup(state);
      return isOfHost(state, domain, { isMx: name === 'mx', argument: argument ?? '', term });
    case 'exists':
    case 'ptr':
      countLookup(state);
      state.usesMacro = true;
      return false;
    default:
      throw new Invalid(`"${term}" is unknown`);
  }
}

function countLookup(state: Evaluation): void {
  if (++state.lookups > maxLookups) throw new Invalid(`it needs more than ${maxLookups} DNS queries`);
}

function isMacro(state: Evaluation, name: string | undefined): boolean {
  const found = name?.includes('%') ?? false;
  if (found) state.usesMacro = true;
  return found;
}

function required(value: string | undefined, term: string): string {
  if (value === undefined || value === '') throw new Invalid(`"${term}" names no domain`);
  return value;
}

async function recordOf({ dns }: Evaluation, domain: string): Promise<string> {
  const records = spfRecordsIn(await dns.txt(domain));
  if (records.length === 1) return records[0] as string;
  throw new Invalid(
    records.length === 0 ? `${domain} has no SPF record` : `${domain} has several SPF records`,
  );
}

/** Whether the address is one of a host (`a`) or of a domain's mail servers (`mx`), or is in the same network as one of them. */
async function isOfHost(
  state: Evaluation,
  domain: string,
  { isMx, argument, term }: { isMx: boolean; argument: string; term: string },
): Promise<boolean> {
  const {
    name = '',
    four,
    six,
  } = /^(?::(?<name>[^/]+))?(?:\/(?<four>\d{1,3}))?(?:\/\/(?<six>\d{1,3}))?$/.exec(argument)?.groups ?? {};
  if (argument !== '' && name === '' && four === undefined && six === undefined)
    throw new Invalid(`"${term}" is invalid`);
  if (isMacro(state, name)) return false;
  const target = name || domain;
  const hosts = isMx ? (await state.dns.mx(target)).slice(0, maxNames) : [target];
  const all = await Promise.all(hosts.filter((host) => host !== '').map((host) => state.dns.addresses(host)));
  return all.flat().some((one) => {
    const bits = isIP(one) === 4 ? (four ?? '32') : (six ?? '128');
    return isWithin(state.address, `${one}/${bits}`, term);
  });
}

function isWithin(address: string, network: string, term: string): boolean {
  const [start = '', bits] = network.split('/');
  const kind = isIP(start);
  const most = kind === 4 ? 32 : 128;
  const prefix = bits === undefined ? most : Number(bits);
  if (kind === 0 || !/^\d{1,3}$/.test(bits ?? '0') || prefix > most)
    throw new Invalid(`"${term}" is invalid`);
  if (isIP(address) !== kind) return false;
  const type = kind === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(start, prefix, type);
  return list.check(address, type);
}
