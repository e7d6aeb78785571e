// A real mail server for tests. It stores the emails that it accepts, and refuses senders, recipients or emails as requested.
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { until } from './until.ts';

export type ReceivedMail = {
  from: string;
  to: string[];
  /** The email as it was sent: headers, and encoded bodies. */
  raw: string;
  /** The headers by their names in lower case, unfolded and decoded. The last one counts if repeated. */
  headers: Record<string, string>;
  text: string;
  html: string;
  isEncrypted: boolean;
  /** The user who logged in. */
  user: string | undefined;
};

export type TestSmtp = {
  url: string;
  port: number;
  /** The accepted emails, in their order. */
  mails: ReceivedMail[];
  /** How many emails have begun to arrive but have not ended. */
  receiving(): number;
  /** The maximum number of simultaneous connections. */
  mostConnections(): number;
  /** Waits until this number of emails has been accepted. */
  arrived(count: number): Promise<ReceivedMail[]>;
  close(): Promise<void>;
};

export type SmtpOptions = {
  /** Where it listens. The default is a free port of 127.0.0.1. */
  host?: string;
  port?: number;
  /** With a certificate it offers STARTTLS, or uses TLS from the first byte. */
  tls?: { cert: string; key: string; isFromTheStart?: boolean };
  /** The only user who may send. */
  login?: { user: string; password: string };
  /** Returns the error for a recipient, such as '550 no such user'; undefined: accepted. */
  refuseRecipient?: (address: string) => string | undefined;
  /** Like `refuseRecipient`, for a sender and for a whole email. */
  refuseSender?: (address: string) => string | undefined;
  refuseMail?: (raw: string) => string | undefined;
};

export async function openSmtp(wishes: SmtpOptions = {}): Promise<TestSmtp> {
  const mails: ReceivedMail[] = [];
  const host = wishes.host ?? '127.0.0.1';
  const { tls, login } = wishes;
  let receiving = 0;
  const server = new SMTPServer({
    logger: false,
    authOptional: !login,
    allowInsecureAuth: true,
    disabledCommands: [...(tls ? [] : ['STARTTLS']), ...(login ? [] : ['AUTH'])],
    closeTimeout: 10,
    ...(tls && { cert: tls.cert, key: tls.key, secure: tls.isFromTheStart ?? false }),
    onAuth: ({ username, password }, _session, callback) =>
      username === login?.user && password === login?.password
        ? callback(null, { user: username })
        : callback(refusal('535 5.7.8 authentication failed')),
    onMailFrom: ({ address }, _session, callback) => callback(refusal(wishes.refuseSender?.(address))),
    onRcptTo: ({ address }, _session, callback) => callback(refusal(wishes.refuseRecipient?.(address))),
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.once('data', () => receiving++);
      stream.once('close', () => receiving--);
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.once('end', () => {
        const raw = Buffer.concat(chunks).toString('latin1');
        const refused = refusal(wishes.refuseMail?.(raw));
        if (refused) return callback(refused);
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          raw,
          ...read(raw),
          isEncrypted: session.secure,
          user: session.user as string | undefined,
        });
        callback();
      });
    },
  });
  server.on('error', () => {}); // connections that a test has broken
  let most = 0;
  server.on('connect', () => (most = Math.max(most, server.connections.size)));
  await new Promise<void>((resolve) => void server.listen(wishes.port ?? 0, host, resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `${tls?.isFromTheStart ? 'smtps' : 'smtp'}://${login ? `${login.user}:${login.password}@` : ''}${host}:${port}`,
    port,
    mails,
    receiving: () => receiving,
    mostConnections: () => most,
    arrived: (count) => until(async () => mails.length >= count && mails),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function refusal(said: string | undefined): Error | null {
  if (said === undefined) return null;
  return Object.assign(new Error(said.slice(4)), { responseCode: Number(said.slice(0, 3)) });
}

/** Parses an email from the service: two bodies, quoted-printable, UTF-8. */
function read(raw: string): Pick<ReceivedMail, 'headers' | 'text' | 'html'> {
  const { headers, body } = split(raw);
  const boundary = /boundary="?([^";]+)/.exec(headers['content-type'] ?? '')?.[1];
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => split(part.replace(/^\r\n/, '')));
  const bodyOf = (type: string) => {
    const part = parts.find((one) => one.headers['content-type'] === `${type}; charset=utf-8`);
    return part === undefined ? '' : unquoted(part.body.replace(/\r\n$/, '')).replaceAll('\r\n', '\n');
  };
  return { headers, text: bodyOf('text/plain'), html: bodyOf('text/html') };
}

function split(raw: string): { headers: Record<string, string>; body: string } {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n(?=[ \t])/g, '')
    .split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), decoded(line.slice(colon + 1).trim())];
  });
  return { headers: Object.fromEntries(headers) as Record<string, string>, body: raw.slice(end + 4) };
}

/** Decodes quoted-printable (RFC 2045 §6.7) in UTF-8. */
function unquoted(text: string): string {
  const bytes = text
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

/** Decodes a header with encoded words (RFC 2047). */
function decoded(text: string): string {
  return text
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString()
        : unquoted(word.replaceAll('_', ' ')),
    );
}
