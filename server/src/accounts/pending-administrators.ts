// Administrators whom a push or file made, or gave another address: whoever holds its token could sign in as one (decision
// F3). Their role is pending until an administrator confirms it. Here all administrators are notified by mail.
import { inert } from '../base/inert.ts';
import type { Log } from '../base/log.ts';
import type { AccountId, Pool, Transaction } from '../db/db.ts';
import { type Letter, lettered } from '../mail/letter.ts';
import { type Mailer, MailRefused } from '../mail/mail.ts';
import { notifyMoved } from './account-notices.ts';
import { audit } from './audit.ts';
import {
  addPendingMails,
  type PendingMail,
  selectPendingMail,
  selectPendingOf,
} from './pending-administrators.sql.ts';

/** As many are named in a mail and in the audit log. */
const named = 20;

/** Notes that the people with these externalIds are pending, and asks for mails to all administrators. */
export async function notePending(
  tx: Transaction,
  accountId: AccountId,
  externalIds: string[],
): Promise<void> {
  if (externalIds.length === 0) return;
  const ids = await selectPendingOf(tx, accountId, externalIds);
  const details = { count: ids.length, ids: ids.slice(0, named).join(' ') };
  await audit(tx, accountId, { origin: 'service' }, 'administrator pending', { details });
  await addPendingMails(tx, accountId, ids.slice(0, named));
  await notifyMoved(tx, accountId, ids);
}

/** What a job of it says: who is notified, and of whom. */
export type PendingNotice = { accountId: AccountId; userId: number; pending: number[] };

/** Sends the mail. What is thrown is to be tried again; an address that refuses is not. */
export async function mailPendingAdministrators(
  { pool, mailer, publicUrl, log }: { pool: Pool; mailer: Mailer | undefined; publicUrl: string; log: Log },
  { accountId, userId, pending }: PendingNotice,
): Promise<void> {
  if (!mailer)
    return log.warn({ accountId }, 'A mail about pending administrators was not sent: SMTP_URL is not set');
  const found = await selectPendingMail(pool, accountId, userId, pending);
  if (!found) return;
  const { subject, letter } = letterOf(found, `${publicUrl}/people/${pending[0]}`);
  try {
    await mailer.send({ to: found.to, subject, ...lettered(letter) });
  } catch (error) {
    if (!(error instanceof MailRefused)) throw error;
    log.warn({ accountId, userId, cause: error.message }, 'A mail about pending administrators was refused');
  }
}

type Words = { title: string; text: string; remedy: string; button: string; hint: string; footer: string };

const words: Record<'en' | 'sv' | 'de', Words> = {
  en: {
    title: 'Confirm new administrators',
    text: 'Your HR system made these people administrators, or gave administrators another email address:',
    remedy:
      'They have no access to results until an administrator confirms them. If you did not expect this, revoke the API token that your HR system uses.',
    button: 'Review',
    hint: 'Or open this address:',
    footer: 'You get this because you are an administrator.',
  },
  sv: {
    title: 'Bekräfta nya administratörer',
    text: 'Ert HR-system har gjort de här personerna till administratörer, eller gett administratörer en annan e-postadress:',
    remedy:
      'De kommer inte åt några resultat förrän en administratör har bekräftat dem. Om du inte väntade dig detta, återkalla API-nyckeln som ert HR-system använder.',
    button: 'Granska',
    hint: 'Eller öppna den här adressen:',
    footer: 'Du får det här eftersom du är administratör.',
  },
  de: {
    title: 'Neue Administratoren bestätigen',
    text: 'Ihr HR-System hat diese Personen zu Administratoren gemacht oder Administratoren eine andere E-Mail-Adresse gegeben:',
    remedy:
      'Sie haben keinen Zugriff auf Ergebnisse, bis ein Administrator sie bestätigt. Wenn Sie das nicht erwartet haben, widerrufen Sie das API-Token Ihres HR-Systems.',
    button: 'Prüfen',
    hint: 'Oder öffnen Sie diese Adresse:',
    footer: 'Sie erhalten dies, weil Sie Administrator sind.',
  },
};

function letterOf(
  { language: spoken, company, people }: PendingMail,
  address: string,
): { subject: string; letter: Letter } {
  const language = spoken === 'sv' || spoken === 'de' ? spoken : 'en';
  const { title, text, remedy, button, hint, footer } = words[language];
  const names = people.map(({ name, email }) => `${inert(name, 80)} (${inert(email ?? '', 120)})`);
  return {
    subject: title,
    letter: {
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
