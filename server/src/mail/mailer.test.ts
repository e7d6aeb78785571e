import * as fc from 'fast-check';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSmtp, type SmtpOptions, type TestSmtp } from '../testing/smtp.ts';
import { until } from '../testing/until.ts';
import { certificate } from './certificate.fixture.ts';
import { openSilentSmtp } from './silent-smtp.fixture.ts';
import type { Mail, Mailer } from './mail.ts';
import { Deferred, Rejected, Throttled, Unconfirmed } from '../sending/outcomes.ts';
import { openMailer } from './mailer.ts';
import { anyCharacter, cases } from '../testing/house/cases.ts';

const from = 'Soundings <soundings@example.com>';
const mail: Mail = { to: 'anna@example.org', subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' };
const brief = { connect: 150, response: 150 };
/** Long enough for a server that responds at first, also on a busy machine. */
const enough = { connect: 2000, response: 1000 };

/** Opens a server and a mailer to it for one test. `at` returns the URL that the mailer uses. */
async function openBoth(options: SmtpOptions = {}, at = (smtp: TestSmtp) => smtp.url) {
  const smtp = await openSmtp(options);
  onTestFinished(() => smtp.close());
  return { smtp, mailer: mailerTo(at(smtp)) };
}

function mailerTo(url: string, timeouts?: typeof brief): Mailer {
  const mailer = openMailer(url, from, timeouts);
  onTestFinished(() => mailer.close());
  return mailer;
}

/** Returns the error of sending an email. */
async function thrownBy(mailer: Mailer, sent: Mail = mail): Promise<Error> {
  const thrown = await mailer.send(sent).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof Error)) throw new Error('The mail was accepted');
  return thrown;
}

