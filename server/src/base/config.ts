// The settings of an installation: one table. Nothing else reads the environment; values are handed down.
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { isAddressRange, isTooWide } from './addresses.ts';
import { Fault } from './errors.ts';
import { isLoopback, mailboxOf, smtpServerOf } from './smtp.ts';

type Setting = {
  name: string;
  kind:
    | 'text'
    | 'place'
    | 'port'
    | 'seconds'
    | 'switch'
    | 'level'
    | 'url'
    | 'site'
    | 'addresses'
    | 'origins'
    | 'count'
    | 'smtp'
    | 'mailbox';
  fallback: string;
  secret?: true;
  sentence: string;
};

/** Every setting, in the order of docs/configuration.md, which is written from this table. */
export const settings = [
  { name: 'HOST', kind: 'text', fallback: '127.0.0.1', sentence: 'The address to listen on.' },
  { name: 'PORT', kind: 'port', fallback: '8080', sentence: 'The port of the HTTP(S) interfaces.' },
  { name: 'DATA_DIR', kind: 'text', fallback: './data', sentence: 'Where the embedded database lives.' },
  {
    name: 'ANSWER_KEYS',
    kind: 'place',
    fallback: 'file',
    sentence:
      'Where the keys of open weeks and of secrets are kept. file: in DATA_DIR/keys, outside the database. database: in the database, for a container without a persistent volume; answers of closed weeks can then be read from its log and backups until those are recycled.',
  },
  {
    name: 'DATABASE_URL',
    kind: 'url',
    fallback: '',
    secret: true,
    sentence: 'A PostgreSQL (15 or newer) to use in place of the embedded one.',
  },
  { name: 'TLS_CERT_FILE', kind: 'text', fallback: '', sentence: 'The certificate chain (PEM); then HTTPS.' },
  { name: 'TLS_KEY_FILE', kind: 'text', fallback: '', sentence: 'The private key of the certificate (PEM).' },
  {
    name: 'TRUST_PROXY',
    kind: 'addresses',
    fallback: '',
    sentence:
      'Addresses or ranges, separated by commas, of the proxies in front whose X-Forwarded headers count.',
  },
  {
    name: 'ALLOW_PLAIN_HTTP',
    kind: 'switch',
    fallback: '0',
    sentence: '1: plain HTTP on an address other than loopback is meant.',
  },
  {
    name: 'PUBLIC_URL',
    kind: 'site',
    fallback: '',
    sentence:
      'The address that customers see, such as https://surveys.example.com. Default: where it listens.',
  },
  {
    name: 'CORS_ORIGINS',
    kind: 'origins',
    fallback: '',
    sentence:
      'Origins, separated by commas, whose pages may read the data interface in a browser, or * for all. Default: none.',
  },
  {
    name: 'RATE_LIMIT',
    kind: 'count',
    fallback: '600',
    sentence:
      'How many requests a minute a token has, at all interfaces together; 0: any number. SFTP has limits of its own.',
  },
  {
    name: 'ANSWER_CACHE_MB',
    kind: 'count',
    fallback: '32',
    sentence:
      'How many megabytes of answers of the data interface are kept in memory, to be sent again while nothing has changed; 0: none.',
  },
  {
    name: 'SFTP_PORT',
    kind: 'port',
    fallback: '2222',
    sentence: 'The port of the SFTP interface; 0: off.',
  },
  {
    name: 'FILE_DAYS',
    kind: 'count',
    fallback: '30',
    sentence: 'How many days uploaded files, and what is held of them, are kept after they were processed.',
  },
  {
    name: 'SMTP_URL',
    kind: 'smtp',
    fallback: '',
    secret: true,
    sentence:
      'The mail server, such as `smtp://user:password@mail.example.com:587`, or `smtps://` for TLS from the first byte on. TLS and a certificate that holds are demanded, unless the server is on loopback or the address ends in `?insecure`. Default: no mail is sent.',
  },
  {
    name: 'MAIL_FROM',
    kind: 'mailbox',
    fallback: '',
    sentence:
      'Who mail comes from, such as `Soundings <soundings@example.com>`. Default: soundings@ the host of PUBLIC_URL.',
  },
  {
    name: 'METRICS_TOKEN',
    kind: 'text',
    fallback: '',
    secret: true,
    sentence:
      'Who sends it as `Authorization` may read `GET /metrics` from anywhere. Default: only this machine may, and behind a proxy nobody.',
  },
  {
    name: 'LOG_LEVEL',
    kind: 'level',
    fallback: 'info',
    sentence: 'The least severe messages to log: fatal, error, warn, info, debug, trace or silent.',
  },
  {
    name: 'DRAIN_SECONDS',
    kind: 'seconds',
    fallback: '5',
    sentence:
      'How long the service still takes requests after SIGTERM, while /health/ready is 503 already. Longer than a load balancer in front needs to notice.',
  },
  {
    name: 'SHUTDOWN_SECONDS',
    kind: 'seconds',
    fallback: '60',
    sentence: 'How long a stop then waits for running requests.',
  },
] as const satisfies readonly Setting[];

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

export type Config = {
  host: string;
  port: number;
  dataDir: string;
  /** Where the key of open weeks is kept (sealing/answer-keys.ts). */
  answerKeys: { place: 'file' | 'database'; directory: string };
  databaseUrl: string | undefined;
  tls: { cert: string; key: string } | undefined;
  trustProxy: string[];
  /** Plain HTTP is for the proxies in front, who take HTTPS from people, and for this machine. */
  httpsOnly: boolean;
  publicUrl: string;
  corsOrigins: string[];
  rateLimit: number;
  answerCacheMb: number;
  sftpPort: number;
  fileDays: number;
  smtpUrl: string | undefined;
  mailFrom: string;
  metricsToken: string | undefined;
  logLevel: LogLevel;
  drainSeconds: number;
  shutdownSeconds: number;
};

