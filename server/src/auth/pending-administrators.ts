// Administrators who were created or given another address by a push or file. Anyone with the API token could sign in as one
// (decision F3), so their role is pending until an administrator confirms it. This file mails all administrators.
import { inert } from '../base/visible-text.ts';
import type { Log } from '../base/log.ts';
import type { AccountId, Pool, Transaction } from '../db/db.ts';
import { type MailContent, renderMail } from '../mail/template.ts';
import { type Mailer, MailRefused } from '../mail/mail.ts';
import { notifyMoved } from '../accounts/account-notices.ts';
import { audit } from '../accounts/audit.ts';
import {
  addPendingMails,
  type PendingMail,
  selectPendingMail,
  selectPendingOf,
} from './pending-administrators.sql.ts';

/** The maximum number of people listed in a mail and in the audit log. */
const maxListed = 20;

/** Records that the people with these externalIds are pending, and adds jobs that mail all administrators. */
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

/** The payload of the job that mails one administrator. */
export type PendingNotice = { accountId: AccountId; userId: number; pending: number[] };

/** Sends the mail. Throws if the job should be retried; logs a warning if the mail server refuses the recipient. */
export async function mailPendingAdministrators(
  { pool, mailer, publicUrl, log }: { pool: Pool; mailer: Mailer | undefined; publicUrl: string; log: Log },
  { accountId, userId, pending }: PendingNotice,
): Promise<void> {
  if (!mailer)
    return log.warn({ accountId }, 'A mail about pending administrators was not sent: SMTP_URL is not set');
  const found = await selectPendingMail(pool, accountId, userId, pending);
  if (!found) return;
  const { subject, content } = mailOf(found, `${publicUrl}/people/${pending[0]}`);
  try {
    await mailer.send({ to: found.to, subject, ...renderMail(content) });
  } catch (error) {
    if (!(error instanceof MailRefused)) throw error;
    log.warn(
      { accountId, userId, cause: error.message },
      'The mail server refused a mail about pending administrators',
    );
  }
}

type Texts = { title: string; text: string; remedy: string; button: string; hint: string; footer: string };

const texts: Record<'en' | 'sv' | 'de', Texts> = {
  en: {
    title: 'Confirm new administrators',
    text: 'Your HR system gave these people the role Administrator, or changed the email address of an administrator:',
    remedy:
      'They can’t see results until an administrator confirms them. If you didn’t expect this, revoke the API token that your HR system uses.',
    button: 'Review administrators',
    hint: 'If the button doesn’t work, open this address:',
    footer: 'You received this email because you are an administrator of Soundings.',
  },
  sv: {
    title: 'Bekräfta nya administratörer',
    text: 'Ert HR-system har gett de här personerna rollen administratör eller ändrat e-postadressen för en administratör:',
    remedy:
      'De kan inte se några resultat förrän en administratör har bekräftat dem. Om det här är oväntat bör du återkalla API-nyckeln som ert HR-system använder.',
    button: 'Granska administratörer',
    hint: 'Om knappen inte fungerar kan du öppna den här adressen:',
    footer: 'Du får det här mejlet eftersom du är administratör i Soundings.',
  },
  de: {
    title: 'Neue Administratoren bestätigen',
    text: 'Ihr HR-System hat diesen Personen die Rolle Administrator zugewiesen oder die E-Mail-Adresse eines Administrators geändert:',
    remedy:
      'Bis ein Administrator sie bestätigt, haben diese Personen keinen Zugriff auf Ergebnisse. Falls das unerwartet ist, widerrufen Sie das API-Token Ihres HR-Systems.',
    button: 'Administratoren prüfen',
    hint: 'Falls die Schaltfläche nicht funktioniert, öffnen Sie diese Adresse:',
    footer: 'Sie erhalten diese E-Mail, weil Sie Administrator von Soundings sind.',
  },
};

function mailOf(
  { language: preferred, company, people }: PendingMail,
  address: string,
): { subject: string; content: MailContent } {
  const language = preferred === 'sv' || preferred === 'de' ? preferred : 'en';
  const { title, text, remedy, button, hint, footer } = texts[language];
  const names = people.map(({ name, email }) => `${inert(name, 80)} (${inert(email ?? '', 120)})`);
  return {
    subject: title,
    content: {
      language,
      about: inert(company, 80),
      tone: 'warn',
      title,
      blocks: [
        { kind: 'text', text: `${text} ${names.join(', ')}.` },
        { kind: 'text', text: remedy },
        { kind: 'button', text: button, address, hint },
      ],
      footer: [footer],
    },
  };
}
