// The mails by which people are asked and reminded: how much is asked, what is kept, and the way to the person's own page.
// Pure. They name no colleague and no result, and nothing that others wrote can be clicked in them.
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
};

/** Under 20 KB. `address`: of the person's own page; `stopAddress`: where reminders are stopped (stops.ts). */
export function invitationOf(
  { kind, language, questions, threshold, ...names }: Invitation,
  address: string,
  stopAddress: string,
): { subject: string; text: string; html: string; headers: Record<string, string> } {
  const spoken = libraryLanguage(language);
  const words = invitationWords[spoken];
  const company = inert(names.company, 80);
  const isReminder = kind === 'reminder';
  const kept: Block =
    threshold === 1
      ? { kind: 'note', ...words.open }
      : { kind: 'note', lead: words.anonymous.lead, text: words.anonymous.text(threshold) };
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
