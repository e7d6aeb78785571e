// Reads the settings of an installation (settings/settings.ts). No other file reads the environment; values are passed on as parameters.
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { Fault } from './errors.ts';
import { expectedOf, splitList } from './settings/setting-values.ts';
import { type Role, type Setting, settings } from './settings/settings.ts';
import { type SyslogServer, syslogAddressOf } from './messages/syslog.ts';
import { expectedOfTracing, isOfTracing, tracingIn, type TracingOptions } from './tracing/tracing-options.ts';
import { type TracingSetting, tracingSettings } from './tracing/tracing-settings.ts';
import {
  bouncesIn,
  dkimIn,
  type DkimSigning,
  type ImapFolder,
  isLoopback,
  mailboxOf,
  smtpServerOf,
} from './messages/smtp.ts';
import { type SmsGateway, smsGatewayOf } from './messages/sms.ts';

const allSettings = [...settings, ...tracingSettings];

/** Settings that have been renamed: the old names still work, and `settingWarnings` says so. */
const newNames: Record<string, (typeof allSettings)[number]['name']> = {
  ANSWER_CACHE_MB: 'RESPONSE_CACHE_MB',
};

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

export type Config = {
  host: string;
  port: number;
  dataDir: string;
  /** Where the keys of open weeks are stored (sealing/epoch-chain.ts). */
  answerKeys: { place: 'file' | 'database'; directory: string };
  role: Role;
  /** The address of the database at which each connection has its own session; undefined: the embedded one. */
  databaseUrl: string | undefined;
  /** The address of the same database through a pooler, which may share sessions between transactions; undefined: there is none. */
  pooledUrl: string | undefined;
  /** The address of a replica to read from; undefined: there is none. */
  replicaUrl: string | undefined;
  /** Where a backup is stored before the database is updated; undefined: none is created. */
  backupDir: string | undefined;
  tls: { cert: string; key: string } | undefined;
  trustProxy: string[];
  /** Plain HTTP is accepted only from this machine and from the trusted proxies, which serve HTTPS to people. */
  httpsOnly: boolean;
  publicUrl: string;
  corsOrigins: string[];
  rateLimit: number;
  sandboxes: number;
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
  /** Private addresses and ranges that requests to addresses entered in the console can reach. */
  outgoingNetworks: string[];
  /** The syslog server that gets the audit log; undefined: none. */
  auditSyslog: SyslogServer | undefined;
  metricsToken: string | undefined;
  /** Where traces are sent, and how; undefined: nothing is traced. */
  tracing: TracingOptions | undefined;
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
    allSettings.map((setting) => [setting.name, readSetting(setting, renamed, faults)]),
  ) as Values;
  const tls = readTls(value.TLS_CERT_FILE, value.TLS_KEY_FILE, faults);
  const trustProxy = splitList(value.TRUST_PROXY);
  if (!tls && trustProxy.length === 0 && value.ALLOW_PLAIN_HTTP !== '1' && !isLoopback(value.HOST)) {
    faults.push(
      `HOST is ${value.HOST}, so tokens would cross the network unencrypted (plain HTTP). Set TLS_CERT_FILE and ` +
        'TLS_KEY_FILE, or set TRUST_PROXY to your HTTPS proxy, or set ALLOW_PLAIN_HTTP=1 if this is intended.',
    );
  }
  if (value.ROLE !== 'all' && value.DATABASE_URL === '')
    faults.push(
      'ROLE is not all, so processes with other roles need the same database. Set DATABASE_URL, or remove ROLE.',
    );
  for (const name of ['DATABASE_URL_DIRECT', 'DATABASE_URL_READ'] as const)
    if (value[name] !== '' && value.DATABASE_URL === '')
      faults.push(`${name} is set but DATABASE_URL is not. Set DATABASE_URL, or remove ${name}.`);
  faults.push(...mailFaults(value, faults));
  const sms = smsGatewayOf(value, faults);
  if (sms && !isLoopback(sms.url.hostname) && value.PUBLIC_URL === '')
    faults.push(linksNeedUrl('SMS_PROVIDER', 'text messages'));
  const auditSyslog = auditSyslogIn(value, faults);
  const tracing = tracingIn(faults.length > 0 ? withDefaults(value) : value, faults, (setting, path) =>
    readFile(setting, path, faults),
  );
  const parsed = { tls, trustProxy, sms, auditSyslog, tracing };
  return {
    config: configOf(faults.length > 0 ? withDefaults(value) : value, parsed),
    isPublicUrlSet: value.PUBLIC_URL !== '',
    secrets: allSettings.flatMap((one) => ('secret' in one && value[one.name] ? [value[one.name]] : [])),
    faults,
    warnings: settingWarnings(env),
  };
}

