// The DNS records of the sender's domain, read from a real DNS server: what is found, and the remedy.
import { catalogue } from '../../base/texts.ts';
import {
  findingText,
  type MailArguments,
  type MailFinding,
} from '@soundings/contract/console/mail-findings.ts';
import en from '@soundings/contract/text/en/mail.json' with { type: 'json' };
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { dkimKeyOf } from '../../base/messages/smtp.ts';
import { openDns } from './dns.ts';
import { type DnsTable, openTestDns } from './dns.fixture.ts';
import { checkDomain } from './domain-check.ts';
import { evaluateSpf } from './spf.ts';

const t = catalogue<typeof en, MailArguments>({ en }).in('en');
const key = generateKeyPairSync('rsa', {
  modulusLength: 1024,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey;
const publicKey = dkimKeyOf(key);
const dkim = { domain: 'example.com', selector: 's1', key };

async function dnsOf(table: DnsTable, how?: Parameters<typeof openTestDns>[1], dnsMs = 5_000) {
  const server = await openTestDns(table, how);
  onTestFinished(() => server.close());
  return openDns(AbortSignal.timeout(dnsMs), [server.server]);
}

type Options = {
  how?: Parameters<typeof openTestDns>[1];
  signing?: typeof dkim;
  addresses?: string[];
  from?: string;
};

async function found(
  table: DnsTable,
  { how, signing, addresses = ['192.0.2.7'], from = 'hr@example.com' }: Options = {},
) {
  const dns = await dnsOf(table, how);
  const sender = { from: { name: '', address: from }, dkim: signing };
  return checkDomain(dns, sender, { host: 'mail.example.com', addresses });
}

/** Returns the outcome and the code of the finding of a step, and its text. */
function of(findings: MailFinding[], step: MailFinding['step']): string[] {
  return findings
    .filter((one) => one.step === step)
    .map((one) => `${one.outcome} ${one.code}: ${findingText(one, t)}`);
}

const good: DnsTable = {
  'example.com': {
    mx: ['mx1.example.com', 'mx2.example.com'],
    txt: ['google-site=1', 'v=spf1 a:mail.example.com -all'],
  },
  'mail.example.com': { a: ['192.0.2.7', '2001:db8::7'] },
  's1._domainkey.example.com': { txt: [`v=DKIM1; k=rsa; p=${publicKey}`] },
  '_dmarc.example.com': { txt: ['v=DMARC1; p=reject'] },
};

test('a domain with all records passes every check', async () => {
  const findings = await found(good, { signing: dkim, addresses: ['192.0.2.7', '2001:db8::7'] });
  expect(findings.map(({ outcome, code }) => `${outcome} ${code}`)).toEqual([
    'ok mxFound',
    'ok spfPasses',
    'ok dkimPasses',
    'ok dmarcFound',
  ]);
  expect(of(findings, 'mx')[0]).toContain('mx1.example.com, mx2.example.com');
});

test('a domain without records gets the records to add', async () => {
  const findings = await found({}, { signing: dkim });
  expect(of(findings, 'mx')[0]).toMatch(/^note mxMissing.*Add an MX record/);
  expect(of(findings, 'spf')[0]).toMatch(
    /^problem spfMissing.*example\.com: v=spf1 a:mail\.example\.com -all$/,
  );
  expect(of(findings, 'dkim')[0]).toContain(`TXT record there: v=DKIM1; k=rsa; p=${publicKey}`);
  expect(of(findings, 'dmarc')[0]).toMatch(/^note dmarcMissing.*_dmarc\.example\.com: v=DMARC1; p=none/);
});

test('a sender outside of the Internet is reported, without any DNS query', async () => {
  for (const from of ['soundings@localhost', 'hr@corp.local', 'hr@mail.invalid']) {
    const server = await openTestDns({});
    onTestFinished(() => server.close());
    const dns = openDns(AbortSignal.timeout(1_000), [server.server]);
    const sender = { from: { name: '', address: from }, dkim: undefined };
    const findings = await checkDomain(dns, sender, { host: 'mail', addresses: [] });
    expect(findings.map(({ code }) => code)).toEqual(['domainLocal']);
    expect(server.requested.size).toBe(0);
  }
});

describe('SPF', () => {
  const spf = async (record: string | string[], table: DnsTable = {}, addresses?: string[]) => {
    const txt = [record].flat();
    const findings = await found(
      { ...table, 'example.com': { txt, mx: ['mx.example.com'] } },
      { ...(addresses && { addresses }) },
    );
    return of(findings, 'spf').join();
  };

  test.each<[string, string, DnsTable, RegExp]>([
    ['an address', 'v=spf1 ip4:192.0.2.7 -all', {}, /^ok/],
    ['a network', 'v=spf1 ip4:192.0.2.0/29 -all', {}, /^ok/],
    ['the mail servers', 'v=spf1 mx ~all', { 'mx.example.com': { a: ['192.0.2.7'] } }, /^ok/],
    [
      'an included record',
      'v=spf1 include:_spf.p.com -all',
      {
        '_spf.p.com': { txt: ['v=spf1 include:b.p.com ?all'] },
        'b.p.com': { txt: ['v=spf1 ip4:192.0.2.7 -all'] },
      },
      /^ok/,
    ],
    [
      'a redirection',
      'v=spf1 redirect=_spf.p.com',
      { '_spf.p.com': { txt: ['v=spf1 ip4:192.0.2.7 -all'] } },
      /^ok/,
    ],
    ['another address', 'v=spf1 ip4:192.0.2.8 -all', {}, /^note spfOther.*192\.0\.2\.7.*ip4:192\.0\.2\.8/],
    [
      'an included record that refuses',
      'v=spf1 include:_spf.p.com ~all',
      { '_spf.p.com': { txt: ['v=spf1 -all'] } },
      /^note spfOther/,
    ],
    ['everyone', 'v=spf1 +all', {}, /^note spfOpen/],
    ['macros', 'v=spf1 exists:%{i}._spf.p.com -all', {}, /^note spfUnknown/],
    [
      'a name without a record',
      'v=spf1 include:none.p.com -all',
      {},
      /^problem spfInvalid.*none\.p\.com has no SPF record/,
    ],
    [
      'an unknown term',
      'v=spf1 ipv4:192.0.2.7 -all',
      {},
      /^problem spfInvalid.*"ipv4:192\.0\.2\.7" is unknown/,
    ],
    ['a wrong network', 'v=spf1 ip4:192.0.2.7/33 -all', {}, /^problem spfInvalid.*invalid/],
    ['itself', 'v=spf1 include:example.com -all', {}, /^problem spfInvalid.*more than 10 DNS queries/],
  ])('that names %s', async (_, record, table, expected) => {
    expect(await spf(record, table)).toMatch(expected);
  });

  test('with two records is ignored by receivers', async () => {
    expect(await spf(['v=spf1 mx -all', 'v=spf1 a -all'])).toMatch(/^problem spfSeveral.*2 SPF records/);
  });

  test('of a server without a public address is checked as far as possible', async () => {
    expect(await spf('v=spf1 mx -all', {}, ['127.0.0.1', '10.1.2.3'])).toMatch(/^note spfUnknown.*spf=pass/);
    expect(await spf('v=spf1 xm -all', {}, ['::1'])).toMatch(/^problem spfInvalid/);
  });

  test('distinguishes IPv4 and IPv6', async () => {
    const dns = await dnsOf({ 'a.example.com': { a: ['192.0.2.7', '2001:db8::7'] } });
    const result = async (record: string, address: string) =>
      (await evaluateSpf(dns, 'example.com', record, address)).result;
    expect(await result('v=spf1 ip6:2001:db8::/32 -all', '2001:db8::7')).toBe('pass');
    expect(await result('v=spf1 ip6:2001:db8::/32 -all', '192.0.2.7')).toBe('fail');
    expect(await result('v=spf1 a:a.example.com/24//64 -all', '192.0.2.99')).toBe('pass');
    expect(await result('v=spf1 a:a.example.com/24//64 ~all', '2001:db8:0:1::7')).toBe('softfail');
    expect(await result('v=spf1 a:a.example.com', '198.51.100.1')).toBe('neutral');
  });
});

describe('DKIM', () => {
  const withKey = (txt: string[]): DnsTable => ({ ...good, 's1._domainkey.example.com': { txt } });
  test.each([
    ['another key', ['v=DKIM1; p=MIGf'], /^problem dkimDiffers.*Replace the TXT record with: v=DKIM1/],
    ['a revoked key', ['v=DKIM1; p='], /^problem dkimRevoked/],
    ['another kind of key', [`v=DKIM1; k=ed25519; p=${publicKey}`], /^problem dkimInvalid/],
    ['another hash', [`v=DKIM1; h=sha1; p=${publicKey}`], /^problem dkimInvalid/],
    ['two keys', [`p=${publicKey}`, 'p=MIGf'], /^problem dkimInvalid/],
    ['a minimal record', [`p=${publicKey}`], /^ok dkimPasses/],
  ])('with %s', async (_, txt, expected) => {
    expect(of(await found(withKey(txt), { signing: dkim }), 'dkim').join()).toMatch(expected);
  });

  test('of another domain does not count for DMARC; of a parent domain it does', async () => {
    const table = { ...good, 's1._domainkey.other.com': { txt: [`p=${publicKey}`] } };
    const foreign = await found(table, { signing: { ...dkim, domain: 'other.com' } });
    expect(of(foreign, 'dkim').join()).toMatch(/^problem dkimForeign.*other\.com.*ok dkimPasses/s);
    const parent = await found(
      { ...table, 'mail.example.com': { a: ['192.0.2.7'] } },
      { signing: dkim, from: 'hr@mail.example.com' },
    );
    expect(of(parent, 'dkim').join()).toMatch(/^ok dkimPasses/);
  });

  test('off is a note', async () => {
    expect(of(await found(good), 'dkim').join()).toMatch(/^note dkimOff/);
  });
});

describe('DMARC', () => {
  const policy = (record: string): DnsTable => ({ ...good, '_dmarc.example.com': { txt: [record] } });

  test('that rejects emails is a note unless SPF or DKIM certainly passes', async () => {
    const elsewhere = { addresses: ['198.51.100.1'] };
    expect(of(await found(good, elsewhere), 'dmarc').join()).toMatch(/^note dmarcUncertain.*reject/);
    expect(of(await found(good, { ...elsewhere, signing: dkim }), 'dmarc').join()).toMatch(/^ok dmarcFound/);
    expect(of(await found(policy('v=DMARC1; p=none'), elsewhere), 'dmarc').join()).toMatch(/^ok/);
  });

  test('of the parent domain applies to a subdomain, with the policy for subdomains', async () => {
    const table = policy('v=DMARC1; p=reject; sp=none');
    const findings = await found(table, { from: 'hr@mail.example.com' });
    expect(of(findings, 'dmarc').join()).toMatch(
      /^ok dmarcFound: _dmarc\.example\.com has the policy “none”/,
    );
  });

  test('that is invalid is reported', async () => {
    expect(of(await found(policy('v=DMARC1; p=nothing')), 'dmarc').join()).toMatch(/^problem dmarcInvalid/);
  });
});

test('a DNS server that fails or stays silent is reported at its step; the other steps are still checked', async () => {
  const how = { broken: ['_dmarc.example.com'], silent: ['example.com'] };
  const dns = await dnsOf(good, how, 300);
  const sender = { from: { name: '', address: 'hr@example.com' }, dkim };
  const findings = await checkDomain(dns, sender, { host: 'mail.example.com', addresses: [] });
  expect(findings.map(({ step, code }) => `${step} ${code}`)).toEqual([
    'mx dnsUnavailable',
    'spf dnsUnavailable',
    'dkim dkimPasses',
    'dmarc dnsUnavailable',
  ]);
  expect(of(findings, 'mx')[0]).toContain('example.com');
});
