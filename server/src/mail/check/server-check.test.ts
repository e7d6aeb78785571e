// The connection to the mail server, step by step: each wrong setting is reported at its step with a remedy, and nothing is sent over a
// connection that is not trusted.
import {
  findingText,
  hasProblem,
  type MailArguments,
  type MailFinding,
} from '@soundings/contract/console/mail-findings.ts';
import en from '@soundings/contract/text/en/mail.json' with { type: 'json' };
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { smtpServerOf } from '../../base/messages/smtp.ts';
import { catalogue } from '../../base/texts.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { openSmtp, type SmtpOptions } from '../../testing/smtp.ts';
import { certificate } from '../certificate.fixture.ts';
import { openMailer } from '../mailer.ts';
import { checkMail } from './mail-check.ts';
import { checkServer } from './server-check.ts';

const t = catalogue<typeof en, MailArguments>({ en }).in('en');
const from = { name: 'HR', address: 'hr@example.com' };

const textOf = (one: MailFinding) => `${one.outcome} ${one.code}: ${findingText(one, t)}`;

async function checked(url: string, to = 'anna@example.org', stepMs = 2_000): Promise<string[]> {
  const { findings } = await checkServer(smtpServerOf(url)!, { from, to }, stepMs);
  return findings.map(textOf);
}

async function smtpWith(options: SmtpOptions = {}) {
  const smtp = await openSmtp(options);
  onTestFinished(() => smtp.close());
  // 0.0.0.0 leads to this machine as well, but is not one of the loopback addresses that are trusted.
  return { ...smtp, elsewhere: smtp.url.replace('127.0.0.1', '0.0.0.0') };
}

/** Starts a server that sends a text to each connection and then stays silent. Returns its port and what it received. */
async function saying(text: string) {
  const sockets = new Set<Socket>();
  const heard: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).on('data', (chunk) => heard.push(String(chunk))));
    if (text !== '') socket.write(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, heard };
}

describe('a server that accepts everything', () => {
  test('passes each step; no email is sent', async () => {
    const smtp = await smtpWith({ login: { user: 'hr', password: 'secret' } });
    expect(await checked(smtp.url)).toEqual([
      expect.stringMatching(/^ok connected: 127\.0\.0\.1 accepts connections on port \d+\.$/),
      expect.stringMatching(/^note unencrypted/),
      expect.stringMatching(/^ok loggedIn/),
      'ok senderAccepted: The server accepts the sender hr@example.com.',
      'ok recipientAccepted: The server accepts the recipient anna@example.org.',
    ]);
    expect(smtp.mails).toEqual([]);
  });

  test('with a trusted certificate is encrypted, with STARTTLS and from the start', async (context) => {
    const [long, short] = [await certificate(), await certificate({ days: 3 })];
    if (!long || !short) return context.skip('SKIPPED: openssl is not installed');
    const trusted = getCACertificates('default');
    onTestFinished(() => setDefaultCACertificates(trusted));
    setDefaultCACertificates([...trusted, long.cert, short.cert]);
    for (const isFromTheStart of [false, true]) {
      const smtp = await smtpWith({ tls: { ...long, isFromTheStart } });
      const steps = await checked(smtp.elsewhere);
      expect(steps.map((step) => step.split(':')[0])).toEqual([
        'ok connected',
        'ok encrypted',
        'ok noLogin',
        'ok senderAccepted',
        'ok recipientAccepted',
      ]);
      expect(steps[1]).toMatch(/TLSv1\.3.*valid until 20\d\d-\d\d-\d\d/);
    }
    const ending = await smtpWith({ tls: short });
    expect((await checked(ending.elsewhere)).join('\n')).toMatch(/^note certificateEnds/m);
  });
});

describe('the connection', () => {
  test('to an unknown name, a closed port or a port that stays silent is reported with what to check', async () => {
    expect(await checked('smtp://mail.invalid?insecure')).toEqual([
      expect.stringMatching(/^problem server.*mail\.invalid/),
    ]);
    const port = await freePort();
    expect(await checked(`smtp://127.0.0.1:${port}`)).toEqual([
      expect.stringMatching(new RegExp(`^problem refused: 127.0.0.1 refuses connections on port ${port}`)),
    ]);
    const silent = await saying('');
    expect((await checked(`smtp://127.0.0.1:${silent.port}`, undefined, 200)).at(-1)).toMatch(
      /^problem noGreeting.*smtps:\/\//,
    );
  });

  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2p1\r\n', /^problem notReady.*SSH-2\.0/],
    [
      'a server that refuses',
      '554 5.7.1 you are blocked\r\n',
      /^problem notReady.*554 5\.7\.1 you are blocked/,
    ],
    ['endless text', `220-${'x'.repeat(80)}\r\n`.repeat(1_000), /^problem notReady.*too long/],
    ['control characters', '554 a\u001b[31m\tb\r\n', /^problem notReady.*554 a \[31m b/],
  ])('to %s is reported with what it says', async (_, text, expected) => {
    const { port } = await saying(text);
    expect((await checked(`smtp://127.0.0.1:${port}`)).at(-1)).toMatch(expected);
  });

  test('with TLS from the start to a port without it, and the reverse, names the other scheme', async (context) => {
    const tls = await certificate();
    if (!tls) return context.skip('SKIPPED: openssl is not installed');
    const plain = await smtpWith();
    expect((await checked(plain.url.replace('smtp:', 'smtps:'))).at(-1)).toMatch(
      /^problem notTls.*smtp:\/\//,
    );
    const secure = await smtpWith({ tls: { ...tls, isFromTheStart: true } });
    const wrong = secure.url.replace('smtps:', 'smtp:');
    expect((await checked(wrong, undefined, 300)).at(-1)).toMatch(/^problem noGreeting.*smtps:\/\//);
  });
});

