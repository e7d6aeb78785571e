// Checks the DNS records of the sender's domain, as far as they show whether receivers accept our emails: MX, SPF, DKIM and DMARC. Each
// problem comes with the record to add.
import type { MailFinding } from '@soundings/contract/console/mail-findings.ts';
import { isIP } from 'node:net';
import {
  type DkimSigning,
  dkimKeyOf,
  domainOf,
  type Mailbox,
  type SmtpServer,
} from '../../base/messages/smtp.ts';
import { isNear } from '../../base/network.ts';
import { asLine } from './dialog.ts';
import { type Dns, DnsUnavailable } from './dns.ts';
import { finding } from './findings.ts';
import { allowsAll, evaluateSpf, spfRecordsIn } from './spf.ts';

type Sender = { from: Mailbox; dkim: DkimSigning | undefined };

/** Checks the domain of a sender. `server`: the mail server, with the addresses of its name. */
export async function checkDomain(
  dns: Dns,
  { from, dkim }: Sender,
  server: { host: SmtpServer['host']; addresses: string[] },
): Promise<MailFinding[]> {
  const domain = domainOf(from.address);
  if (!domain.includes('.') || /\.(?:local|localhost|internal|lan|test|invalid|example)$/.test(domain))
    return [finding('mx', 'note', 'domainLocal', { address: from.address })];
  const mx = orUnavailable('mx', () => checkMx(dns, domain));
  const spf = orUnavailable('spf', () => checkSpf(dns, domain, server));
  const signing = orUnavailable('dkim', () => checkDkim(dns, domain, dkim));
  const passes = (found: MailFinding[]) =>
    found.some(({ code }) => code === 'spfPasses' || code === 'dkimPasses') &&
    found.every(({ outcome }) => outcome !== 'problem');
  const dmarc = orUnavailable('dmarc', async () =>
    checkDmarc(dns, domain, passes(await spf) || passes(await signing)),
  );
  return (await Promise.all([mx, spf, signing, dmarc])).flat();
}

/** Returns what a check finds, or that its records couldn't be read. */
async function orUnavailable(
  step: MailFinding['step'],
  check: () => Promise<MailFinding[]>,
): Promise<MailFinding[]> {
  return check().catch((error: unknown) => {
    if (!(error instanceof DnsUnavailable)) throw error;
    return [finding(step, 'note', 'dnsUnavailable', { name: error.record, reason: error.message })];
  });
}

async function checkMx(dns: Dns, domain: string): Promise<MailFinding[]> {
  const servers = await dns.mx(domain);
  const named = servers.filter((name) => name !== '' && name !== '.');
  if (named.length > 0)
    return [finding('mx', 'ok', 'mxFound', { domain, servers: asLine(named.join(', ')) })];
  // Without MX records, email goes to the address of the domain itself (RFC 5321 §5.1).
  const own = servers.length === 0 ? await dns.addresses(domain) : [];
  return own.length > 0
    ? [finding('mx', 'ok', 'mxFound', { domain, servers: domain })]
    : [finding('mx', 'note', 'mxMissing', { domain })];
}

async function checkSpf(
  dns: Dns,
  domain: string,
  { host, addresses }: { host: string; addresses: string[] },
): Promise<MailFinding[]> {
  const records = spfRecordsIn(await dns.txt(domain));
  const publicAddresses = addresses.filter((one) => !isNear(one));
  const [record] = records;
  if (record === undefined) {
    const named = isIP(host) === 0 ? `a:${host}` : `ip${isIP(host)}:${host}`;
    const proposed = `v=spf1 ${publicAddresses.length > 0 ? named : 'mx'} -all`;
    return [finding('spf', 'problem', 'spfMissing', { domain, record: proposed })];
  }
  if (records.length > 1)
    return [finding('spf', 'problem', 'spfSeveral', { domain, count: String(records.length) })];
  const quoted = { domain, record: asLine(record) };
  if (allowsAll(record)) return [finding('spf', 'note', 'spfOpen', quoted)];
  // Without a public address, an address for documentation still shows whether the record is valid.
  const tried = publicAddresses.length > 0 ? publicAddresses : ['192.0.2.1'];
  const results = await Promise.all(
    tried.map(async (address) => ({ address, ...(await evaluateSpf(dns, domain, record, address)) })),
  );
  for (const one of results) {
    if (one.result === 'invalid')
      return [finding('spf', 'problem', 'spfInvalid', { ...quoted, reason: one.reason })];
  }
  if (publicAddresses.length === 0) return [finding('spf', 'note', 'spfUnknown', quoted)];
  const refused = results.filter(({ result }) => result !== 'pass' && result !== 'undecided');
  if (refused.length > 0) {
    const list = refused.map(({ address }) => address).join(', ');
    return [finding('spf', 'note', 'spfOther', { ...quoted, addresses: list })];
  }
  if (results.some(({ result }) => result === 'undecided'))
    return [finding('spf', 'note', 'spfUnknown', quoted)];
  return [finding('spf', 'ok', 'spfPasses', { domain, address: publicAddresses.join(', ') })];
}

