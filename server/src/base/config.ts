// Reads the settings of an installation (settings.ts). No other file reads the environment; values are passed on as parameters.
import { isEmail } from '@soundings/contract/formats.ts';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { isAddressRange, isOrigin, isSite, isTooWide } from './network.ts';
import { Fault } from './errors.ts';
import { type Setting, settings } from './settings.ts';
import { type SyslogServer, syslogAddressOf } from './messages/syslog.ts';
import {
  type DkimSigning,
  dkimKeyOf,
  domainOf,
  type ImapFolder,
  imapFolderOf,
  isLoopback,
  mailboxOf,
  smtpServerOf,
} from './smtp.ts';
import {
  signingKeyOf,
  type SmsGateway,
  smsGatewayOf,
  smsRequestOf,
  smsTemplates,
  smsUrlOf,
} from './messages/sms.ts';

/** Settings that have been renamed: the old names still work, and `settingWarnings` says so. */
const newNames: Record<string, (typeof settings)[number]['name']> = { ANSWER_CACHE_MB: 'RESPONSE_CACHE_MB' };

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

export type Config = {
  host: string;
  port: number;
  dataDir: string;
  /** Where the keys of open weeks are stored (sealing/epoch-chain.ts). */
  answerKeys: { place: 'file' | 'database'; directory: string };
  databaseUrl: string | undefined;
  /** Where a backup is stored before the database is updated; undefined: none is created. */
  backupDir: string | undefined;
  tls: { cert: string; key: string } | undefined;
  trustProxy: string[];
  /** Plain HTTP is accepted only from this machine and from the trusted proxies, which serve HTTPS to people. */
  httpsOnly: boolean;
  publicUrl: string;
  corsOrigins: string[];
  rateLimit: number;
  responseCacheMb: number;
  sftpPort: number;
  fileDays: number;
  smtpUrl: string | undefined;
  mailFrom: string;
  smtpConnections: number;
  /** How emails are signed; undefined: they are not. */
  dkim: DkimSigning | undefined;
  /** The address to which undeliverable emails are returned, and the mailbox where they arrive. */
  bounces: { address: string; folder: ImapFolder } | undefined;
  /** The gateway for text messages; undefined: none are sent. */
  sms: SmsGateway | undefined;
  /** The syslog server that gets the audit log; undefined: none. */
  auditSyslog: SyslogServer | undefined;
  metricsToken: string | undefined;
  logLevel: LogLevel;
  drainSeconds: number;
  shutdownSeconds: number;
};

type Environment = Record<string, string | undefined>;

/**
 * The settings, what is wrong with them, and warnings. Invalid settings have their default in `config`. `secrets`: the values of secret
 * settings, which must not be printed.
 */
export type ReadSettings = {
  config: Config;
  isPublicUrlSet: boolean;
  secrets: string[];
  faults: string[];
  warnings: string[];
};

/**
 * Reads the settings. Each can also be given as NAME_FILE, the path of a file that contains the value (except settings that
 * name a file anyway). Throws one Fault that lists every invalid setting.
 */
export function readConfig(env: Environment): Config {
  const { config, faults } = readSettings(env);
  if (faults.length === 0) return config;
  throw new Fault('invalid', 'invalid configuration', `Invalid configuration:\n- ${faults.join('\n- ')}`);
}

/** Reads the settings, and reports what is invalid instead of throwing. For `soundings doctor`: the service never runs with them. */
export function readSettings(env: Environment): ReadSettings {
  const faults: string[] = [];
  const renamed = withNewNames(env, faults);
  const value = Object.fromEntries(
    settings.map((setting) => [setting.name, readSetting(setting, renamed, faults)]),
  ) as Values;
  const tls = readTls(value.TLS_CERT_FILE, value.TLS_KEY_FILE, faults);
  const trustProxy = listOf(value.TRUST_PROXY);
  if (!tls && trustProxy.length === 0 && value.ALLOW_PLAIN_HTTP !== '1' && !isLoopback(value.HOST)) {
    faults.push(
      `HOST is ${value.HOST}, so tokens would cross the network unencrypted (plain HTTP). Set TLS_CERT_FILE and ` +
        'TLS_KEY_FILE, or set TRUST_PROXY to your HTTPS proxy, or set ALLOW_PLAIN_HTTP=1 if this is intended.',
    );
  }
  faults.push(...mailFaults(value, faults));
  const sms = smsGatewayOf(value, faults);
  if (sms && !isLoopback(sms.url.hostname) && value.PUBLIC_URL === '')
    faults.push(linksNeedUrl('SMS_PROVIDER', 'text messages'));
  const auditSyslog = auditSyslogIn(value, faults);
  return {
    config: configOf(faults.length > 0 ? withDefaults(value) : value, { tls, trustProxy, sms, auditSyslog }),
    isPublicUrlSet: value.PUBLIC_URL !== '',
    secrets: settings.flatMap((one) => ('secret' in one && value[one.name] ? [value[one.name]] : [])),
    faults,
    warnings: settingWarnings(env),
  };
}

