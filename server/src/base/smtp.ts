// A mail server and a sender, as settings name them.
import { isEmail } from '@soundings/contract/formats.ts';

export type SmtpServer = {
  host: string;
  port: number;
  /** TLS from the first byte on; otherwise it is asked for by STARTTLS. */
  isTls: boolean;
  login: { user: string; password: string } | undefined;
  /** Whether the way to it is trusted without encryption and without a certificate that holds. */
  isTrusted: boolean;
};

/**
 * Reads smtp://user:password@host:port or smtps://…, with %-escapes in user and password; ?insecure at the end trusts the
 * way to the server, as it does one on loopback. Without a port: 587, or 465 for smtps. Undefined: it is no such address.
 */
export function smtpServerOf(text: string): SmtpServer | undefined {
  const url = URL.parse(text);
  if (!url || !/^smtps?:$/.test(url.protocol) || !/^\/?$/.test(url.pathname)) return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const isPlain = /^[\w.:-]+$/.test(host) && url.hash === '' && ['', '?insecure'].includes(url.search);
  if (!isPlain || (url.username === '') !== (url.password === '')) return undefined;
  const isTls = url.protocol === 'smtps:';
  try {
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    return {
      host,
      port: Number(url.port) || (isTls ? 465 : 587),
      isTls,
      login: user === '' ? undefined : { user, password },
      isTrusted: url.search === '?insecure' || isLoopback(host),
    };
  } catch {
    return undefined;
  }
}

export type Mailbox = { name: string; address: string };

/** Reads an address alone, or after a name: Soundings <soundings@example.com>. Undefined: it is neither. */
export function mailboxOf(text: string): Mailbox | undefined {
  const found = /^(?<name>[^"<>\p{C}]*?|"[^"<>\p{C}]*")\s*<(?<address>[^<>]*)>$/u.exec(text)?.groups;
  const { name = '', address = text } = found ?? {};
  return isEmail(address) ? { name: name.replaceAll('"', ''), address } : undefined;
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
