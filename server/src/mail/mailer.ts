// Sends email through the mail server of the installation. An email is accepted, rejected permanently or retried. No content of an
// email can change its recipients or headers.
import { isEmail } from '@soundings/contract/formats.ts';
import { createHash, randomUUID } from 'node:crypto';
import DKIM from 'nodemailer/lib/dkim';
import SMTPPool from 'nodemailer/lib/smtp-pool';
import {
  type DkimSigning,
  domainOf,
  mailboxOf,
  type SmtpServer,
  smtpServerOf,
} from '../base/messages/smtp.ts';
import { inSpan, outsideOfSpans } from '../base/tracing/spans.ts';
import { composeEmail } from './compose.ts';
import { bounceMessageId } from './bounces/delivery-status.ts';
import type { Mail, MailedPerson, Mailer } from './mail.ts';
import { envelopeOf, type Progress, transferOf } from './transfer.ts';
import { Deferred, Rejected, Throttled, Unconfirmed } from '../sending/outcomes.ts';
import { oneLine, withoutAddresses } from '../sending/reasons.ts';

/** How long to wait, in milliseconds, until the connection is ready, and until the server replies. It may scan the email first. */
const timeouts = { connect: 30_000, response: 120_000 };

/**
 * How many emails are sent over a connection. Many servers allow no more than a hundred, which is also the default of
 * nodemailer.
 */
const messagesOfConnection = 100;
/** How long an idle connection is kept. */
const idleMs = 10_000;

/**
 * `connect` and `response`: timeouts in ms. `dkim`: how emails are signed; undefined: they are not. `connections`: the maximum number of
 * connections. `bounces`: the address to which undeliverable emails are returned, and the token by which a returned email is attributed to
 * its person; undefined: they are returned to the sender.
 */
export type MailerOptions = {
  connect?: number;
  response?: number;
  dkim?: DkimSigning | undefined;
  connections?: number;
  bounces?: { address: string; tokenOf(person: MailedPerson): Promise<string> } | undefined;
};

/**
 * Opens a mailer. `smtpUrl` and `from` are the settings SMTP_URL and MAIL_FROM. Connects when there is something to send, and
 * always with TLS and a valid certificate, unless the connection to the server is trusted.
 */
export function openMailer(
  smtpUrl: string,
  from: string,
  {
    connect = timeouts.connect,
    response = timeouts.response,
    dkim,
    connections = 4,
    bounces,
  }: MailerOptions = {},
): Mailer {
  const server = smtpServerOf(smtpUrl);
  const sender = mailboxOf(from);
  if (!server || !sender) throw new Error('SMTP_URL or MAIL_FROM is invalid (see base/messages/smtp.ts)');
  const host = domainOf(from);
  const signer = dkim && signerOf(dkim);
  const pool = new SMTPPool({
    ...connectionOf(server),
    ...(host !== 'localhost' && { name: host }), // our name in the greeting, which some servers look up
    maxConnections: connections,
    maxMessages: messagesOfConnection,
    maxRequeues: 1,
    idleTimeout: idleMs,
    connectionTimeout: connect, // from the DNS lookup to the end of STARTTLS
    socketTimeout: response,
  });

  return {
    connections,

    async send({ to, subject, text, html, hasSharedLines = false, headers = {}, id, person, beforeEnd }) {
      if (!isEmail(to)) throw new Rejected('The recipient has no valid email address.');
      const progress: Progress = { isSent: false, beforeEnd, withdrawn: undefined };
      const messageId = `<${await messageNameOf({ id, person }, bounces)}@${host}>`;
      const recipient = { name: '', address: to };
      const email = written({ sender, recipient, subject, text, html, hasSharedLines, headers, messageId });
      const transfer = transferOf({
        messageId,
        envelope: envelopeOf(bounces?.address ?? sender.address, to),
        email: signer ? Buffer.concat(await signer.sign(email).toArray()) : email,
        progress,
      });
      const sending = async () => {
        await sentOver(pool, transfer).catch((error: unknown) => {
          throw progress.withdrawn ? progress.withdrawn.reason : mailError(error, to, progress.isSent);
        });
      };
      await inSpan({ name: 'send email', kind: 'client' }, sending);
    },

    close: () => pool.close(),
  };
}