type Values = Record<(typeof settings)[number]['name'], string>;

/** Returns the settings with the default in place of each invalid one. */
const withDefaults = (value: Values): Values =>
  Object.fromEntries(
    settings.map(({ name, kind, fallback }) => {
      const isValid = value[name] === fallback || expectedUnless(kind, value[name]) === undefined;
      return [name, isValid ? value[name] : fallback];
    }),
  ) as Values;

function configOf(
  value: Values,
  { tls, trustProxy, sms, auditSyslog }: Pick<Config, 'tls' | 'trustProxy' | 'sms' | 'auditSyslog'>,
): Config {
  const shownHost = value.HOST.includes(':') ? `[${value.HOST}]` : value.HOST;
  const listensAt = `${tls ? 'https' : 'http'}://${shownHost}:${value.PORT}`;
  const publicUrl = (value.PUBLIC_URL || listensAt).replace(/\/+$/, '');
  const mailFrom = value.MAIL_FROM || `Soundings <soundings@${mailHostOf(publicUrl)}>`;
  return {
    host: value.HOST,
    port: Number(value.PORT),
    dataDir: value.DATA_DIR,
    answerKeys: {
      place: value.ANSWER_KEYS as 'file' | 'database',
      directory: join(value.DATA_DIR, 'keys'),
    },
    databaseUrl: value.DATABASE_URL || undefined,
    backupDir: value.BACKUP_DIR === 'off' ? undefined : value.BACKUP_DIR || join(value.DATA_DIR, 'backups'),
    tls,
    trustProxy,
    httpsOnly:
      !tls &&
      trustProxy.length > 0 &&
      !value.PUBLIC_URL.startsWith('http:') &&
      value.ALLOW_PLAIN_HTTP !== '1',
    publicUrl,
    corsOrigins: listOf(value.CORS_ORIGINS),
    rateLimit: Number(value.RATE_LIMIT),
    responseCacheMb: Number(value.RESPONSE_CACHE_MB),
    sftpPort: Number(value.SFTP_PORT),
    fileDays: Number(value.FILE_DAYS),
    smtpUrl: value.SMTP_URL || undefined,
    mailFrom,
    smtpConnections: Number(value.SMTP_CONNECTIONS),
    dkim: dkimIn(value, mailFrom),
    bounces: bouncesIn(value),
    sms,
    auditSyslog,
    metricsToken: value.METRICS_TOKEN || undefined,
    logLevel: value.LOG_LEVEL as LogLevel,
    drainSeconds: Number(value.DRAIN_SECONDS),
    shutdownSeconds: Number(value.SHUTDOWN_SECONDS),
  };
}

const linksNeedUrl = (setting: string, messages: string) =>
  `${setting} is set but PUBLIC_URL is not, so the links in ${messages} would not work. Set PUBLIC_URL to the public address of the service.`;

/** Returns what is wrong with the combination of the mail settings. `faults`: those of single settings. */
function mailFaults(
  value: Record<
    'SMTP_URL' | 'PUBLIC_URL' | 'DKIM_SELECTOR' | 'DKIM_KEY' | 'BOUNCE_ADDRESS' | 'IMAP_URL',
    string
  >,
  faults: readonly string[],
): string[] {
  const smtp = smtpServerOf(value.SMTP_URL);
  const isOneMissing = (one: keyof typeof value, other: keyof typeof value) =>
    (value[one] === '') !== (value[other] === '') &&
    !faults.some((fault) => fault.startsWith(`${one} `) || fault.startsWith(`${other} `));
  return [
    ...(smtp && !isLoopback(smtp.host) && value.PUBLIC_URL === ''
      ? [linksNeedUrl('SMTP_URL', 'emails')]
      : []),
    ...(
      [
        ['DKIM_SELECTOR', 'DKIM_KEY'],
        ['BOUNCE_ADDRESS', 'IMAP_URL'],
      ] as const
    ).flatMap(([one, other]) =>
      isOneMissing(one, other) ? [`${one} and ${other} must be set together, but one is missing.`] : [],
    ),
  ];
}

/** Returns a warning for each old name of a setting that is still used. */
export function settingWarnings(env: Environment): string[] {
  return oldNamesIn(env).map(
    ({ old, name }) => `${old} is now called ${name}. The old name still works, but will be removed`,
  );
}

/** Returns the settings under their current names. */
function withNewNames(env: Environment, faults: string[]): Environment {
  const renamed = { ...env };
  for (const { old, name } of oldNamesIn(env)) {
    if (env[name]?.trim()) faults.push(`${old} is now called ${name}, and both are set. Remove ${old}.`);
    else renamed[name] = env[old];
  }
  return renamed;
}

const oldNamesIn = (env: Environment) =>
  Object.entries(newNames)
    .flatMap(([old, name]) => ['', '_FILE'].map((end) => ({ old: old + end, name: name + end })))
    .filter(({ old }) => env[old]?.trim());

