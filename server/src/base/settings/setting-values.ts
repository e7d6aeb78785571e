// What the values of settings must be.
import { isEmail } from '@soundings/contract/formats.ts';
import { dkimKeyOf, imapFolderOf, mailboxOf, smtpServerOf } from '../messages/smtp.ts';
import { signingKeyOf, smsRequestOf, smsTemplates, smsUrlOf } from '../messages/sms.ts';
import { syslogAddressOf } from '../messages/syslog.ts';
import { isAddressRange, isOrigin, isSite, isTooWide } from '../network.ts';
import { roles, type Setting } from './settings.ts';

/** Returns what a setting of this kind must be, or undefined if the value is valid. */
export function expectedOf(kind: Setting['kind'], value: string): string | undefined {
  switch (kind) {
    case 'place':
      return /^(file|database)$/.test(value) ? undefined : 'file or database';
    case 'role':
      return roles.some((role) => role === value) ? undefined : 'all, web or worker';
    case 'port':
      return /^\d{1,5}$/.test(value) && Number(value) <= 65_535 ? undefined : 'a port (0 to 65535)';
    case 'seconds':
      return /^\d{1,4}$/.test(value) ? undefined : 'a number of seconds (0 to 9999)';
    case 'switch':
      return /^[01]$/.test(value) ? undefined : '0 or 1';
    case 'level':
      return levels.test(value) ? undefined : 'fatal, error, warn, info, debug, trace or silent';
    case 'url':
      return URL.canParse(value) ? undefined : 'an address such as scheme://host/';
    case 'site':
      return isSite(value) ? undefined : 'an address such as https://surveys.example.com';
    case 'addresses':
    case 'networks':
      return expectedRanges(kind, splitList(value));
    case 'origins':
      return value === '*' || value.split(',').every((part) => isOrigin(part.trim()))
        ? undefined
        : '* or a list of origins, such as https://example.com, separated by commas';
    case 'count':
      return /^\d{1,6}$/.test(value) ? undefined : 'a number (0 to 999999)';
    case 'smtp':
      return smtpServerOf(value)
        ? undefined
        : 'an address such as smtp://user:password@mail.example.com:587 (in user and password, write % as %25, / as %2F, @ as %40)';
    case 'mailbox':
      return mailboxOf(value) ? undefined : 'an address such as Soundings <soundings@example.com>';
    case 'address':
      return isEmail(value) ? undefined : 'an email address such as bounces@example.com';
    case 'imap':
      return imapFolderOf(value)
        ? undefined
        : 'an address such as imaps://user:password@mail.example.com/INBOX (in user and password, write % as %25, / as %2F, @ as %40)';
    case 'connections':
      return /^([1-9]|[1-4]\d|50)$/.test(value) ? undefined : 'a number of connections (1 to 50)';
    case 'domain':
      return isDomain(value) ? undefined : 'a domain such as example.com';
    case 'label':
      return isLabel(value) ? undefined : 'the first part of a DNS name, such as soundings';
    case 'signingKey':
      return dkimKeyOf(value)
        ? undefined
        : 'a private RSA key of at least 1024 bits, in PEM without a passphrase';
    case 'smsProvider':
      return value === 'custom' || Object.hasOwn(smsTemplates, value)
        ? undefined
        : `${Object.keys(smsTemplates).join(', ')} or custom`;
    case 'smsUrl':
      return smsUrlOf(value)
        ? undefined
        : 'an address such as https://sms.example.com/messages, without user and password';
    case 'smsRequest':
      return textOf(smsRequestOf(value));
    case 'smsLogin':
      return /^[\x20-\x7e]{1,1000}$/.test(value) ? undefined : 'a text of ASCII characters';
    case 'smsSecret':
      return signingKeyOf(value) ? undefined : 'whsec_ followed by 24 to 64 bytes in base64';
    case 'syslog':
      return syslogAddressOf(value) ? undefined : 'an address such as tls://logs.example.com:6514';
    case 'text':
      return undefined;
  }
}

/** Returns a value if it is a text. */
const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

const levels = /^(fatal|error|warn|info|debug|trace|silent)$/;

/** `addresses`: of proxies, `networks`: that requests can reach. */
function expectedRanges(kind: 'addresses' | 'networks', ranges: string[]): string | undefined {
  if (ranges.length === 0 || !ranges.every(isAddressRange))
    return 'a list of addresses or ranges, such as 10.0.0.0/8, separated by commas';
  if (kind === 'networks') return undefined;
  const wide = ranges.find(isTooWide);
  if (wide === undefined) return undefined;
  return `the addresses of your proxies or their networks (${wide} covers much of the Internet, where anyone could claim any address)`;
}

/** Whether a text can be the beginning of a DNS name. */
const isLabel = (text: string) => /^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i.test(text);
const isDomain = (text: string) => text.includes('.') && isEmail(`a@${text}`);

export function splitList(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
