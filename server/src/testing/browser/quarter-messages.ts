// The messages of the demo company's open week: what people get when it begins, on Wednesday, and after it has closed. Everything is
// sent by the service's own code to a mail server and a text message gateway.
import { type QuestionType, yesNo } from '@soundings/contract/question-types.ts';
import { addWeeks, dayIn, weekOf } from '@soundings/contract/weeks.ts';
import { openLog } from '../../base/log.ts';
import type { Pool } from '../../db/db.ts';
import { comments, type Topic } from '../../demo/comments.ts';
import { openDigestSender } from '../../digests/digests.ts';
import { openMailer } from '../../mail/mailer.ts';
import { closeWeekNow } from '../../results/close-week.ts';
import { computeStatistics } from '../../results/statistics/statistics.ts';
import { openSender } from '../../rounds/messages/messages.ts';
import type { AnswerKeys } from '../../sealing/answer-keys.ts';
import { openGateway } from '../../sms/gateway.ts';
import { gatewaySettings } from '../../sms/gateway.fixture.ts';
import type { ReceivedMail, TestSmtp } from '../smtp.ts';

export type Quarter = {
  pool: Pool;
  keys: AnswerKeys;
  smtp: TestSmtp;
  /** The address of the text message gateway. */
  gatewayUrl: string;
  address: string;
  publicUrl: string;
  accountId: number;
  /** Noon on the Wednesday of the open week, in ms since 1970. */
  now: number;
};

export type WeekMails = { invitations: ReceivedMail[]; reminders: ReceivedMail[] };

export const mailFrom = 'Soundings <soundings@lavmark.example>';
/** In ms. On Monday, the week opens; on Wednesday, its reminders are due. */
export const twoDays = 2 * 86_400_000;
const log = openLog('warn');

/** Returns the path of the personal link in a message, or ''. */
export const linkIn = (text: string): string => /\/a\/[0-9A-Za-z]{27}/.exec(text)?.[0] ?? '';

/** Returns noon on the last Wednesday. */
export function wednesday(): number {
  const noon = new Date();
  noon.setUTCHours(12, 0, 0, 0);
  if (noon.getTime() > Date.now()) noon.setUTCDate(noon.getUTCDate() - 1);
  noon.setUTCDate(noon.getUTCDate() - ((noon.getUTCDay() + 4) % 7));
  return noon.getTime();
}

/** Sends the invitations of the open week as on Monday and, on Wednesday, the reminders. Some people have answered in between. */
export async function sendWeek(quarter: Quarter): Promise<WeekMails> {
  const { pool, keys, smtp, publicUrl, now } = quarter;
  const gateway = openGateway(gatewaySettings(quarter.gatewayUrl));
  const mailer = openMailer(smtp.url, mailFrom);
  const send = openSender({ pool, keys, mailer, gateway, publicUrl, log });
  await send(now - twoDays);
  // Administrators get other emails, too.
  const asking = () => smtp.mails.splice(0).filter(({ text }) => linkIn(text) !== '');
  const invitations = asking();
  await answerSome(quarter, invitations);
  await send(now);
  mailer.close();
  gateway.close();
  return { invitations, reminders: asking() };
}

/** Answers as some of the people who got an invitation, through the links in their emails. */
async function answerSome({ pool, accountId, address }: Quarter, invitations: ReceivedMail[]): Promise<void> {
  const questions = await pool<{ id: number; type: QuestionType; topic: Topic | null }[]>`
    select distinct on (q.question_id) q.question_id as id, q.type, k.kpi_id as topic
    from   asked a
    join   weeks w using (account_id, week)
    join   questions q on q.account_id = a.account_id and q.question_id = any(a.question_ids)
    left join kpi_questions k on k.account_id = q.account_id and k.question_id = q.question_id
    where  a.account_id = ${accountId} and w.closed_at is null`;
  // Everyone answers a little differently, and more often with a high value. Some also write a comment on a question, without emoji,
  // because the machine that takes the pictures may lack a font for them.
  for (const [i, mail] of invitations.filter((_, at) => at % 7 < 5).entries()) {
    const body = new URLSearchParams();
    for (const [at, { id, type, topic }] of questions.entries()) {
      const value = 5 - (((i * (1 + (id % 3)) + id) % 5) % 4);
      body.set(`q${id}`, type === yesNo ? (i % 5 === id % 5 ? 'no' : 'yes') : String(value));
      const sentences =
        topic &&
        comments[topic][value > 2 ? 'good' : 'bad'][languageOf(mail)].filter((one) => !emoji.test(one));
      if (sentences && i % 5 === 2 && at === i % questions.length)
        body.set(`c${id}`, sentences[i % sentences.length] as string);
    }
    await fetch(address + linkIn(mail.text), { method: 'POST', body, redirect: 'manual' });
  }
}

const emoji = /\p{Extended_Pictographic}/u;
const languageOf = ({ html }: ReceivedMail): 'en' | 'sv' => (html.includes('lang="sv"') ? 'sv' : 'en');

/** Closes the open week at its end, and returns the digests of the Tuesday after it. */
export async function closeAndDigest(quarter: Quarter): Promise<ReceivedMail[]> {
  const { pool, keys, smtp, accountId, publicUrl, now } = quarter;
  const week = weekOf(dayIn('Europe/Stockholm', now));
  const [monday, tuesday] = [
    Date.parse(`${addWeeks(week, 1)}T00:30:00Z`),
    Date.parse(`${addWeeks(week, 1)}T09:00:00Z`) + 86_400_000,
  ];
  smtp.mails.length = 0;
  await closeWeekNow(pool, keys, accountId, week, monday);
  await computeStatistics(pool, accountId);
  const mailer = openMailer(smtp.url, mailFrom);
  await openDigestSender({ pool, mailer, publicUrl, log })(tuesday);
  mailer.close();
  return smtp.mails.splice(0).filter(({ text }) => text.includes(`${publicUrl}/d/`));
}
