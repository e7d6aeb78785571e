// Connects to the mail server as the mailer does, step by step, and reports the step that fails and how to fix it: name, connection,
// encryption, login, sender, recipient. Sends no email.
import type { MailFinding } from '@soundings/contract/console/mail-findings.ts';
import { createHmac } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { domainOf, type Mailbox, type SmtpServer } from '../../base/messages/smtp.ts';
import { type Dialog, DialogEnded, openDialog, plainReason, type Reply, asLine } from './dialog.ts';
import { finding, problemAt, StepFailed } from './findings.ts';

/** What was found, and the addresses that the server's name stands for. */
export type ServerCheck = { findings: MailFinding[]; addresses: string[] };

type Steps = {
  server: SmtpServer;
  timeoutMs: number;
  /** Reports a finding. */
  add: (found: MailFinding) => void;
};

/** A connection: its socket, its lines, and what the server supports, in capital letters. */
type Session = { socket: Socket; dialog: Dialog; supported: string[] };

/** Checks a mail server with a sender and, if given, a recipient. Each step takes at most `timeoutMs`. */
export async function checkServer(
  server: SmtpServer,
  { from, to }: { from: Mailbox; to?: string | undefined },
  timeoutMs: number,
): Promise<ServerCheck> {
  const findings: MailFinding[] = [];
  const addresses: string[] = [];
  const steps: Steps = { server, timeoutMs, add: (found) => findings.push(found) };
  let socket: Socket | undefined;
  try {
    addresses.push(...(await findServer(steps)));
    socket = await reach(steps);
    const session = await greet(steps, socket, clientName(from));
    socket = session.socket;
    await logIn(steps, session);
    await introduce(steps, session, { from, to });
    await session.dialog.say('QUIT').catch(() => {});
  } catch (error) {
    if (error instanceof StepFailed) findings.push(error.finding);
    else if (error instanceof DialogEnded)
      findings.push(finding('connection', 'problem', 'brokeOff', { reason: error.message }));
    else throw error;
  } finally {
    socket?.destroy();
  }
  return { findings, addresses };
}

/** Returns our name in the greeting, the same as that of the mailer. */
const clientName = ({ address }: Mailbox) =>
  domainOf(address) === 'localhost' ? hostname() : domainOf(address);

async function findServer({ server: { host }, add }: Steps): Promise<string[]> {
  const found = await lookup(host, { all: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTFOUND') throw problemAt('address', 'serverNotFound', { host });
    throw problemAt('address', 'serverLookupFailed', { host, reason: error.code ?? asLine(error.message) });
  });
  const addresses = found.map(({ address }) => address);
  if (isIP(host) === 0)
    add(finding('address', 'ok', 'serverFound', { host, addresses: addresses.join(', ') }));
  return addresses;
}

async function reach({ server, timeoutMs, add }: Steps): Promise<Socket> {
  const { host, port } = server;
  const at = { host, port: String(port) };
  const socket = connect({ host, port });
  const outcome = await new Promise<Error | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(new Error(`no response within ${timeoutMs / 1000} s`)), timeoutMs);
    socket.once('connect', () => resolve(undefined)).once('error', resolve);
    socket.once('close', () => clearTimeout(timer)).once('connect', () => clearTimeout(timer));
  });
  socket.on('error', () => {}); // the dialog reports errors
  if (!outcome) {
    add(finding('connection', 'ok', 'connected', at));
    return socket;
  }
  socket.destroy();
  if ((outcome as NodeJS.ErrnoException).code === 'ECONNREFUSED')
    throw problemAt('connection', 'refused', at);
  throw problemAt('connection', 'noConnection', { ...at, reason: plainReason(outcome) });
}

/** Greets the server, and encrypts the connection as SMTP_URL says. */
async function greet(steps: Steps, raw: Socket, name: string): Promise<Session> {
  const { server, timeoutMs } = steps;
  const { host, isTls, isTrusted } = server;
  const port = String(server.port);
  const socket = isTls ? await encrypt(steps, raw) : raw;
  const dialog = openDialog(socket, timeoutMs);
  const greeting = await dialog.reply().catch((error: unknown) => {
    if (!(error instanceof DialogEnded)) throw error;
    if (error.isSilent && !isTls) throw problemAt('connection', 'noGreeting', { host, port });
    throw problemAt('connection', 'notReady', { host, port, said: error.message });
  });
  if (greeting.code !== 220) throw problemAt('connection', 'notReady', { host, port, said: greeting.text });
  const supported = await supportedBy(dialog, steps, name);
  if (isTls) return { socket, dialog, supported };
  if (!supported.includes('STARTTLS')) {
    if (!isTrusted) throw problemAt('encryption', 'noEncryption', { port });
    steps.add(finding('encryption', 'note', 'unencrypted'));
    return { socket, dialog, supported };
  }
  const ready = await dialog.say('STARTTLS');
  // Text after the reply could have been added by someone between us and the server.
  if (ready.code !== 220 || dialog.detach())
    throw problemAt('encryption', 'tlsFailed', { reason: ready.text });
  const secure = await encrypt(steps, socket);
  const encrypted = openDialog(secure, timeoutMs);
  return { socket: secure, dialog: encrypted, supported: await supportedBy(encrypted, steps, name) };
}

async function supportedBy(dialog: Dialog, { server }: Steps, name: string): Promise<string[]> {
  const hello = await dialog.say(`EHLO ${name}`);
  if (hello.code === 250) return hello.lines.slice(1).map((line) => line.toUpperCase());
  const old = await dialog.say(`HELO ${name}`);
  if (old.code === 250) return [];
  throw problemAt('connection', 'notReady', { host: server.host, port: String(server.port), said: old.text });
}

