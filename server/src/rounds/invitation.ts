// The mails by which people are asked and reminded: how much is asked, what is kept, and the way to the person's own page; and the
// one that tells an old address that its link was replaced. Pure. They name no colleague and no result, and nothing that others wrote can be clicked in them.
import { inert } from '../base/inert.ts';
import { type Block, lettered } from '../mail/letter.ts';
import { libraryLanguage } from '../questions/library-words.ts';
import { invitationWords } from './invitation-words.ts';

/** What a mail tells a person. */
export type Invitation = {
  kind: 'invitation' | 'reminder';
  /** The person's, any; those without words here get English. */
  language: string;
  company: string;
  firstName: string;
  /** How many questions the person is asked in the week. */
  questions: number;
  /** From so many answers on results are shown; 1: the answers are not anonymous, and the person is told so (P4). */
  threshold: number;
  /** The open week is shown. */
  isLive: boolean;
};

/** Under 20 KB. `address`: of the person's own page; `stopAddress`: where reminders are stopped (stops.ts). */
export function invitationOf(
  { kind, language, questions, threshold, isLive, ...names }: Invitation,
  address: string,
  stopAddress: string,
): { subject: string; text: string; html: string; headers: Record<string, string> } {
  const spoken = libraryLanguage(language);
  const words = invitationWords[spoken];
  const company = inert(names.company, 80);
  const isReminder = kind === 'reminder';
  const { lead, text } =
    threshold === 1 ? words.open : { lead: words.anonymous.lead, text: words.anonymous.text(threshold) };
  const kept: Block = { kind: 'note', lead, text: isLive ? `${text} ${words.live(threshold)}` : text };
  // From the first answer on, response rates tell who has answered.
  const reminder: Block =
    threshold === 1 ? { kind: 'text', text: words.reminder.text } : { kind: 'note', ...words.reminder };
  const letter = lettered({
    language: spoken,
    about: company,
    tone: 'plain',
    title: words.greeting(inert(names.firstName, 60)),
    blocks: [
      { kind: 'text', text: (isReminder ? words.stillAsks : words.asks)(company, questions) },
      { kind: 'button', text: words.button, address, hint: words.address },
      kept,
      ...(isReminder ? [reminder] : []),
    ],
    footer: [
      words.personal,
      words.why(company),
      ...(isReminder ? [{ text: words.stop, address: stopAddress }] : []),
    ],
  });
  return {
    subject: (isReminder ? words.reminderSubject : words.subject)(company, questions),
    ...letter,
    // RFC 2369 §3.2 and RFC 8058 §3.1
    headers: isReminder
      ? { 'List-Unsubscribe': `<${stopAddress}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
      : {},
  };
}

/** To an address that a person had before: a link that was sent to it opens nothing any more. It has no link, and no new address. */
export function replacedNotice({
  language,
  ...names
}: Pick<Invitation, 'language' | 'company' | 'firstName'>): {
  subject: string;
  text: string;
  html: string;
} {
  const spoken = libraryLanguage(language);
  const words = invitationWords[spoken];
  const company = inert(names.company, 80);
  const { subject, text, lead, check } = words.replaced;
  const letter = lettered({
    language: spoken,
    about: company,
    tone: 'plain',
    title: words.greeting(inert(names.firstName, 60)),
    blocks: [
      { kind: 'text', text: text(company) },
      { kind: 'note', lead, text: check },
    ],
    footer: [words.why(company)],
  });
  return { subject, ...letter };
}
