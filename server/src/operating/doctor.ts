// soundings doctor: checks an installation and says what to do. Changes nothing: no table, no key, no setting. Every check ends within a few
// seconds, and all run even if one fails.
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { findingText, type MailArguments } from '@soundings/contract/console/mail-findings.ts';
import en from '@soundings/contract/text/en/mail.json' with { type: 'json' };
import type { Config, ReadSettings } from '../base/config.ts';
import { isLoopback } from '../base/messages/smtp.ts';
import { catalogue } from '../base/texts.ts';
import { checkMailSettings } from '../mail/check/mail-check.ts';
import { keyFileFacts } from '../sealing/key-facts.ts';
import { checkCertificate } from './certificate-check.ts';
import { checkWithDatabase } from './database.ts';
import { diskFacts } from './disk.ts';
import { checkDisk, diskUses } from './disk-check.ts';
import { checkNames, type Finding, reportOn, passwordsIn, redacted } from './findings.ts';
import { checkKeyFiles } from './keys-check.ts';
import { askPort, listenFault, reachableHost } from './ports.ts';
import { checkAddressSettings, checkPublicAnswer } from './proxy-check.ts';
import { askPublicUrl, isSoundingsAt } from './public-address.ts';
import { checkHttpPort, checkSftpPort, type PortState } from './sftp-check.ts';
import { endInTime } from './in-time.ts';
import { checkTracing } from './tracing/tracing-check.ts';

/** How long a check may take, in ms. The mail server has several steps. */
const limits = { check: 6_000, mail: 20_000, step: 3_000 };

export type DoctorOptions = {
  /** How long each check may take, in ms. */
  ms?: number;
  /** The clock, in ms. */
  now?: () => number;
  /** The directory for temporary files. */
  temporary?: string;
  /** The DNS servers to use instead of the machine's. */
  dnsServers?: string[];
};

/** Checks an installation. Returns what was found, in the order of `checkNames`. No secret is in a text. */
export async function examine(settings: ReadSettings, options: DoctorOptions = {}): Promise<Finding[]> {
  const { config, secrets } = settings;
  const ms = options.ms ?? limits.check;
  const now = options.now ?? Date.now;
  const isRunning = isSoundingsAt(ownAddress(config), Math.min(ms, limits.step));
  const found = await Promise.all([
    settingFindings(settings),
    endInTime('disk', ms, () => disk(config, options.temporary ?? tmpdir())),
    endInTime('keys', ms, () => keyFiles(config)),
    endInTime('certificate', ms, async () => certificate(config, now())),
    endInTime('proxy', ms, () => addresses(settings, isRunning, ms)),
    endInTime('mail', ms + limits.mail, () => mail(config, options)),
    endInTime('sftp', ms, () => sftp(config, isRunning)),
    endInTime('traces', ms, () => checkTracing(config.tracing, Math.min(ms, limits.step))),
    checkWithDatabase(config, { ms, now, isRunning }),
  ]);
  const hidden = secrets.flatMap((one) => [one, ...passwordsIn(one)]);
  const place = ({ check }: Finding) => checkNames.indexOf(check);
  return found
    .flat()
    .toSorted((a, b) => place(a) - place(b))
    .map((one) => redacted(one, hidden));
}

