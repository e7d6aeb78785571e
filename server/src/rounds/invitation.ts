// Builds the invitation and reminder mails, and the notice to a previous address that its link was replaced. Pure. The mails
// contain no colleagues' names and no results, and names written by others never become clickable.
import { inert } from '../base/visible-text.ts';
import { type Block, renderMail } from '../mail/template.ts';
import { libraryLanguage } from '../questions/library-texts.ts';
import { invitationTexts } from './invitation-texts.ts';

/** What an invitation or a reminder contains. */
export type Invitation = {
  kind: 'invitation' | 'reminder';
  /** The person's language. English is used if there are no texts in it. */
  language: string;
  company: string;
  firstName: string;
  /** How many questions the person is asked in the week. */
  questions: number;
  /** The number of answers a group needs for results to be shown. With 1, answers are not anonymous and the mail says so (P4). */
  threshold: number;
  /** Whether results of the open week are shown. */
  isLive: boolean;
};

/**
 * Returns the mail, which is smaller than 20 KB. `address`: the person's answering page; `stopAddress`: the page on which
 * reminders are turned off (reminder-opt-out.ts).
 */
export function invitationOf(
  { kind, language, questions, threshold, isLive, ...names }: Invitation,
  address: string,
  stopAddress: string,
): { subject: string; text: string; html: string; headers: Record<string, string> } {
  const textLanguage = libraryLanguage(language);
  const words = invitationTexts[textLanguage];
  const company = inert(names.company, 80);
  const isReminder = kind === 'reminder';
  const { lead, text } =
    threshold === 1 ? words.open : { lead: words.anonymous.lead, text: words.anonymous.text(threshold) };
  const promise: Block = { kind: 'note', lead, text: isLive ? `${text} ${words.live(threshold)}` : text };
  // With a threshold of 1, response rates can reveal who has answered, so the sentence about managers is left out.
  const reminder: Block =
    threshold === 1 ? { kind: 'text', text: words.reminder.text } : { kind: 'note', ...words.reminder };
  const content = renderMail({
    language: textLanguage,
    about: company,
    tone: 'plain',
    title: words.greeting(inert(names.firstName, 60)),
    blocks: [
      { kind: 'text', text: (isReminder ? words.stillAsks : words.asks)(company, questions) },
      { kind: 'button', text: words.button, address, hint: words.address },
      promise,
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
    ...content,
    // RFC 2369 §3.2 and RFC 8058 §3.1
    headers: isReminder
      ? { 'List-Unsubscribe': `<${stopAddress}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
      : {},
  };
}

/** Returns the mail to a person's previous address, saying that the link sent there no longer works. It contains neither a link nor the new address. */
export function replacedNotice({
  language,
  ...names
}: Pick<Invitation, 'language' | 'company' | 'firstName'>): {
  subject: string;
  text: string;
  html: string;
} {
  const textLanguage = libraryLanguage(language);
  const words = invitationTexts[textLanguage];
  const company = inert(names.company, 80);
  const { subject, text, lead, check } = words.replaced;
  const content = renderMail({
    language: textLanguage,
    about: company,
    tone: 'plain',
    title: words.greeting(inert(names.firstName, 60)),
    blocks: [
      { kind: 'text', text: text(company) },
      { kind: 'note', lead, text: check },
    ],
    footer: [words.why(company)],
  });
  return { subject, ...content };
}
