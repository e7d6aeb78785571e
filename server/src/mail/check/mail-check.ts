// Tests the email settings: connects to the mail server step by step, sends an email if nothing fails, and reads the DNS records of the
// sender's domain. The console and the soundings command use it.
import { hasProblem, type MailFinding } from '@soundings/contract/console/mail-findings.ts';
import { type DkimSigning, mailboxOf, smtpServerOf } from '../../base/messages/smtp.ts';
import type { Mail, Mailer } from '../mail.ts';
import { openDns } from './dns.ts';
import { checkDomain } from './domain-check.ts';
import { finding } from './findings.ts';
import { checkServer } from './server-check.ts';

export type MailCheckSettings = { smtpUrl: string; mailFrom: string; dkim: DkimSigning | undefined };

/**
 * `stepMs`: how long each step of the connection may take, in ms. `dnsMs`: how long all DNS queries together may take, in
 * ms. `dnsServers`: the DNS servers to use instead of the machine's.
 */
export type MailCheckOptions = { stepMs?: number; dnsMs?: number; dnsServers?: string[] };

/** Tests the settings with an email. Its recipient must be a valid address. Returns what was found, in the order of the steps. */
export async function checkMail(
  settings: MailCheckSettings,
  mailer: Mailer,
  mail: Mail,
  options: MailCheckOptions = {},
): Promise<MailFinding[]> {
  return checkMailSettings(settings, options, { to: mail.to, deliver: () => deliver(mailer, mail) });
}

/** Tests the settings. Without `test`, it names no recipient and sends no email. */
export async function checkMailSettings(
  { smtpUrl, mailFrom, dkim }: MailCheckSettings,
  { stepMs = 10_000, dnsMs = 20_000, dnsServers }: MailCheckOptions,
  test?: { to: string; deliver: () => Promise<MailFinding> },
): Promise<MailFinding[]> {
  const [server, from] = [smtpServerOf(smtpUrl), mailboxOf(mailFrom)];
  if (!server || !from) throw new Error('SMTP_URL or MAIL_FROM is invalid (see base/messages/smtp.ts)');
  const { findings, addresses } = await checkServer(server, { from, ...(test && { to: test.to }) }, stepMs);
  const delivery = !test || hasProblem(findings) ? [] : [await test.deliver()];
  const signal = AbortSignal.timeout(dnsMs);
  const domain = await checkDomain(
    openDns(signal, dnsServers),
    { from, dkim },
    { host: server.host, addresses },
  );
  return [...findings, ...delivery, ...domain];
}

async function deliver(mailer: Mailer, mail: Mail): Promise<MailFinding> {
  try {
    await mailer.send(mail);
    return finding('delivery', 'ok', 'delivered', { address: mail.to });
  } catch (error) {
    return finding('delivery', 'problem', 'notDelivered', { reason: (error as Error).message });
  }
}