describe('encryption', () => {
  test('that a server elsewhere does not offer is a problem, and no password is sent', async () => {
    const { port, heard } = await saying('220 hello\r\n');
    const url = `smtp://hr:hunter2@0.0.0.0:${port}`;
    const checking = checked(url, undefined, 500);
    expect((await checking).at(-1)).toMatch(/^problem/);
    const smtp = await smtpWith({ login: { user: 'hr', password: 'hunter2' } });
    expect((await checked(smtp.elsewhere)).at(-1)).toMatch(/^problem noEncryption.*\?insecure/);
    expect(heard.join('')).not.toMatch(/AUTH|hunter2/);
  });

  test.each([
    ['expired', { days: -1 }, /^problem certificateExpired.*20\d\d-\d\d-\d\d/, true],
    [
      'for another name',
      { name: 'DNS:mail.example.net' },
      /^problem certificateName.*mail\.example\.net/,
      true,
    ],
    ['of an unknown authority', {}, /^problem certificateUntrusted.*NODE_EXTRA_CA_CERTS/, false],
  ] as const)(
    'with a certificate that is %s is a problem, and nothing is sent',
    async (_, options, expected, isTrusted) => {
      const tls = await certificate(options);
      expect(tls, 'openssl is not installed').toBeDefined();
      if (isTrusted) {
        const trusted = getCACertificates('default');
        onTestFinished(() => setDefaultCACertificates(trusted));
        setDefaultCACertificates([...trusted, tls!.cert]);
      }
      const smtp = await smtpWith({ tls: tls!, login: { user: 'hr', password: 'hunter2' } });
      expect((await checked(smtp.elsewhere)).at(-1)).toMatch(expected);
      // On loopback any certificate is accepted, which is noted.
      expect((await checked(smtp.url))[1]).toMatch(/^note unchecked/);
    },
  );
});

describe('login, sender and recipient', () => {
  test('a wrong password is reported with what the server says, without the password', async () => {
    const smtp = await smtpWith({ login: { user: 'hr', password: 'right' } });
    const last = (await checked(`smtp://hr:hunter2@127.0.0.1:${smtp.port}`)).at(-1);
    expect(last).toMatch(/^problem loginRefused.*535 5\.7\.8 authentication failed.*%40/);
    expect(last).not.toContain('hunter2');
  });

  test('a login that the server does not offer is a problem', async () => {
    const smtp = await smtpWith();
    expect((await checked(`smtp://hr:x@127.0.0.1:${smtp.port}`)).at(-1)).toMatch(/^problem noLogins/);
  });

  test.each<[SmtpOptions, RegExp]>([
    [
      { refuseSender: () => '550 5.7.60 not yours' },
      /^problem senderRefused.*hr@example\.com: 550.*MAIL_FROM/,
    ],
    [{ refuseRecipient: () => '550 5.7.1 relaying denied' }, /^problem recipientRefused.*relaying denied/],
    [{ refuseRecipient: () => '451 4.7.1 greylisted' }, /^problem recipientDeferred.*greylisted.*retries/],
  ])('%j is reported at its step', async (options, expected) => {
    const smtp = await smtpWith(options);
    expect((await checked(smtp.url)).at(-1)).toMatch(expected);
  });
});

describe('the whole test', () => {
  const settings = { mailFrom: 'HR <hr@localhost>', dkim: undefined };
  const mail = { to: 'anna@example.org', subject: 'Test', text: 'Test', html: 'Test' };

  async function whole(options: SmtpOptions) {
    const smtp = await smtpWith(options);
    const mailer = openMailer(smtp.url, settings.mailFrom);
    onTestFinished(() => mailer.close());
    return { smtp, findings: await checkMail({ ...settings, smtpUrl: smtp.url }, mailer, mail) };
  }

  test('sends one email', async () => {
    const { smtp, findings } = await whole({});
    expect(smtp.mails.map(({ to }) => to)).toEqual([['anna@example.org']]);
    expect(findings.map(({ code }) => code).slice(-2)).toEqual(['delivered', 'domainLocal']);
    expect(hasProblem(findings)).toBe(false);
  });

  test('reports that the server refuses the content', async () => {
    const { findings } = await whole({ refuseMail: () => '554 5.7.1 spam' });
    expect(findings.map(textOf).join('\n')).toMatch(/^problem notDelivered.*554 5\.7\.1 spam/m);
    expect(hasProblem(findings)).toBe(true);
  });

  test('sends no email after a problem', async () => {
    const { smtp, findings } = await whole({ refuseSender: () => '550 no' });
    expect(smtp.mails).toEqual([]);
    expect(findings.map(({ step }) => step)).toEqual(['connection', 'encryption', 'login', 'sender', 'mx']);
  });
});