type Values = Record<(typeof allSettings)[number]['name'], string>;

/** Returns the settings with the default in place of each invalid one. */
const withDefaults = (value: Values): Values =>
  Object.fromEntries(
    allSettings.map(({ name, kind, fallback }) => {
      const isValid = value[name] === fallback || expectedUnless(kind, value[name]) === undefined;
      return [name, isValid ? value[name] : fallback];
    }),
  ) as Values;

function configOf(
  value: Values,
  parsed: Pick<Config, 'tls' | 'trustProxy' | 'sms' | 'auditSyslog' | 'tracing'>,
): Config {
  const { tls, trustProxy } = parsed;
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
    role: value.ROLE as Role,
    databaseUrl: value.DATABASE_URL_DIRECT || value.DATABASE_URL || undefined,
    pooledUrl: value.DATABASE_URL_DIRECT === '' ? undefined : value.DATABASE_URL || undefined,
    replicaUrl: value.DATABASE_URL_READ || undefined,
    backupDir: value.BACKUP_DIR === 'off' ? undefined : value.BACKUP_DIR || join(value.DATA_DIR, 'backups'),
    ...parsed,
    httpsOnly:
      !tls &&
      trustProxy.length > 0 &&
      !value.PUBLIC_URL.startsWith('http:') &&
      value.ALLOW_PLAIN_HTTP !== '1',
    publicUrl,
    corsOrigins: splitList(value.CORS_ORIGINS),
    rateLimit: Number(value.RATE_LIMIT),
    sandboxes: Number(value.SANDBOXES),
    responseCacheMb: Number(value.RESPONSE_CACHE_MB),
    sftpPort: Number(value.SFTP_PORT),
    fileDays: Number(value.FILE_DAYS),
    smtpUrl: value.SMTP_URL || undefined,
    mailFrom,
    smtpConnections: Number(value.SMTP_CONNECTIONS),
    dkim: dkimIn(value, mailFrom),
    bounces: bouncesIn(value),
    outgoingNetworks: splitList(value.OUTGOING_NETWORKS),
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

export const pushTokenIn = (env: Environment): string | undefined => env['SOUNDINGS_TOKEN'];

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

function readSetting(setting: Setting | TracingSetting, env: Environment, faults: string[]): string {
  const { name, kind, fallback } = setting;
  let value = env[name]?.trim() || undefined;
  const isPlace = name.endsWith('_FILE') || kind === 'otlpPlace';
  const file = isPlace ? undefined : env[`${name}_FILE`]?.trim() || undefined;
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
const expectedUnless = (kind: (Setting | TracingSetting)['kind'], value: string): string | undefined =>
  isOfTracing(kind) ? expectedOfTracing(kind, value) : expectedOf(kind, value);

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

/** Returns the host for the sender of emails: that of PUBLIC_URL, unless it is an IP address. */
function mailHostOf(publicUrl: string): string {
  const host = URL.parse(publicUrl)?.hostname ?? '';
  return isIP(host) === 0 && mailboxOf(`soundings@${host}`) ? host : 'localhost';
}
