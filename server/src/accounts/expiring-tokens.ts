// Mails a reminder 14 days and 3 days before an API token expires, so that no integration stops without warning.
import { inert } from '../base/visible-text.ts';
import type { Log } from '../base/log.ts';
import type { Pool } from '../db/db.ts';
import { type MailContent, renderMail } from '../mail/template.ts';
import type { Mailer } from '../mail/mail.ts';
import { type ExpiringToken, updateExpiryNotified } from './expiring-tokens.sql.ts';

const daysBeforeExpiry = [3, 14];

/** Mails each account's notification addresses once per token and reminder. A mail that fails is not sent again. */
export async function notifyExpiringTokens(
  pool: Pool,
  mailer: Mailer | undefined,
  publicUrl: string,
  log: Log,
): Promise<void> {
  if (!mailer) return;
  for (const days of daysBeforeExpiry) {
    // oxlint-disable-next-line no-await-in-loop -- the 3-day reminder comes first because it replaces the 14-day one
    for (const token of await updateExpiryNotified(pool, days)) {
      const { accountId, tokenId, notify } = token;
      const { subject, content } = mailOf(token, publicUrl);
      for (const to of notify) {
        const id = `token ${accountId} ${tokenId} ${days} ${to}`;
        // oxlint-disable-next-line no-await-in-loop -- mail servers accept only a few mails at once
        await mailer.send({ id, to, subject, ...renderMail(content) }).catch((error: unknown) => {
          log.warn(
            { accountId, tokenId, cause: (error as Error).message },
            'A mail about an expiring API token could not be sent',
          );
        });
      }
    }
  }
}

type Texts = { title: string; text: string; remedy: string; button: string; hint: string; footer: string };

const texts: Record<'en' | 'sv' | 'de', (name: string, day: string) => Texts> = {
  en: (name, day) => ({
    title: `The API token “${name}” expires on ${day}`,
    text: 'After that, systems that use this token can no longer send data, upload files or fetch reports.',
    remedy: 'Create a new token, update the system that uses this one, and then revoke the old token.',
    button: 'Open API tokens',
    hint: 'If the button doesn’t work, open this address:',
    footer:
      'You received this email because your address is set to receive notifications about files and API tokens.',
  }),
  sv: (name, day) => ({
    title: `API-nyckeln ”${name}” upphör att gälla ${day}`,
    text: 'Därefter kan system som använder nyckeln inte längre skicka data, ladda upp filer eller hämta rapporter.',
    remedy:
      'Skapa en ny nyckel, lägg in den i systemet som använder den gamla och återkalla sedan den gamla.',
    button: 'Öppna API-nycklar',
    hint: 'Om knappen inte fungerar kan du öppna den här adressen:',
    footer: 'Du får det här mejlet eftersom din adress är angiven för aviseringar om filer och API-nycklar.',
  }),
  de: (name, day) => ({
    title: `Das API-Token „${name}“ läuft am ${day} ab`,
    text: 'Danach können Systeme, die dieses Token verwenden, keine Daten mehr senden, keine Dateien hochladen und keine Berichte abrufen.',
    remedy:
      'Erstellen Sie ein neues Token, hinterlegen Sie es in dem System, das das alte verwendet, und widerrufen Sie danach das alte Token.',
    button: 'API-Tokens öffnen',
    hint: 'Falls die Schaltfläche nicht funktioniert, öffnen Sie diese Adresse:',
    footer:
      'Sie erhalten diese E-Mail, weil Ihre Adresse für Benachrichtigungen zu Dateien und API-Tokens hinterlegt ist.',
  }),
};

function mailOf(token: ExpiringToken, publicUrl: string): { subject: string; content: MailContent } {
  const language = token.language === 'sv' || token.language === 'de' ? token.language : 'en';
  const format = new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    dateStyle: 'long',
    timeZone: token.timezone,
  });
  const { title, text, remedy, button, hint, footer } = texts[language](
    inert(token.name, 60),
    format.format(token.expiresAt),
  );
  return {
    subject: title,
    content: {
      language,
      about: inert(token.account, 80),
      tone: 'warn',
      title,
      blocks: [
        { kind: 'text', text },
        { kind: 'text', text: remedy },
        { kind: 'button', text: button, address: `${publicUrl}/tokens`, hint },
      ],
      footer: [footer],
    },
  };
}
