// Emails a reminder 14 days and 3 days before an API token expires, so that no integration stops without warning.
import { localeOf } from '@soundings/contract/texts.ts';
import { catalogue } from '../base/texts.ts';
import { inert } from '../base/visible-text.ts';
import type { Log } from '../base/log.ts';
import { inTransaction, type Pool } from '../db/db.ts';
import { recordEvent } from '../events/events.ts';
import { type MailContent, renderMail } from '../mail/template.ts';
import type { Mailer } from '../mail/mail.ts';
import { type ExpiringToken, updateExpiryEvents, updateExpiryNotified } from './expiring-tokens.sql.ts';
import type { Arguments } from './text/arguments.ts';
import de from './text/de/expiring-tokens.json' with { type: 'json' };
import en from './text/en/expiring-tokens.json' with { type: 'json' };
import sv from './text/sv/expiring-tokens.json' with { type: 'json' };

const daysBeforeExpiry = [3, 14];

/** Records an event for webhooks at the times of the reminders, also if no email is sent. */
export async function recordExpiringTokens(pool: Pool): Promise<void> {
  for (const days of daysBeforeExpiry) {
    await inTransaction(pool, async (tx) => {
      for (const { accountId, tokenId, expiresAt } of await updateExpiryEvents(tx, days)) {
        const data = { tokenId, expiresAt: expiresAt.toISOString() };
        await recordEvent(tx, accountId, 'token.expiring', tokenId, data);
      }
    });
  }
}

/** Emails each account's notification addresses once for each token and reminder. An email that fails is not sent again. */
export async function notifyExpiringTokens(
  pool: Pool,
  mailer: Mailer | undefined,
  publicUrl: string,
  log: Log,
): Promise<void> {
  if (!mailer) return;
  for (const days of daysBeforeExpiry) {
    // The 3-day reminder comes first because it replaces the 14-day one.
    for (const token of await updateExpiryNotified(pool, days)) {
      const { accountId, tokenId, notify } = token;
      const { subject, content } = mailOf(token, publicUrl);
      for (const to of notify) {
        const id = `token ${accountId} ${tokenId} ${days} ${to}`;
        // Emails are sent one after another, because mail servers accept only a few at a time.
        await mailer.send({ id, to, subject, ...renderMail(content) }).catch((error: unknown) => {
          log.warn(
            { accountId, tokenId, cause: (error as Error).message },
            'An email about an expiring API token could not be sent',
          );
        });
      }
    }
  }
}

const texts = catalogue<typeof en, Arguments['expiring-tokens']>({ en, sv, de });

function mailOf(token: ExpiringToken, publicUrl: string): { subject: string; content: MailContent } {
  const language = texts.languageFor(token.language);
  const t = texts.in(language);
  const format = new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'long', timeZone: token.timezone });
  const title = t('title', { name: inert(token.name, 60), day: format.format(token.expiresAt) });
  return {
    subject: title,
    content: {
      language,
      about: inert(token.account, 80),
      tone: 'warn',
      title,
      blocks: [
        { kind: 'text', text: t('text') },
        { kind: 'text', text: t('remedy') },
        { kind: 'button', text: t('button'), address: `${publicUrl}/tokens`, hint: t('hint') },
      ],
      footer: [t('footer')],
    },
  };
}
