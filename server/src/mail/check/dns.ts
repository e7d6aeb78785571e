// Reads DNS records for the test of the email settings. A record that does not exist is an empty list; a DNS server that doesn't
// respond is an error.
import { Resolver } from 'node:dns/promises';

export type Dns = {
  /** Returns the TXT records of a name, each as one text. */
  txt(name: string): Promise<string[]>;
  /** Returns the mail servers of a domain, the preferred ones first. A single empty name means that it receives no email (RFC 7505). */
  mx(name: string): Promise<string[]>;
  /** Returns the IPv4 and IPv6 addresses of a name. */
  addresses(name: string): Promise<string[]>;
};

/** The records of a name couldn't be read. */
export class DnsUnavailable extends Error {
  override readonly name = 'DnsUnavailable';
  readonly record: string;
  constructor(record: string, reason: string) {
    super(reason);
    this.record = record;
  }
}

/** The error codes that mean that there is no such record. */
const noRecord = ['ENOTFOUND', 'ENODATA', 'NOTFOUND', 'NODATA', 'EBADNAME'];

/**
 * Returns the DNS of this machine, or that of other servers (`address:port`). `signal` ends all queries. Each takes at most a few
 * seconds.
 */
export function openDns(signal: AbortSignal, servers?: string[]): Dns {
  const resolver = new Resolver({ timeout: 2_500, tries: 2 });
  if (servers) resolver.setServers(servers);
  signal.addEventListener('abort', () => resolver.cancel(), { once: true });

  async function records<T>(name: string, query: (name: string) => Promise<T[]>): Promise<T[]> {
    if (signal.aborted) throw new DnsUnavailable(name, 'it takes too long');
    return query(name).catch((error: NodeJS.ErrnoException) => {
      const code = error.code ?? error.message;
      if (noRecord.includes(code)) return [];
      throw new DnsUnavailable(name, signal.aborted ? 'it takes too long' : code);
    });
  }

  return {
    txt: async (name) =>
      (await records(name, (one) => resolver.resolveTxt(one))).map((parts) => parts.join('')),
    mx: async (name) =>
      (await records(name, (one) => resolver.resolveMx(one)))
        .toSorted((a, b) => a.priority - b.priority)
        .map(({ exchange }) => exchange),
    addresses: async (name) => {
      const all = await Promise.all([
        records(name, (one) => resolver.resolve4(one)),
        records(name, (one) => resolver.resolve6(one)),
      ]);
      return all.flat();
    },
  };
}
