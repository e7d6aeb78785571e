// Sending mail through the mail server of the installation. A mail is taken by it, refused for good, or to be tried again;
// nothing that stands in a mail can change to whom it goes or what its headers say.
import { isEmail } from '@soundings/contract/formats.ts';
import { createHash, randomUUID } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { pipeline, type Readable, Transform } from 'node:stream';
import { mailboxOf, type SmtpServer, smtpServerOf } from '../base/smtp.ts';
import { MailDeferred, type Mailer, MailRefused, MailUnknown } from './mail.ts';

/** In milliseconds: until the server is ready to talk, and until it answers, which may look at the mail before it does. */
const patience = { connect: 30_000, answer: 120_000 };

/** Connections at once, and for how long one is kept that has nothing to do. */
const maxConnections = 4;
const idleMs = 10_000;

/**
 * Opens the way to a mail server. `smtpUrl` and `from` are the settings SMTP_URL and MAIL_FROM. Connects when there is
 * something to send; never without TLS and a certificate that holds, unless the way to the server is trusted.
 */
export function openMailer(smtpUrl: string, from: string, { connect, answer } = patience): Mailer {
  const server = smtpServerOf(smtpUrl);
  const sender = mailboxOf(from);
  if (!server || !sender) throw new Error('The mail server or the sender is not as base/smtp.ts has it');
  const host = sender.address.slice(sender.address.lastIndexOf('@') + 1);
  const transport = createTransport({
    pool: true,
    ...connectionOf(server),
    ...(host !== 'localhost' && { name: host }), // who we say we are; some servers look it up
    maxConnections,
    maxRequeues: 1,
    idleTimeout: idleMs,
    connectionTimeout: connect, // from the look-up of the name to the end of STARTTLS
    socketTimeout: answer,
    disableFileAccess: true,
    disableUrlAccess: true,
  });

  transport.use('stream', ({ data, message }, done) => {
    const { progress } = data as { progress?: Progress };
    if (progress) message.processFunc((mail) => noting(mail, progress));
    done();
  });

  return {
    async send({ to, subject, text, html, headers = {}, id }) {
      if (!isEmail(to)) throw new MailRefused('It has no address that mail can be delivered to.');
      const name =
        id === undefined ? randomUUID() : createHash('sha256').update(id).digest('hex').slice(0, 32);
      const progress: Progress = { isSent: false };
      const mail = {
        progress,
        from: sender,
        to: { name: '', address: to },
        subject: oneLine(subject),
        text,
        html,
        textEncoding: 'quoted-printable' as const,
        messageId: `<${name}@${host}>`,
        headers: {
          'Auto-Submitted': 'auto-generated', // RFC 3834 §5
          'X-Auto-Response-Suppress': 'OOF, AutoReply', // the same for Exchange
          ...Object.fromEntries(Object.entries(headers).map(([header, value]) => [header, oneLine(value)])),
        },
      };
      await transport.sendMail(mail).catch((error: unknown) => {
        throw judged(error, to, progress.isSent);
      });
    },

    close: () => transport.close(),
  };
}

/** `isSent`: the last bytes of the mail are on their way. Until then no server can have taken it. */
type Progress = { isSent: boolean };

/** The same mail, of which nothing is read ahead: its end is noted when the connection asks for what is last. */
function noting(mail: Readable, progress: Progress): Transform {
  const noted = new Transform({
    readableHighWaterMark: 1,
    transform: (chunk, _encoding, pass) => pass(null, chunk),
    flush(pass) {
      progress.isSent = true;
      pass();
    },
  });
  return pipeline(mail, noted, () => {}); // what fails is told by the connection
}

function connectionOf({ host, port, isTls, login, isTrusted }: SmtpServer) {
  return {
    host,
    port,
    secure: isTls,
    requireTLS: !isTls && !isTrusted,
    tls: { rejectUnauthorized: !isTrusted },
    ...(login && { auth: { user: login.user, pass: login.password }, forceAuth: true }),
  };
}

/** A header is one line, whatever stands in it. */
const oneLine = (value: string) => value.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

type SmtpError = Error & { code: string; responseCode?: number; command?: string };

/**
 * What an error of nodemailer says of the mail. For good is what the server says of the recipient or of the content (5yz,
 * RFC 5321 §4.2.1). What it says of us, our log-in, our sender or the order of commands can be mended, and the mail sent
 * again.
 */
function judged(error: unknown, to: string, isSent: boolean): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const { code, responseCode, command } = error as SmtpError;
  const said = withoutAddresses(error.message, to);
  const isOfMail = ['EENVELOPE', 'EMESSAGE'].includes(code) && (command !== 'MAIL FROM' || !responseCode);
  const isForGood = responseCode === undefined || (responseCode >= 500 && ![503, 530].includes(responseCode));
  if (isOfMail && isForGood) return new MailRefused(said);
  const saysNo = responseCode !== undefined && responseCode >= 400;
  if (isOfMail && saysNo && responseCode < 500 && responseCode !== 421) return new MailDeferred(said);
  if (isSent && !saysNo) {
    return new MailUnknown(`The mail server did not say whether it took the mail: ${said}`);
  }
  // A new one, as that of nodemailer holds addresses and would be logged with them.
  return Object.assign(new Error(`The mail server could not be made to take the mail: ${said}`), { code });
}

function withoutAddresses(text: string, to: string): string {
  const line = oneLine(
    text
      .replaceAll(to, '…')
      .replaceAll(/https?:\/\/\S+/gi, '…') // a filter may quote a link, which is a secret
      .replaceAll(/\S*\/[ar]\/\w{20,}\S*/g, '…')
      .replaceAll(/[^\s<>"'(),;:]+@[^\s<>"'(),;:]+/g, '…'),
  );
  return line.length <= 300 ? line : `${line.slice(0, 300).toWellFormed()}…`;
}
