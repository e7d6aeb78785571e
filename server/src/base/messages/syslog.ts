// Parses the address of the syslog server that gets the audit log.

/** A syslog server that is reached over TLS. `ca`: the certificates (PEM) to check its certificate against, or those that Node knows. */
export type SyslogServer = { host: string; port: number; ca: string | undefined };

/** Parses tls://host:port. The default port is 6514 (RFC 5425). Returns undefined if the address is invalid. */
export function syslogAddressOf(text: string): { host: string; port: number } | undefined {
  const url = URL.parse(text);
  const host = url?.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase() ?? '';
  const rest = url && [url.username, url.password, url.search, url.hash, url.pathname.replace(/^\/$/, '')];
  if (url?.protocol !== 'tls:' || !/^[\w.:-]+$/.test(host) || rest?.some((part) => part !== ''))
    return undefined;
  return { host, port: Number(url.port) || 6514 };
}