type Environment = Record<string, string | undefined>;

/**
 * Reads the settings. Any of them may be given as NAME_FILE, the name of a file that holds the value (save those
 * that name a file anyway). Throws one Fault that lists everything wrong.
 */
export function readConfig(env: Environment): Config {
  const faults: string[] = [];
  const value = Object.fromEntries(
    settings.map((setting) => [setting.name, readSetting(setting, env, faults)]),
  ) as Record<(typeof settings)[number]['name'], string>;
  const tls = readTls(value.TLS_CERT_FILE, value.TLS_KEY_FILE, faults);
  const trustProxy = listOf(value.TRUST_PROXY);
  if (!tls && trustProxy.length === 0 && value.ALLOW_PLAIN_HTTP !== '1' && !isLoopback(value.HOST)) {
    faults.push(
      `HOST is ${value.HOST}, and tokens would cross the network in plain HTTP. Set TLS_CERT_FILE and TLS_KEY_FILE, ` +
        'or TRUST_PROXY to the proxy in front that speaks HTTPS, or ALLOW_PLAIN_HTTP=1 if this is meant.',
    );
  }
  const smtp = smtpServerOf(value.SMTP_URL);
  if (smtp && !isLoopback(smtp.host) && value.PUBLIC_URL === '') {
    faults.push(
      'SMTP_URL is set and PUBLIC_URL is not: the links in mails would lead nowhere. Set PUBLIC_URL to the address at which ' +
        'people find the service.',
    );
  }
  if (faults.length > 0) {
    throw new Fault(
      'invalid',
      'invalid configuration',
      `The configuration has faults:\n- ${faults.join('\n- ')}`,
    );
  }
  const shownHost = value.HOST.includes(':') ? `[${value.HOST}]` : value.HOST;
  const listensAt = `${tls ? 'https' : 'http'}://${shownHost}:${value.PORT}`;
  const publicUrl = (value.PUBLIC_URL || listensAt).replace(/\/+$/, '');
  return {
    host: value.HOST,
    port: Number(value.PORT),
    dataDir: value.DATA_DIR,
    answerKeys: {
      place: value.ANSWER_KEYS as 'file' | 'database',
      directory: join(value.DATA_DIR, 'keys'),
    },
    databaseUrl: value.DATABASE_URL || undefined,
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
    answerCacheMb: Number(value.ANSWER_CACHE_MB),
    sftpPort: Number(value.SFTP_PORT),
    fileDays: Number(value.FILE_DAYS),
    smtpUrl: value.SMTP_URL || undefined,
    mailFrom: value.MAIL_FROM || `Soundings <soundings@${mailHostOf(publicUrl)}>`,
    metricsToken: value.METRICS_TOKEN || undefined,
    logLevel: value.LOG_LEVEL as LogLevel,
    drainSeconds: Number(value.DRAIN_SECONDS),
    shutdownSeconds: Number(value.SHUTDOWN_SECONDS),
  };
}

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
    if (value !== undefined) faults.push(`${name} and ${name}_FILE are both set: keep one.`);
    value = readFile(`${name}_FILE`, file, faults).trim();
  }
  value ??= fallback;
  const wanted = value === '' && fallback === '' ? undefined : unlike(kind, value);
  if (wanted !== undefined) {
    faults.push(`${name} is ${setting.secret ? 'not' : `${JSON.stringify(value)}, which is not`} ${wanted}.`);
  }
  return value;
}

/** What a value of the kind should be, when this one is not. */
function unlike(kind: Setting['kind'], value: string): string | undefined {
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
      return unlikeProxies(value.split(',').map((part) => part.trim()));
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
    case 'text':
      return undefined;
  }
}

function unlikeProxies(ranges: string[]): string | undefined {
  if (!ranges.every(isAddressRange))
    return 'a list of addresses or ranges, such as 10.0.0.0/8, separated by commas';
  const wide = ranges.find(isTooWide);
  if (wide === undefined) return undefined;
  return `a list of proxies: ${wide} takes in much of the Internet, and anyone there could claim any address. Name the proxy itself, or its network`;
}

function readTls(certFile: string, keyFile: string, faults: string[]): Config['tls'] {
  if (certFile === '' && keyFile === '') return undefined;
  if (certFile === '' || keyFile === '') {
    faults.push('TLS_CERT_FILE and TLS_KEY_FILE go together: one is missing.');
    return undefined;
  }
  return {
    cert: readFile('TLS_CERT_FILE', certFile, faults),
    key: readFile('TLS_KEY_FILE', keyFile, faults),
  };
}

function readFile(setting: string, file: string, faults: string[]): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    faults.push(`${setting} names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`);
    return '';
  }
}

/** An address of a website without a user or password, a query or a fragment: paths are added to it. */
function isSite(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '')
  );
}

/** As a browser writes it in the Origin header, with which it is compared. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** The host that mail is sent from: an address of the Internet is none. */
function mailHostOf(publicUrl: string): string {
  const host = URL.parse(publicUrl)?.hostname ?? '';
  return isIP(host) === 0 && mailboxOf(`soundings@${host}`) ? host : 'localhost';
}
