// Weeks whose key is lost. No one can read their answers, so they are closed without results and administrators are notified. All
// other data is unaffected (decisions/0016).
import { type Week, weekName } from '@soundings/contract/weeks.ts';
import { accountById, lockAccount } from '../accounts/accounts.ts';
import { raiseVersion } from '../accounts/accounts.sql.ts';
import { queueAdministratorMails, type MailPayload } from '../accounts/account-notices.ts';
import { audit } from '../accounts/audit.ts';
import { catalogue } from '../base/texts.ts';
import { inert } from '../base/visible-text.ts';
import type { Log } from '../base/log.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { type MailContent, renderMail } from '../mail/template.ts';
import { type Mailer, sendUnlessRejected } from '../mail/mail.ts';
import { recordEvent } from '../events/events.ts';
import { missLostWeek } from '../rounds/opening.ts';
import { lockSurvey } from '../rounds/rounds.sql.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { updateLost } from './lost-weeks.sql.ts';
import { deleteClosedData } from './close-week.ts';
import { endWeek } from './close-week.sql.ts';
import { selectWeek } from './published-figures.sql.ts';
import type { Arguments } from './text/arguments.ts';
import de from './text/de/lost-weeks.json' with { type: 'json' };
import en from './text/en/lost-weeks.json' with { type: 'json' };
import sv from './text/sv/lost-weeks.json' with { type: 'json' };

type LostWeek = { accountId: AccountId; week: Week };

/** Closes open weeks whose key is lost, and returns them. Does nothing while this server lacks the epoch key (AnswerKeys.lostWeeks). */
export async function closeLostWeeks(pool: Pool, keys: AnswerKeys): Promise<LostWeek[]> {
  const lost = await keys.lostWeeks();
  for (const one of lost) {
    // Each is a separate transaction.
    await inTransaction(pool, (tx) => closeLost(tx, keys, one));
  }
  if (lost.length > 0) await deleteClosedData(pool, keys);
  return lost;
}

async function closeLost(tx: Transaction, keys: AnswerKeys, { accountId, week }: LostWeek): Promise<void> {
  await lockSurvey(tx, accountId);
  const state = await selectWeek(tx, accountId, week, true);
  if (!state || state.isClosed) return;
  await lockAccount(tx, accountId);
  await endWeek(tx, accountId, week);
  await updateLost(tx, accountId, week);
  await missLostWeek(tx, accountId, week);
  await keys.forget(tx, accountId, week);
  await raiseVersion(tx, accountId);
  await audit(tx, accountId, { origin: 'service' }, 'week lost', { subject: weekName(week) });
  await recordEvent(tx, accountId, 'week.closed', week, { week });
  await queueAdministratorMails(tx, accountId, 'mail lost week', { week } satisfies MailPayload<LostMail>);
}

/** The payload of a job that sends the email. */
export type LostMail = { accountId: AccountId; week: Week; to: string };

/**
 * Notifies an administrator of a lost week. Throws if the email is to be retried; an email that the server rejects permanently is only
 * logged.
 */
export async function mailLostWeek(
  { pool, mailer, publicUrl, log }: { pool: Pool; mailer: Mailer | undefined; publicUrl: string; log: Log },
  { accountId, week, to }: LostMail,
): Promise<void> {
  if (!mailer) return log.warn({ accountId, week }, 'Lost-week notice not sent: SMTP_URL is not set');
  const { name, language } = await accountById(pool, accountId);
  const { subject, content } = mailOf(language, inert(name, 80), weekName(week), publicUrl);
  const mail = { id: `lost ${accountId} ${week} ${to}`, to, subject, ...renderMail(content) };
  await sendUnlessRejected(mailer, mail, (cause) =>
    log.warn({ accountId, week, cause }, 'The mail server rejected a lost-week notice'),
  );
}

const texts = catalogue<typeof en, Arguments['lost-weeks']>({ en, sv, de });

function mailOf(
  language: string,
  about: string,
  week: string,
  publicUrl: string,
): { subject: string; content: MailContent } {
  const t = texts.in(language);
  const title = t('title', { week });
  return {
    subject: title,
    content: {
      language: texts.languageFor(language),
      about,
      tone: 'warn',
      title,
      blocks: [
        { kind: 'text', text: t('text') },
        { kind: 'text', text: t('rest') },
        { kind: 'text', text: t('remedy') },
        { kind: 'button', text: t('button'), address: `${publicUrl}/schedules`, hint: t('hint') },
      ],
      footer: [t('footer')],
    },
  };
}
