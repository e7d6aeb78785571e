// Administrators who were created or given another address by a push or file. Anyone with the API token could sign in as such an
// administrator (decision F3), so their role is pending until another administrator confirms it. This file emails all
// administrators.
import { catalogue } from '../base/texts.ts';
import { inert } from '../base/visible-text.ts';
import type { Log } from '../base/log.ts';
import type { AccountId, Pool, Transaction } from '../db/db.ts';
import { type MailContent, renderMail } from '../mail/template.ts';
import { type Mailer, sendUnlessRejected } from '../mail/mail.ts';
import { notifyMoved } from '../accounts/account-notices.ts';
import { audit } from '../accounts/audit.ts';
import {
  addPendingMails,
  type PendingMail,
  selectPendingMail,
  selectPendingOf,
} from './pending-administrators.sql.ts';
import type { Arguments } from './text/arguments.ts';
import de from './text/de/pending-administrators.json' with { type: 'json' };
import en from './text/en/pending-administrators.json' with { type: 'json' };
import sv from './text/sv/pending-administrators.json' with { type: 'json' };

/** The maximum number of people listed in an email and in the audit log. */
const maxListed = 20;

/** Records that the roles of the people with these externalIds are pending, and adds jobs that email all administrators. */
export async function notePending(
  tx: Transaction,
  accountId: AccountId,
  externalIds: string[],
): Promise<void> {
  if (externalIds.length === 0) return;
  const ids = await selectPendingOf(tx, accountId, externalIds);
  const details = { count: ids.length, ids: ids.slice(0, maxListed).join(' ') };
  await audit(tx, accountId, { origin: 'service' }, 'administrator pending', { details });
  await addPendingMails(tx, accountId, ids.slice(0, maxListed));
  await notifyMoved(tx, accountId, ids);
}

/** The payload of the job that emails one administrator. */
export type PendingNotice = { accountId: AccountId; userId: number; pending: number[] };

/** Sends the email. Throws if the job should be retried; logs a warning if the mail server rejects the recipient. */
export async function mailPendingAdministrators(
  { pool, mailer, publicUrl, log }: { pool: Pool; mailer: Mailer | undefined; publicUrl: string; log: Log },
  { accountId, userId, pending }: PendingNotice,
): Promise<void> {
  if (!mailer)
    return log.warn({ accountId }, 'An email about pending administrators was not sent: SMTP_URL is not set');
  const found = await selectPendingMail(pool, accountId, userId, pending);
  if (!found) return;
  const { subject, content } = mailOf(found, `${publicUrl}/people/${pending[0]}`);
  await sendUnlessRejected(mailer, { to: found.to, subject, ...renderMail(content) }, (cause) =>
    log.warn({ accountId, userId, cause }, 'The mail server rejected an email about pending administrators'),
  );
}

const texts = catalogue<typeof en, Arguments['pending-administrators']>({ en, sv, de });

function mailOf(
  { language, company, people }: PendingMail,
  address: string,
): { subject: string; content: MailContent } {
  const t = texts.in(language);
  const names = people.map(({ name, email }) => `${inert(name, 80)} (${inert(email ?? '', 120)})`);
  return {
    subject: t('title'),
    content: {
      language: texts.languageFor(language),
      about: inert(company, 80),
      tone: 'warn',
      title: t('title'),
      blocks: [
        { kind: 'text', text: t('text', { people: names.join(', ') }) },
        { kind: 'text', text: t('remedy') },
        { kind: 'button', text: t('button'), address, hint: t('hint') },
      ],
      footer: [t('footer')],
    },
  };
}