/** Encrypts a connection and checks the certificate. No byte is sent over it if the certificate is not accepted. */
async function encrypt(steps: Steps, raw: Socket): Promise<TLSSocket> {
  const { server, timeoutMs, add } = steps;
  const { host, isTrusted } = server;
  const secure = connectTls({
    socket: raw,
    host,
    rejectUnauthorized: false, // checked below, where the certificate can be reported
    ...(isIP(host) === 0 && { servername: host }),
  });
  const failure = await new Promise<Error | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(new Error(`no reply within ${timeoutMs / 1000} s`)), timeoutMs);
    const end = (error?: Error) => {
      clearTimeout(timer);
      resolve(error);
    };
    secure.once('secureConnect', () => end()).once('error', end);
    secure.once('close', () => end(new Error('the connection was closed')));
  });
  secure.on('error', () => {});
  if (failure) {
    secure.destroy();
    throw (failure as NodeJS.ErrnoException).code === 'ERR_SSL_WRONG_VERSION_NUMBER' ||
      /wrong version number|packet length too long/i.test(failure.message)
      ? problemAt('encryption', 'notTls', { host, port: String(server.port) })
      : problemAt('encryption', 'tlsFailed', { reason: asLine(failure.message) });
  }
  const problem = secure.authorized ? undefined : certificateProblem(secure, host);
  if (problem && !isTrusted) {
    secure.destroy();
    throw problem;
  }
  if (problem) add(finding('encryption', 'note', 'unchecked', { reason: errorOf(secure) }));
  else reportCertificate(steps, secure);
  return secure;
}

/** How many days before its end a certificate is reported. */
const renewalDays = 14;

function reportCertificate({ server: { host }, add }: Steps, secure: TLSSocket): void {
  const until = endOf(secure);
  const days = (Date.parse(until) - Date.now()) / 86_400_000;
  add(finding('encryption', 'ok', 'encrypted', { protocol: secure.getProtocol() ?? 'TLS', until }));
  if (days < renewalDays) add(finding('encryption', 'note', 'certificateEnds', { host, until }));
}

/** Returns the last day of the certificate. */
const endOf = (secure: TLSSocket): string => {
  const time = Date.parse(secure.getPeerCertificate().valid_to);
  return Number.isNaN(time) ? '?' : new Date(time).toISOString().slice(0, 10);
};

const errorOf = ({ authorizationError }: TLSSocket) => asLine(String(authorizationError));

function certificateProblem(secure: TLSSocket, host: string): StepFailed {
  const { subjectaltname = '', issuer } = secure.getPeerCertificate();
  switch (errorOf(secure)) {
    case 'CERT_HAS_EXPIRED':
      return problemAt('encryption', 'certificateExpired', { host, until: endOf(secure) });
    case 'ERR_TLS_CERT_ALTNAME_INVALID': {
      const names = subjectaltname.replaceAll(/\b(?:DNS|IP Address):/g, '');
      return problemAt('encryption', 'certificateName', { host, names: asLine(names) || '–' });
    }
    default: {
      const name = [issuer?.O ?? issuer?.CN ?? '–'].flat().join(' ');
      return problemAt('encryption', 'certificateUntrusted', {
        host,
        reason: errorOf(secure),
        issuer: asLine(name),
      });
    }
  }
}

async function logIn({ server: { login }, add }: Steps, { dialog, supported }: Session): Promise<void> {
  if (!login) return add(finding('login', 'ok', 'noLogin'));
  const offered = supported
    .filter((line) => /^AUTH[ =]/.test(line))
    .flatMap((line) => line.slice(5).trim().split(/\s+/));
  const kind = (['PLAIN', 'LOGIN', 'CRAM-MD5'] as const).find((one) => offered.includes(one));
  if (kind === undefined)
    throw problemAt('login', 'noLogins', { offered: asLine(offered.join(', ')) || '–' });
  const reply = await loggedIn(dialog, kind, login);
  if (reply.code !== 235) {
    // A server may quote what it was sent.
    const secrets = [login.password, base64(login.password), base64(`\0${login.user}\0${login.password}`)];
    const said = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), reply.text);
    throw problemAt('login', 'loginRefused', { said });
  }
  add(finding('login', 'ok', 'loggedIn'));
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

async function loggedIn(
  dialog: Dialog,
  kind: 'PLAIN' | 'LOGIN' | 'CRAM-MD5',
  { user, password }: NonNullable<SmtpServer['login']>,
): Promise<Reply> {
  if (kind === 'PLAIN') return dialog.say(`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`);
  const first = await dialog.say(`AUTH ${kind}`);
  if (first.code !== 334) return first;
  if (kind === 'CRAM-MD5') {
    const challenge = Buffer.from(first.lines[0] ?? '', 'base64');
    return dialog.say(base64(`${user} ${createHmac('md5', password).update(challenge).digest('hex')}`));
  }
  const second = await dialog.say(base64(user));
  return second.code === 334 ? dialog.say(base64(password)) : second;
}

async function introduce(
  { add }: Steps,
  { dialog }: Session,
  { from: { address }, to }: { from: Mailbox; to?: string | undefined },
): Promise<void> {
  const sender = await dialog.say(`MAIL FROM:<${address}>`);
  if (sender.code !== 250) throw problemAt('sender', 'senderRefused', { address, said: sender.text });
  add(finding('sender', 'ok', 'senderAccepted', { address }));
  if (to === undefined) return;
  const { code, text: said } = await dialog.say(`RCPT TO:<${to}>`);
  if (code >= 400 && code < 500) throw problemAt('recipient', 'recipientDeferred', { address: to, said });
  if (code !== 250 && code !== 251) throw problemAt('recipient', 'recipientRefused', { address: to, said });
  add(finding('recipient', 'ok', 'recipientAccepted', { address: to }));
}