describe('an email', () => {
  test('arrives as text and as HTML with any characters', async () => {
    const { smtp, mailer } = await openBoth();
    const text = `Hallå Åsa, 日本語 🙂\n.\n=C3=A5 stays\n${'long '.repeat(300)}${'日本語'.repeat(500)}`;
    await mailer.send({ ...mail, subject: 'Hallå 日本語 🙂', text, html: '<p>Åsa &amp; Bo</p>' });
    const [received] = smtp.mails;
    expect(received).toMatchObject({ from: 'soundings@example.com', to: ['anna@example.org'] });
    expect(received?.headers).toMatchObject({
      from: 'Soundings <soundings@example.com>',
      to: 'anna@example.org',
      subject: 'Hallå 日本語 🙂',
      'auto-submitted': 'auto-generated',
      'content-type': expect.stringMatching(/^multipart\/alternative/),
      'message-id': expect.stringMatching(/^<[\w-]+@example\.com>$/),
    });
    expect(received?.text.trimEnd()).toBe(text.trimEnd());
    expect(received?.html.trimEnd()).toBe('<p>Åsa &amp; Bo</p>');
    expect(received?.raw).toMatch(/^[\r\n -~]*$/);
    expect(Math.max(...received!.raw.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(78);
  });

  test('goes only to its recipient with its own headers, whatever its parts contain', async () => {
    const { smtp, mailer } = await openBoth();
    const hostile = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom(
        'a\r\nBcc: evil@example.com',
        'a\nX-Evil: 1',
        '\r\n\r\nbody',
        'a\u2028Bcc: x',
        'a\0b',
        '\ud800',
      ),
      fc.string({ minLength: 300, maxLength: 400 }),
    );
    const parts = fc.record({ subject: hostile, text: hostile, html: hostile, id: hostile, about: hostile });
    await fc.assert(
      fc.asyncProperty(parts, async ({ about, text, html, ...rest }) => {
        const sent = { ...rest, text: `.${text}`, html: `<p>${html}`, headers: { 'X-About': about } };
        await mailer.send({ ...mail, ...sent });
        const received = smtp.mails.pop()!;
        expect(received.to).toEqual([mail.to]);
        const names = [
          'x-about',
          'subject',
          'from',
          'to',
          'message-id',
          'date',
          'mime-version',
          'content-type',
        ];
        const allowed = new Set([...names, 'auto-submitted', 'x-auto-response-suppress']);
        expect(Object.keys(received.headers).filter((name) => !allowed.has(name))).toEqual([]);
        for (const name of ['subject', 'x-about']) {
          expect(received.headers[name] ?? '').not.toMatch(/[\p{Cc}\u2028]/u);
        }
        expect(received.headers).toMatchObject({
          to: mail.to,
          'message-id': expect.stringMatching(/^<\w+@/),
        });
      }),
      cases(40),
    );
  });

  test('sent again with the same id has the same Message-ID; any other has a different one', async () => {
    const { smtp, mailer } = await openBoth();
    for (const id of ['1', '1', '2', undefined, undefined]) {
      await mailer.send({ ...mail, ...(id !== undefined && { id }) });
    }
    const [a, b, ...others] = smtp.mails.map(({ headers }) => headers['message-id']);
    expect(a).toBe(b);
    expect(new Set([a, ...others]).size).toBe(4);
  });

  test('shares a few connections with many others', async () => {
    const { smtp, mailer } = await openBoth();
    await Promise.all(
      Array.from({ length: 60 }, (_, i) => mailer.send({ ...mail, to: `p${i}@example.org` })),
    );
    expect(new Set(smtp.mails.flatMap(({ to }) => to)).size).toBe(60);
    expect(smtp.mostConnections()).toBeLessThanOrEqual(4);
  });
});

describe('an email that is rejected permanently', () => {
  test.each([
    ['the recipient', { refuseRecipient: (to: string) => `550 5.1.1 <${to}>: no such user` }],
    ['the content', { refuseMail: () => '554 5.7.1 this is spam, tell anna@example.org' }],
  ])('is %s with 5xx; the message has the reason and no address', async (_, options) => {
    const { mailer } = await openBoth(options);
    const error = await thrownBy(mailer);
    expect(error).toBeInstanceOf(Rejected);
    expect(error.message).toMatch(/55[04] 5\.\d\.1.*(no such user|spam)/);
    expect(JSON.stringify(error) + String(error.stack) + String(error.cause)).not.toContain('anna@');
  });

  test('is one with an invalid address, which is not sent to the server', async () => {
    const { smtp, mailer } = await openBoth();
    for (const to of [
      '',
      'anna',
      'a@b.c, d@e.f',
      'a@b.c\r\nRCPT TO:<d@e.f>',
      'Anna <a@b.c>',
      'a@b.c d@e.f',
    ]) {
      expect(await thrownBy(mailer, { ...mail, to })).toBeInstanceOf(Rejected);
    }
    expect(smtp.mostConnections()).toBe(0);
    const odd = { ...mail, to: '"<x>"@b.c' }; // a valid address that no server accepts
    expect(await thrownBy(mailer, odd)).toBeInstanceOf(Rejected);
  });

  test('does not stop other emails', async () => {
    const refuseRecipient = (to: string) => (to.startsWith('no') ? '550 no such user' : undefined);
    const { smtp, mailer } = await openBoth({ refuseRecipient });
    const sent = ['no1', 'a', 'no2', 'b', 'no3', 'c'].map((who) =>
      mailer.send({ ...mail, to: `${who}@example.org` }),
    );
    const outcomes = (await Promise.allSettled(sent)).map(({ status }) => status[0]);
    expect(outcomes.join('')).toBe('rfrfrf');
    expect(smtp.mails.flatMap(({ to }) => to).toSorted()).toEqual([
      'a@example.org',
      'b@example.org',
      'c@example.org',
    ]);
  });
});

describe('an email that will be retried', () => {
  /**
   * Returns the message of an error after which the email can be sent again: not rejected permanently, certainly not accepted.
   * Checks that it has no address.
   */
  async function temporaryError(mailer: Mailer): Promise<string> {
    const error = await thrownBy(mailer);
    expect(error).not.toBeInstanceOf(Rejected);
    expect(error).not.toBeInstanceOf(Unconfirmed);
    expect(JSON.stringify(error) + String(error.stack) + String(error.cause)).not.toContain('anna@');
    return error.message;
  }

  test.each<[string, SmtpOptions, RegExp]>([
    ['a recipient refused temporarily', { refuseRecipient: (to) => `451 4.7.1 <${to}> later` }, /451/],
    ['a content refused temporarily', { refuseMail: () => '452 4.3.1 disk full' }, /452/],
    ['a server that is shutting down', { refuseRecipient: () => '421 4.3.2 going down' }, /421/],
    [
      'a sender without permission, because the operator can fix it',
      { refuseSender: () => '550 5.7.60 not yours' },
      /550/,
    ],
    ['a server that expects another command', { refuseRecipient: () => '503 5.5.1 what comes first' }, /503/],
    [
      'a missing log-in, because the operator can fix it',
      { refuseSender: () => '530 5.7.0 log in first' },
      /530/,
    ],
  ])('is %s', async (_, options, message) => {
    const { mailer } = await openBoth(options);
    expect(await temporaryError(mailer)).toMatch(message);
  });

  test('is the result of a wrong password, or of a login method that the server does not support; neither attempt is repeated', async () => {
    const login = { user: 'hr', password: 'right' };
    const wrong = await openBoth({ login }, ({ port }) => `smtp://hr:hunter2@127.0.0.1:${port}`);
    expect(await temporaryError(wrong.mailer)).toMatch(/^(?!.*hunter2).*535/);
    const none = await openBoth({}, ({ port }) => `smtp://hr:hunter2@127.0.0.1:${port}`);
    expect(await temporaryError(none.mailer)).toMatch(/^(?!.*hunter2).*AUTH|login/i);
    expect(none.smtp.mails).toEqual([]);
  });

  test('is the result of an unavailable server; once it is back, the same mailer works again', async () => {
    const first = await openSmtp();
    const mailer = mailerTo(first.url);
    await mailer.send(mail);
    await first.close();
    expect(await temporaryError(mailer)).toMatch(/ECONNREFUSED|closed/);
    const second = await openSmtp({ port: first.port });
    onTestFinished(() => second.close());
    await mailer.send(mail);
    expect(second.mails).toHaveLength(1);
  });

  test('is the result of an unknown host name', async () => {
    expect(await temporaryError(mailerTo('smtp://mail.invalid?insecure', brief))).toMatch(
      /mail\.invalid|timed out/,
    );
  });

  test.each<[string, string[]]>([
    ['at once', []],
    ['after the greeting', ['220 hello']],
    ['before the mail', ['220 hello', '250 hello', '250 sender', '250 recipient']],
  ])('is the result of a server that stops responding %s', async (_, lines) => {
    expect(await temporaryError(mailerTo(await scripted(lines, 'silent'), brief))).toMatch(
      /time|never received/i,
    );
  });

  test.each<[string, string[]]>([
    ['at once', []],
    ['before the mail', ['220 hello', '250 hello', '250 sender', '250 recipient']],
  ])('is the result of a server that closes the connection %s', async (_, lines) => {
    expect(await temporaryError(mailerTo(await scripted(lines, 'hangs up')))).toMatch(/closed/i);
  });

  test('is one not yet sent when the mailer is closed', async () => {
    const { smtp, mailer } = await openBoth();
    await mailer.send(mail);
    mailer.close();
    expect(await temporaryError(mailer)).toMatch(/closed/);
    expect(smtp.mails).toHaveLength(1);
  });
});

describe('an email whose delivery is unknown', () => {
  const untilData = ['220 hello', '250 hello', '250 sender', '250 recipient', '354 send it'];

  test.each([
    ['stays silent', untilData, 'silent'],
    ['closes the connection', untilData, 'hangs up'],
  ] as const)('is one after whose end the server %s', async (_, lines, goodbye) => {
    const error = await thrownBy(
      mailerTo(await scripted(lines, goodbye), goodbye === 'silent' ? enough : undefined),
    );
    expect(error).toBeInstanceOf(Unconfirmed);
    expect(JSON.stringify(error) + String(error.stack) + String(error.cause)).not.toContain('anna@');
  });

  test('is not one that the server refused, deferred or cut off before its end', async () => {
    const reply = (line: string) => scripted([...untilData, line], 'hangs up');
    expect(await thrownBy(mailerTo(await reply('554 spam')))).toBeInstanceOf(Rejected);
    expect(await thrownBy(mailerTo(await reply('452 disk full')))).toBeInstanceOf(Deferred);
    for (const [line, isThrottled] of [
      ['450 4.7.28 Our system has detected an unusual rate of mail', true],
      ['452 4.3.2 Sender thread limit exceeded', true],
      ['451 Too many messages, slow down', true],
      ['450 4.2.0 Greylisted, the limit is 5 minutes', false],
      ['452 4.2.2 Mailbox full, quota exceeded', false],
      ['451 4.3.0 Try again later', false],
    ] as const) {
      const error = await thrownBy(mailerTo(await reply(line)));
      expect([line, error instanceof Deferred, error instanceof Throttled]).toEqual([
        line,
        true,
        isThrottled,
      ]);
    }
    const large = { ...mail, text: 'a line\n'.repeat(2_000_000) };
    const cut = await scripted(untilData, 'hangs up', 100_000);
    expect(await thrownBy(mailerTo(cut), large)).not.toBeInstanceOf(Unconfirmed);
  });

  test.each([
    ['at first', []],
    ['on a connection that was used before', ['first@example.org']],
  ])('and the others are each sent once: %s', async (_, before) => {
    const smtp = await openSilentSmtp((to) => (to.startsWith('lost') ? 'hangs up' : 'takes'));
    onTestFinished(() => smtp.close());
    const mailer = mailerTo(smtp.url, brief);
    for (const to of before) await mailer.send({ ...mail, to });
    const lost = ['lost1@example.org', 'lost2@example.org'];
    const errors = await Promise.all(lost.map((to) => thrownBy(mailer, { ...mail, to })));
    for (const error of errors) expect(error).toBeInstanceOf(Unconfirmed);
    // Longer than the mailer waits before it sends anything again.
    expect(
      await thrownBy(mailerTo(await scripted([], 'silent'), { connect: 500, response: 500 })),
    ).toBeDefined();
    await mailer.send({ ...mail, to: 'last@example.org' });
    expect(smtp.got.toSorted()).toEqual([...before, 'last@example.org', ...lost].toSorted());
  });
});

describe('an email with a last check', () => {
  test('is accepted only after the check, when the server has received everything else', async () => {
    const { mailer, smtp } = await openBoth();
    const checked = Promise.withResolvers<void>();
    const sent = mailer.send({ ...mail, beforeEnd: () => checked.promise });
    await until(async () => smtp.receiving() > 0);
    expect(smtp.mails).toEqual([]);
    checked.resolve();
    await sent;
    expect(smtp.mails).toHaveLength(1);
  });

  test('is not sent if the check fails, whatever its size, and the next one is', async () => {
    const { mailer, smtp } = await openBoth();
    const reason = new Error('withdrawn');
    for (const text of ['Hello', 'a line\n'.repeat(200_000)]) {
      const beforeEnd = () => Promise.reject(reason);
      await expect(mailer.send({ ...mail, text, beforeEnd })).rejects.toBe(reason);
    }
    await mailer.send(mail);
    expect(smtp.mails).toHaveLength(1);
  });

  test('is not checked if the server refuses the recipient, and is unknown only if the check passed', async () => {
    let checks = 0;
    const beforeEnd = async () => void checks++;
    const { mailer } = await openBoth({ refuseRecipient: () => '550 no such user' });
    expect(await thrownBy(mailer, { ...mail, beforeEnd })).toBeInstanceOf(Rejected);
    expect(checks).toBe(0);
    const silent = await openSilentSmtp(() => 'hangs up');
    onTestFinished(() => silent.close());
    expect(await thrownBy(mailerTo(silent.url, enough), { ...mail, beforeEnd })).toBeInstanceOf(Unconfirmed);
    expect(checks).toBe(1);
  });
});

describe('the connection to the server', () => {
  // 0.0.0.0 leads to this machine as well, but is not one of the loopback addresses that are trusted.
  const elsewhere = (smtp: TestSmtp) => smtp.url.replace('127.0.0.1', '0.0.0.0');
  const insecure = (smtp: TestSmtp) => `${elsewhere(smtp)}?insecure`;
  const login = { user: 'hr', password: 'secret' };

  test('needs no encryption on loopback, and uses it if the server offers it, with any certificate', async (context) => {
    const plain = await openBoth({ login });
    await plain.mailer.send(mail);
    expect(plain.smtp.mails).toMatchObject([{ isEncrypted: false, user: 'hr' }]);
    const tls = await certificate();
    if (!tls) return context.skip('SKIPPED: openssl is not installed');
    const offered = await openBoth({ tls, login });
    await offered.mailer.send(mail);
    expect(offered.smtp.mails).toMatchObject([{ isEncrypted: true, user: 'hr' }]);
  });

  test('is refused without encryption elsewhere: neither password nor mail is sent', async () => {
    const { smtp, mailer } = await openBoth({ login }, elsewhere);
    const error = await thrownBy(mailer);
    expect(error).not.toBeInstanceOf(Rejected);
    expect(error.message).toMatch(/STARTTLS/);
    expect(smtp.mails).toEqual([]);
  });

  test('is refused elsewhere with an untrusted certificate, and accepted with a trusted one', async (context) => {
    const tls = await certificate();
    if (!tls) return context.skip('SKIPPED: openssl is not installed');
    const servers = [
      await openBoth({ tls, login }, elsewhere),
      await openBoth({ tls: { ...tls, isFromTheStart: true }, login }, elsewhere),
    ];
    for (const { mailer, smtp } of servers) {
      expect((await thrownBy(mailer)).message).toMatch(/certificate/);
      expect(smtp.mails).toEqual([]);
    }
    const trusted = getCACertificates('default');
    onTestFinished(() => setDefaultCACertificates(trusted));
    setDefaultCACertificates([...trusted, tls.cert]);
    await Promise.all(servers.map(({ mailer }) => mailer.send(mail)));
    for (const { smtp } of servers) expect(smtp.mails).toMatchObject([{ isEncrypted: true, user: 'hr' }]);
  });

  test('is accepted without encryption if the URL says so', async () => {
    const { smtp, mailer } = await openBoth({ login }, insecure);
    await mailer.send(mail);
    expect(smtp.mails).toMatchObject([{ isEncrypted: false, user: 'hr' }]);
  });
});

/**
 * Starts a server that sends one of these lines at each turn, and then stays silent or closes the connection, or closes it
 * after a number of bytes. Returns its URL.
 */
async function scripted(
  lines: readonly string[],
  goodbye: 'silent' | 'hangs up',
  cutAfter = Infinity,
): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    const left = [...lines];
    const say = () => {
      const next = left.shift();
      if (next !== undefined) socket.write(`${next}\r\n`);
      else if (goodbye === 'hangs up') socket.destroy();
    };
    let heard = '';
    let isMail = false;
    socket.on('data', (chunk: Buffer) => {
      if (socket.bytesRead > cutAfter) return void socket.destroy();
      heard += chunk.toString('latin1');
      for (let end = heard.indexOf('\r\n'); end >= 0; end = heard.indexOf('\r\n')) {
        const line = heard.slice(0, end);
        heard = heard.slice(end + 2);
        if (!isMail || line === '.') say();
        isMail ||= line === 'DATA';
      }
    });
    say();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => void server.close(resolve));
  });
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
