// Emails the administrators when the service has turned off an endpoint, because no more events arrive there.
import { deliveryDays, maxFailingDays } from '@soundings/contract/webhooks/events.ts';
import { accountById } from '../accounts/accounts.ts';
import { catalogue } from '../base/texts.ts';
import { inert } from '../base/visible-text.ts';
import type { Log } from '../base/log.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { renderMail } from '../mail/template.ts';
import { type Mailer, sendUnlessRejected } from '../mail/mail.ts';
import type { Arguments } from './text/arguments.ts';
import de from './text/de/turned-off.json' with { type: 'json' };
import en from './text/en/turned-off.json' with { type: 'json' };
import sv from './text/sv/turned-off.json' with { type: 'json' };

/** The payload of the job that sends one email. */
export type TurnedOffMail = {
  accountId: AccountId;
  endpointId: number;
  /** The host of the endpoint. */
  host: string;
  reason: 'failing' | 'gone';
  to: string;
};

const texts = catalogue<typeof en, Arguments['turned-off']>({ en, sv, de });

/** Sends the email. Throws if the job should be retried; logs a warning if the mail server rejects the recipient. */
export async function mailTurnedOff(
  { pool, mailer, publicUrl, log }: { pool: Pool; mailer: Mailer | undefined; publicUrl: string; log: Log },
  { accountId, endpointId, reason, to, ...about }: TurnedOffMail,
): Promise<void> {
  if (!mailer) return log.warn({ accountId, endpointId }, 'Webhook notice not sent: SMTP_URL is not set');
  const { name, language } = await accountById(pool, accountId);
  const t = texts.in(language);
  const host = inert(about.host, 80);
  const subject = t('title', { host });
  const why = reason === 'gone' ? t('gone', { host }) : t('failing', { host, days: maxFailingDays });
  const address = `${publicUrl}/webhooks/${endpointId}`;
  const mail = renderMail({
    language: texts.languageFor(language),
    about: inert(name, 80),
    tone: 'warn',
    title: subject,
    blocks: [
      { kind: 'text', text: why },
      { kind: 'text', text: t('rest', { days: deliveryDays }) },
      { kind: 'button', text: t('button'), address, hint: t('hint') },
    ],
    footer: [t('footer')],
  });
  await sendUnlessRejected(mailer, { to, subject, ...mail }, (cause) =>
    log.warn({ accountId, endpointId, cause }, 'The mail server rejected a webhook notice'),
  );
}