/** Sends an email outside of the current span, because other emails are sent over the same connection later. */
const sentOver = (pool: SMTPPool, transfer: Parameters<SMTPPool['send']>[0]): Promise<void> =>
  outsideOfSpans(
    () =>
      new Promise<void>((resolve, reject) => {
        pool.send(transfer, (error) => (error ? reject(error) : resolve()));
      }),
  );

/** Returns an email as it is sent, before it is signed. */
const written = ({
  sender,
  recipient,
  subject,
  text,
  html,
  hasSharedLines,
  headers,
  messageId,
}: Required<Pick<Mail, 'subject' | 'text' | 'html' | 'hasSharedLines' | 'headers'>> & {
  sender: { name: string; address: string };
  recipient: { name: string; address: string };
  messageId: string;
}): Buffer =>
  composeEmail({
    headers: [
      ['Auto-Submitted', 'auto-generated'], // RFC 3834 §5
      ['X-Auto-Response-Suppress', 'OOF, AutoReply'], // the same for Exchange
      ...Object.entries(headers).map(([header, value]) => [header, oneLine(value)] as const),
      ['From', sender],
      ['To', recipient],
      ['Subject', oneLine(subject)],
      ['Message-ID', messageId],
    ],
    text,
    html,
    hasSharedLines,
    date: new Date(),
    // No line of quoted-printable text begins like this: "=" and "_" never follow each other.
    boundary: `--=_${randomUUID()}`,
  });

/** Returns the part of the Message-ID before "@". It names the person if a bounce is to be recorded for them. */
async function messageNameOf(
  { id, person }: { id: string | undefined; person: MailedPerson | undefined },
  bounces: MailerOptions['bounces'],
): Promise<string> {
  const name = id === undefined ? randomUUID() : createHash('sha256').update(id).digest('hex').slice(0, 32);
  return bounces && person ? bounceMessageId(name, await bounces.tokenOf(person)) : name;
}

/**
 * The signed headers: all that we write. List-Unsubscribe-Post is one of them, because otherwise mail programs ignore it (RFC 8058
 * §4).
 */
const signedHeaders = [
  'From',
  'Subject',
  'Date',
  'Message-ID',
  'To',
  'MIME-Version',
  'Content-Type',
  'Auto-Submitted',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
].join(':');

const signerOf = ({ domain, selector, key }: DkimSigning) =>
  new DKIM({
    domainName: domain,
    keySelector: selector,
    privateKey: key,
    headerFieldNames: signedHeaders,
  });

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

/**
 * Returns whether a response says that the server gets too many emails. Greylisting, which concerns a single email, is described in similar
 * words.
 */
const isThrottling = (response: string) =>
  /too (?:many|much|fast)|throttl|slow down|\brate\b|limit|exceed|4\.7\.28/i.test(response) &&
  !/gr[ae]y|mailbox|quota/i.test(response);

type SmtpError = Error & { code: string; responseCode?: number; command?: string };

/**
 * Returns what an error of nodemailer means for the email. Errors about the recipient or the content are permanent (5yz, RFC 5321
 * §4.2.1). Errors about our login, our sender or the order of commands can be fixed, and the email sent again.
 */
function mailError(error: unknown, to: string, isSent: boolean): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const { code, responseCode, command } = error as SmtpError;
  const reason = withoutAddresses(error.message, to);
  const isOfMail = ['EENVELOPE', 'EMESSAGE'].includes(code) && (command !== 'MAIL FROM' || !responseCode);
  const isPermanent =
    responseCode === undefined || (responseCode >= 500 && ![503, 530].includes(responseCode));
  if (isOfMail && isPermanent) return new Rejected(reason);
  const isRejected = responseCode !== undefined && responseCode >= 400;
  if (isOfMail && isRejected && responseCode < 500 && responseCode !== 421)
    return isThrottling(error.message) ? new Throttled(reason) : new Deferred(reason);
  if (isSent && !isRejected) {
    return new Unconfirmed(`The mail server did not confirm whether it accepted the email: ${reason}`);
  }
  // A new error, because nodemailer's contains addresses, which would be logged.
  return Object.assign(new Error(`The email could not be sent: ${reason}`), { code });
}