/** The address at which this machine reaches the service. */
function ownAddress({ host, port, tls }: Config): string {
  const reachable = reachableHost(host);
  return `${tls ? 'https' : 'http'}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

function settingFindings({ faults, warnings }: ReadSettings): Finding[] {
  const { ok, warning, problem } = reportOn('settings');
  return [
    ...faults.map((text) => problem('invalid', text)),
    ...warnings.map((text) => warning('renamed', `${text}.`)),
    ...(faults.length === 0
      ? [ok('valid', 'All settings are valid.')]
      : [warning('defaults', 'The other lines assume the defaults of the invalid settings.')]),
  ];
}

async function disk({ dataDir, databaseUrl }: Config, temporary: string): Promise<Finding[]> {
  const use = databaseUrl === undefined ? diskUses.database : diskUses.keys;
  return [
    ...checkDisk(await diskFacts(dataDir), use),
    ...checkDisk(await diskFacts(temporary), diskUses.temporary),
  ];
}

async function keyFiles({ answerKeys }: Config): Promise<Finding[]> {
  if (answerKeys.place === 'database') {
    const text =
      'ANSWER_KEYS=database: answers of closed weeks can be read in the log and the backups of the database until these are deleted. If you can mount a persistent volume, use ANSWER_KEYS=file.';
    return [reportOn('keys').warning('inDatabase', text)];
  }
  if (!existsSync(resolve(answerKeys.directory))) return [];
  return checkKeyFiles(await keyFileFacts(answerKeys.directory), process.getuid?.() === 0);
}

function certificate({ tls, publicUrl }: Config, now: number): Finding[] {
  if (tls) return checkCertificate(tls, { publicUrl, now });
  return [reportOn('certificate').ok('none', 'The service itself serves plain HTTP (no TLS_CERT_FILE).')];
}

async function addresses(
  { config, isPublicUrlSet }: ReadSettings,
  isRunning: Promise<boolean>,
  ms: number,
): Promise<Finding[]> {
  const { host, port, publicUrl, tls, trustProxy } = config;
  const own = checkAddressSettings({
    host,
    publicUrl,
    isPublicUrlSet,
    trustProxy,
    hasTls: tls !== undefined,
  });
  const state = await portState(host, port);
  const isServiceRunning = await isRunning;
  const ports = checkHttpPort(port, state, isServiceRunning);
  if (!isPublicUrlSet) return [...own, ...ports];
  const url = new URL(publicUrl);
  const publicPort = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const answer = await askPublicUrl(publicUrl, Math.min(ms, limits.step));
  const how = { publicUrl, isDirect: publicPort === port, isServiceRunning };
  return [...own, ...ports, ...checkPublicAnswer(answer, how)];
}

/** Returns what responds on a port, and if nothing does, whether the service could listen on it. */
async function portState(host: string, port: number): Promise<PortState> {
  const answer = port === 0 ? 'refused' : await askPort(host, port, 1_000);
  return { answer, fault: answer === 'refused' ? await listenFault(host, port) : undefined };
}

async function sftp({ host, sftpPort }: Config, isRunning: Promise<boolean>): Promise<Finding[]> {
  if (sftpPort === 0) return checkSftpPort(0, { answer: 'refused', fault: undefined }, false);
  return checkSftpPort(sftpPort, await portState(host, sftpPort), await isRunning);
}

async function mail(
  { smtpUrl, mailFrom, dkim, sms, publicUrl }: Config,
  { dnsServers, ms = limits.check }: DoctorOptions,
): Promise<Finding[]> {
  const { ok, warning } = reportOn('mail');
  const texts = sms
    ? [ok('sms', 'A gateway for text messages is configured. Test it with "soundings sms test".')]
    : [];
  if (smtpUrl === undefined) {
    const isTrial = isLoopback(URL.parse(publicUrl)?.hostname ?? '');
    const text =
      'SMTP_URL is not set, so no email is sent: no invitations, no links to sign in and no reports about files. Set it to your mail server.';
    return [(isTrial ? ok : warning)('off', text), ...texts];
  }
  const t = catalogue<typeof en, MailArguments>({ en }).in('en');
  const settings = { smtpUrl, mailFrom, dkim };
  const dns = dnsServers ? { dnsServers } : {};
  const found = await checkMailSettings(settings, { stepMs: Math.min(ms, limits.step), dnsMs: ms, ...dns });
  const outcomes = { ok: 'ok', note: 'warning', problem: 'problem' } as const;
  return [
    ...found.map((one): Finding => {
      const text = findingText(one, t);
      return { check: 'mail', outcome: outcomes[one.outcome], code: one.code, text };
    }),
    ...texts,
  ];
}
