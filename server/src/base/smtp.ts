// Parses the settings for the mail server and the sender.
import { isEmail } from '@soundings/contract/formats.ts';

export type SmtpServer = {
  host: string;
  port: number;
  /** Whether the connection uses TLS from the start. Otherwise STARTTLS is used. */
  isTls: boolean;
  login: { user: string; password: string } | undefined;
  /** Whether the connection is trusted without encryption and without a valid certificate. */
  isTrusted: boolean;
};

/**
 * Parses smtp://user:password@host:port or smtps://…, with %-escapes in user and password. Servers on loopback, and addresses
 * that end in ?insecure, are trusted without TLS. The default port is 587, or 465 for smtps. Returns undefined if the address is
 * invalid.
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

/** Parses an email address, alone or with a name: Soundings <soundings@example.com>. Returns undefined if it is invalid. */
export function mailboxOf(text: string): Mailbox | undefined {
  const found = /^(?<name>[^"<>\p{C}]*?|"[^"<>\p{C}]*")\s*<(?<address>[^<>]*)>$/u.exec(text)?.groups;
  const { name = '', address = text } = found ?? {};
  return isEmail(address) ? { name: name.replaceAll('"', ''), address } : undefined;
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
