// A separate process that sends invitations: with the sender of the service, or the same emails with a bare pool of
// nodemailer, which looks up nothing and records nothing. Arguments: the database URL, the directory of the keys, and the
// URL of the mail server. Each message is an order to send emails, and the reply is the number of milliseconds that sending
// took.
import { openLog } from '@soundings/server/src/base/log.ts';
import { openPool } from '@soundings/server/src/db/db.ts';
import { openMailer } from '@soundings/server/src/mail/mailer.ts';
import { invitationOf } from '@soundings/server/src/rounds/messages/invitation.ts';
import { openSender } from '@soundings/server/src/rounds/messages/messages.ts';
import { AnswerKeys } from '@soundings/server/src/sealing/answer-keys.ts';
import { createTransport } from 'nodemailer';

/** `bare`: the emails of the floor, one to each address. `at`: sends what is due at this time, in ms since 1970; by default now. */
export type MailingOrder = { bare?: { company: string; firstName: string; email: string }[]; at?: number };

const [databaseUrl = '', directory = '', smtpUrl = ''] = process.argv.slice(2);
const from = 'Soundings <soundings@bench.example>';
const publicUrl = 'https://soundings.bench.example';
const pool = openPool(databaseUrl, 10);
const keys = new AnswerKeys(pool, { place: 'file', directory });
await keys.chain.advance();
/** The default of SMTP_CONNECTIONS. */
const connections = 8;
const mailer = openMailer(smtpUrl, from, { connections });
const send = openSender({ pool, keys, mailer, publicUrl, log: openLog('error', 2) });

process.on('message', ({ bare, at }: MailingOrder) => {
  const run = bare ? barePool(bare) : () => send(at ?? Date.now());
  const start = performance.now();
  void run()
    .then(() => performance.now() - start)
    .catch((error: unknown) => String(error))
    .then((given) => process.send?.(given));
});
process.once('disconnect', () => process.exit()); // the parent process has ended
process.send?.('ready');

/** Returns what sends the emails, which are written before, with as many connections as the service uses. */
function barePool(people: NonNullable<MailingOrder['bare']>): () => Promise<void> {
  const { hostname, port } = new URL(smtpUrl);
  const transport = createTransport({
    pool: true,
    host: hostname,
    port: Number(port),
    maxConnections: connections,
    maxMessages: Number.POSITIVE_INFINITY,
  });
  const mails = people.map(({ email, ...person }) => ({
    from,
    to: email,
    ...invitationOf(
      { ...person, kind: 'invitation', language: 'en', questions: 2, threshold: 5, isLive: false },
      `${publicUrl}/a/${'x'.repeat(27)}`,
      `${publicUrl}/r/${'x'.repeat(32)}`,
    ),
  }));
  return async () => {
    await Promise.all(mails.map((mail) => transport.sendMail(mail)));
    transport.close();
  };
}
