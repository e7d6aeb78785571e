// Telling by mail that an API token ends soon, so that no integration stops unawares: two weeks before, and three days.
import { inert } from '../base/inert.ts';
import type { Log } from '../base/log.ts';
import type { Pool } from '../db/db.ts';
import { type Letter, lettered } from '../mail/letter.ts';
import type { Mailer } from '../mail/mail.ts';
import { type EndingToken, updateEndingTold } from './ending-tokens.sql.ts';

const moments = [3, 14];

/** Mails each account's notification addresses, once for each token and moment. A mail that fails is not sent again. */
export async function tellEndingTokens(
  pool: Pool,
  mailer: Mailer | undefined,
  publicUrl: string,
  log: Log,
): Promise<void> {
  if (!mailer) return;
  for (const days of moments) {
    // oxlint-disable-next-line no-await-in-loop -- the nearer end first: it makes the farther one superfluous
    for (const token of await updateEndingTold(pool, days)) {
      const { accountId, tokenId, notify } = token;
      const { subject, letter } = letterOf(token, publicUrl);
      for (const to of notify) {
        const id = `token ${accountId} ${tokenId} ${days} ${to}`;
        // oxlint-disable-next-line no-await-in-loop -- a mail server takes few at once
        await mailer.send({ id, to, subject, ...lettered(letter) }).catch((error: unknown) => {
          log.warn({ accountId, tokenId, cause: (error as Error).message }, 'A mail about a token failed');
        });
      }
    }
  }
}

type Words = { title: string; text: string; remedy: string; button: string; hint: string; footer: string };

const words: Record<'en' | 'sv' | 'de', (name: string, day: string) => Words> = {
  en: (name, day) => ({
    title: `The API token “${name}” ends on ${day}`,
    text: 'Whatever uses it stops then: no push, file or report gets through by it.',
    remedy: 'Create a new token, give it to the system that uses this one, and revoke this one.',
    button: 'Open API tokens',
    hint: 'Or open this address:',
    footer: 'You get this because your address is among those that are told of files and tokens.',
  }),
  sv: (name, day) => ({
    title: `API-nyckeln ”${name}” upphör ${day}`,
    text: 'Det som använder den slutar då att fungera: ingen synkronisering, fil eller rapport kommer fram med den.',
    remedy: 'Skapa en ny nyckel, ge den till systemet som använder den här, och återkalla den här.',
    button: 'Öppna API-nycklar',
    hint: 'Eller öppna den här adressen:',
    footer: 'Du får det här eftersom din adress är bland dem som får veta om filer och nycklar.',
  }),
  de: (name, day) => ({
    title: `Das API-Token „${name}“ endet am ${day}`,
    text: 'Was es verwendet, hört dann auf zu arbeiten: Kein Abgleich, keine Datei und kein Bericht kommt mehr damit durch.',
    remedy:
      'Legen Sie ein neues Token an, geben Sie es dem System, das dieses verwendet, und widerrufen Sie dieses.',
    button: 'API-Tokens öffnen',
    hint: 'Oder öffnen Sie diese Adresse:',
    footer: 'Sie erhalten dies, weil Ihre Adresse zu denen gehört, die von Dateien und Tokens erfahren.',
  }),
};

function letterOf(token: EndingToken, publicUrl: string): { subject: string; letter: Letter } {
  const language = token.language === 'sv' || token.language === 'de' ? token.language : 'en';
  const format = new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    dateStyle: 'long',
    timeZone: token.timezone,
  });
  const { title, text, remedy, button, hint, footer } = words[language](
    inert(token.name, 60),
    format.format(token.expiresAt),
  );
  return {
    subject: title,
    letter: {
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
