// Emails the administrators when a list can't be fetched, because the organization is then no longer up to date.
import type { PullError } from '@soundings/contract/pulls/pull-values.ts';
import { accountById } from '../accounts/accounts.ts';
import type { Log } from '../base/log.ts';
import { catalogue } from '../base/texts.ts';
import { inert } from '../base/visible-text.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { type Mailer, sendUnlessRejected } from '../mail/mail.ts';
import { renderMail } from '../mail/template.ts';
import type { Arguments } from './text/arguments.ts';
import de from './text/de/failing.json' with { type: 'json' };
import en from './text/en/failing.json' with { type: 'json' };
import sv from './text/sv/failing.json' with { type: 'json' };

/** The payload of the job that sends one email. `name`: that of the pull; `host`: where its list is. */
export type FailingMail = {
  accountId: AccountId;
  pullId: number;
  name: string;
  host: string;
  error: PullError;
  to: string;
};

const texts = catalogue<typeof en, Arguments['failing']>({ en, sv, de });

/** Sends the email. Throws if the job should be retried; logs a warning if the mail server rejects the recipient. */
export async function mailFailing(
  { pool, mailer, publicUrl, log }: { pool: Pool; mailer: Mailer | undefined; publicUrl: string; log: Log },
  { accountId, pullId, error, to, ...about }: FailingMail,
): Promise<void> {
  if (!mailer) return log.warn({ accountId, pullId }, 'Pull notice not sent: SMTP_URL is not set');
  const { name: account, language } = await accountById(pool, accountId);
  const t = texts.in(language);
  const [name, host] = [inert(about.name, 80), inert(about.host, 80)];
  const subject = t('title', { name });
  const mail = renderMail({
    language: texts.languageFor(language),
    about: inert(account, 80),
    tone: 'warn',
    title: subject,
    blocks: [
      { kind: 'text', text: t(error, { host }) },
      { kind: 'text', text: t('rest') },
      { kind: 'button', text: t('button'), address: `${publicUrl}/pulls/${pullId}`, hint: t('hint') },
    ],
    footer: [t('footer')],
  });
  await sendUnlessRejected(mailer, { to, subject, ...mail }, (cause) =>
    log.warn({ accountId, pullId, cause }, 'The mail server rejected a pull notice'),
  );
}
