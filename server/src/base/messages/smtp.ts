// Parses the settings for the mail server, the sender, signing emails, and the mailbox for bounces.
import { isEmail } from '@soundings/contract/formats.ts';
import { createPrivateKey, createPublicKey } from 'node:crypto';

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
  return serverIn(url, url.protocol === 'smtps:', { plain: 587, tls: 465 });
}

/** A folder of a mailbox that is read over IMAP. */
export type ImapFolder = SmtpServer & { login: { user: string; password: string }; folder: string };

/**
 * Parses imaps://user:password@host:port/folder or imap://…, with %-escapes in user, password and folder. Trust is decided as in
 * smtpServerOf. The default folder is INBOX, and the default port is 993, or 143 for imap. Returns undefined if the address is invalid.
 */
export function imapFolderOf(text: string): ImapFolder | undefined {
  const url = URL.parse(text);
  if (!url || !/^imaps?:$/.test(url.protocol) || url.username === '') return undefined;
  const server = serverIn(url, url.protocol === 'imaps:', { plain: 143, tls: 993 });
  try {
    const folder = decodeURIComponent(url.pathname.slice(1)) || 'INBOX';
    return server?.login && !/\p{Cc}/u.test(folder) ? { ...server, login: server.login, folder } : undefined;
  } catch {
    return undefined;
  }
}

function serverIn(url: URL, isTls: boolean, ports: { plain: number; tls: number }): SmtpServer | undefined {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const isPlain = /^[\w.:-]+$/.test(host) && url.hash === '' && ['', '?insecure'].includes(url.search);
  if (!isPlain || (url.username === '') !== (url.password === '')) return undefined;
  try {
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    return {
      host,
      port: Number(url.port) || (isTls ? ports.tls : ports.plain),
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

/** Returns the domain of an address, alone or with a name. */
export const domainOf = (mailbox: string): string => {
  const { address = mailbox } = mailboxOf(mailbox) ?? {};
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
};

/** How emails are signed with DKIM: by `domain`, with a private key (PEM) whose public key is in the DNS at the selector. */
export type DkimSigning = { domain: string; selector: string; key: string };

/** The minimum size of a signing key, in bits (RFC 8301 §3.2). */
const minKeyBits = 1024;

/** Returns the public key of a private RSA key for DKIM as base64, as its DNS record has it; undefined if the key is invalid. */
export function dkimKeyOf(pem: string): string | undefined {
  try {
    const key = createPrivateKey(pem);
    const isUsable =
      key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= minKeyBits;
    if (!isUsable) return undefined;
    return createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');
  } catch {
    return undefined;
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Returns how the settings sign emails; undefined: not at all. */
export function dkimIn(
  value: { DKIM_SELECTOR: string; DKIM_KEY: string; DKIM_DOMAIN: string },
  mailFrom: string,
): DkimSigning | undefined {
  const { DKIM_SELECTOR: selector, DKIM_KEY: key } = value;
  if (selector === '' || key === '') return undefined;
  return { selector, key, domain: value.DKIM_DOMAIN || domainOf(mailFrom) };
}

/** Returns where undeliverable emails are returned to, and read; undefined: nowhere. */
export function bouncesIn(value: {
  BOUNCE_ADDRESS: string;
  IMAP_URL: string;
}): { address: string; folder: ImapFolder } | undefined {
  const folder = imapFolderOf(value.IMAP_URL);
  return folder && { address: value.BOUNCE_ADDRESS, folder };
}