/** Returns the tags of a DKIM or DMARC record: `p=reject; rua=…`. */
function tagsOf(record: string): Map<string, string> {
  const tags = record.split(';').map((part) => {
    const at = part.indexOf('=');
    return [part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim()] as const;
  });
  return new Map(tags);
}

/** Returns the domain and its parents that have at least two labels, the domain first. */
function domainAndParents(domain: string): string[] {
  const labels = domain.split('.');
  return labels.slice(0, -1).map((_, i) => labels.slice(i).join('.'));
}

async function checkDkim(dns: Dns, domain: string, dkim: DkimSigning | undefined): Promise<MailFinding[]> {
  if (!dkim) return [finding('dkim', 'note', 'dkimOff')];
  const name = [dkim.selector, '_domainkey', dkim.domain].join('.');
  const record = `v=DKIM1; k=rsa; p=${dkimKeyOf(dkim.key)}`;
  const about = { name, record };
  const signs = dkim.domain.toLowerCase();
  const isForeign = !domainAndParents(domain).includes(signs) && !domainAndParents(signs).includes(domain);
  const foreign = isForeign
    ? [finding('dkim', 'problem', 'dkimForeign', { domain: signs, from: domain })]
    : [];
  const keys = (await dns.txt(name)).map(tagsOf).filter((tags) => tags.has('p'));
  const problem = keys.length === 0 ? 'dkimMissing' : keyProblem(keys, dkimKeyOf(dkim.key) as string);
  return problem === undefined
    ? [...foreign, finding('dkim', 'ok', 'dkimPasses', { name })]
    : [...foreign, finding('dkim', 'problem', problem, about)];
}

function keyProblem(keys: Map<string, string>[], own: string) {
  const published = keys.map((tags) => (tags.get('p') ?? '').replaceAll(/\s/g, ''));
  if (published.every((key) => key === '')) return 'dkimRevoked';
  if (!published.includes(own)) return 'dkimDiffers';
  const tags = keys[published.indexOf(own)] as Map<string, string>;
  const isUsable =
    (tags.get('v') ?? 'DKIM1') === 'DKIM1' &&
    (tags.get('k') ?? 'rsa') === 'rsa' &&
    (tags.get('h') ?? 'sha256').split(':').some((hash) => hash.trim() === 'sha256');
  return isUsable && keys.length === 1 ? undefined : 'dkimInvalid';
}

async function checkDmarc(dns: Dns, domain: string, passes: boolean): Promise<MailFinding[]> {
  for (const one of domainAndParents(domain).slice(0, 8)) {
    const name = `_dmarc.${one}`;
    const records = (await dns.txt(name)).filter((text) => /^v=DMARC1\s*(?:;|$)/i.test(text));
    if (records.length === 0) continue;
    const tags = tagsOf(records[0] as string);
    const policy = ((one === domain ? undefined : tags.get('sp')) ?? tags.get('p') ?? '').toLowerCase();
    if (records.length > 1 || !/^(?:none|quarantine|reject)$/.test(policy))
      return [finding('dmarc', 'problem', 'dmarcInvalid', { name, record: asLine(records.join(' ')) })];
    if (policy !== 'none' && !passes)
      return [finding('dmarc', 'note', 'dmarcUncertain', { name, policy, domain })];
    return [finding('dmarc', 'ok', 'dmarcFound', { name, policy })];
  }
  const record = `v=DMARC1; p=none; rua=mailto:postmaster@${domain}`;
  return [finding('dmarc', 'note', 'dmarcMissing', { domain, record })];
}