function listOf(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function readSetting(setting: Setting, env: Environment, faults: string[]): string {
  const { name, kind, fallback } = setting;
  let value = env[name]?.trim() || undefined;
  const file = name.endsWith('_FILE') ? undefined : env[`${name}_FILE`]?.trim() || undefined;
  if (file !== undefined) {
    if (value !== undefined) faults.push(`${name} and ${name}_FILE are both set. Remove one of them.`);
    value = readFile(`${name}_FILE`, file, faults).trim();
  }
  value ??= fallback;
  const expected = value === '' && fallback === '' ? undefined : expectedUnless(kind, value);
  if (expected !== undefined) {
    faults.push(
      `${name} must be ${expected}${setting.secret ? '.' : `, but it is ${JSON.stringify(value)}.`}`,
    );
  }
  return value;
}

/** Returns what a setting of this kind must be, or undefined if the value is valid. */
function expectedUnless(kind: Setting['kind'], value: string): string | undefined {
  switch (kind) {
    case 'place':
      return /^(file|database)$/.test(value) ? undefined : 'file or database';
    case 'port':
      return /^\d{1,5}$/.test(value) && Number(value) <= 65_535 ? undefined : 'a port (0 to 65535)';
    case 'seconds':
      return /^\d{1,4}$/.test(value) ? undefined : 'a number of seconds (0 to 9999)';
    case 'switch':
      return /^[01]$/.test(value) ? undefined : '0 or 1';
    case 'level':
      return /^(fatal|error|warn|info|debug|trace|silent)$/.test(value)
        ? undefined
        : 'fatal, error, warn, info, debug, trace or silent';
    case 'url':
      return URL.canParse(value) ? undefined : 'an address such as scheme://host/';
    case 'site':
      return isSite(value) ? undefined : 'an address such as https://surveys.example.com';
    case 'addresses':
      return expectedProxies(value.split(',').map((part) => part.trim()));
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
      return /^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i.test(value)
        ? undefined
        : 'the first part of a DNS name, such as soundings';
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

function expectedProxies(ranges: string[]): string | undefined {
  if (!ranges.every(isAddressRange))
    return 'a list of addresses or ranges, such as 10.0.0.0/8, separated by commas';
  const wide = ranges.find(isTooWide);
  if (wide === undefined) return undefined;
  return `the addresses of your proxies or their networks (${wide} covers much of the Internet, where anyone could claim any address)`;
}

function readTls(certFile: string, keyFile: string, faults: string[]): Config['tls'] {
  if (certFile === '' && keyFile === '') return undefined;
  if (certFile === '' || keyFile === '') {
    faults.push('TLS_CERT_FILE and TLS_KEY_FILE must be set together, but one is missing.');
    return undefined;
  }
  const cert = readFile('TLS_CERT_FILE', certFile, faults);
  const key = readFile('TLS_KEY_FILE', keyFile, faults);
  return cert === '' || key === '' ? undefined : { cert, key };
}

function readFile(setting: string, file: string, faults: string[]): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    faults.push(`${setting}: cannot read the file ${file} (${(error as NodeJS.ErrnoException).code}).`);
    return '';
  }
}

function dkimIn(
  value: { DKIM_SELECTOR: string; DKIM_KEY: string; DKIM_DOMAIN: string },
  mailFrom: string,
): DkimSigning | undefined {
  const { DKIM_SELECTOR: selector, DKIM_KEY: key } = value;
  if (selector === '' || key === '') return undefined;
  return { selector, key, domain: value.DKIM_DOMAIN || domainOf(mailFrom) };
}

function bouncesIn(value: { BOUNCE_ADDRESS: string; IMAP_URL: string }): Config['bounces'] {
  const folder = imapFolderOf(value.IMAP_URL);
  return folder && { address: value.BOUNCE_ADDRESS, folder };
}

function auditSyslogIn(
  value: { AUDIT_SYSLOG: string; AUDIT_SYSLOG_CA_FILE: string },
  faults: string[],
): SyslogServer | undefined {
  const [address, file] = [syslogAddressOf(value.AUDIT_SYSLOG), value.AUDIT_SYSLOG_CA_FILE];
  if (file === '') return address && { ...address, ca: undefined };
  if (value.AUDIT_SYSLOG === '')
    faults.push('AUDIT_SYSLOG_CA_FILE is set, but AUDIT_SYSLOG is missing. Set it, or remove the file.');
  const ca = readFile('AUDIT_SYSLOG_CA_FILE', file, faults);
  return address && { ...address, ca };
}

const isDomain = (text: string) => text.includes('.') && isEmail(`a@${text}`);

/** Returns the host for the sender of emails: that of PUBLIC_URL, unless it is an IP address. */
function mailHostOf(publicUrl: string): string {
  const host = URL.parse(publicUrl)?.hostname ?? '';
  return isIP(host) === 0 && mailboxOf(`soundings@${host}`) ? host : 'localhost';
}
