// Builds the invitation and reminder emails, and the notice to a previous address that its link was replaced. Pure. The emails
// contain no colleagues' names and no results, and names written by others never become clickable.
import { escaped } from '../../base/html.ts';
import { inert } from '../../base/visible-text.ts';
import { answeringLanguages } from '../../languages/languages.ts';
import { type Block, renderMail } from '../../mail/template.ts';

const { texts } = answeringLanguages;
type Texts = ReturnType<typeof texts.in>;

/** What an invitation or a reminder contains. */
export type Invitation = {
  kind: 'invitation' | 'reminder';
  /** The person's language. English is used if there are no texts in this language. */
  language: string;
  company: string;
  firstName: string;
  /** How many questions the person is asked in the week. */
  questions: number;
  /** The number of answers a group needs for results to be shown. With 1, answers are not anonymous and the email says so (P4). */
  threshold: number;
  /** Whether results of the open week are shown. */
  isLive: boolean;
};

/**
 * Returns the email, which is smaller than 20 KB. `address`: the person's answering page; `optOutUrl`: the page on which
 * survey emails are turned off (opt-outs.ts).
 */
export function invitationOf(
  { firstName, ...shared }: Invitation,
  address: string,
  optOutUrl: string,
): { subject: string; text: string; html: string; headers: Record<string, string> } {
  const { subject, text, html } = sharedParts(shared);
  const own = { title: greeting(texts.in(shared.language), firstName), address, optOutUrl };
  return {
    subject,
    text: filled(text, (name) => own[name]),
    html: filled(html, (name) => escaped(own[name])),
    // RFC 2369 §3.2 and RFC 8058 §3.1: one click turns off all survey emails.
    headers: {
      'List-Unsubscribe': `<${optOutUrl}?none>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  };
}

/** What differs between the people who get the same email. */
type OwnPart = 'title' | 'address' | 'optOutUrl';
/** A text that is cut at its holes: every second section is the name of an own part. */
type Sections = string[];
type SharedParts = { subject: string; text: Sections; html: Sections };

/** Marks where an own part belongs. No other text contains this character: names are inert, and PostgreSQL doesn't store it. */
const hole = (name: OwnPart) => `\0${name}\0`;
const inSections = (text: string): Sections => text.split('\0');
const filled = (sections: Sections, valueOf: (name: OwnPart) => string): string =>
  sections.map((section, i) => (i % 2 === 0 ? section : valueOf(section as OwnPart))).join('');

/** The rendered emails of the last rounds. */
const rendered = new Map<string, SharedParts>();
const mostRendered = 200;

function sharedParts(email: Omit<Invitation, 'firstName'>): SharedParts {
  const { kind, language, company, questions, threshold, isLive } = email;
  const key = JSON.stringify([kind, language, company, questions, threshold, isLive]);
  let parts = rendered.get(key);
  if (!parts) {
    parts = render(email);
    if (rendered.size >= mostRendered) rendered.clear();
    rendered.set(key, parts);
  }
  return parts;
}

function render({
  kind,
  language,
  questions,
  threshold,
  isLive,
  ...names
}: Omit<Invitation, 'firstName'>): SharedParts {
  const t = texts.in(language);
  const company = inert(names.company, 80);
  const isReminder = kind === 'reminder';
  const about = { company, questions, minutes: minutesFor(questions) };
  // With a threshold of 1, response rates can reveal who has answered, so the sentence about managers is left out.
  const reminder: Block =
    threshold === 1
      ? { kind: 'text', text: t('mail.reminder.text') }
      : { kind: 'note', lead: t('mail.reminder.lead'), text: t('mail.reminder.text') };
  const { text, html } = renderMail({
    language: texts.languageFor(language),
    about: company,
    tone: 'plain',
    title: hole('title'),
    blocks: [
      { kind: 'text', text: t(isReminder ? 'mail.stillAsks' : 'mail.asks', about) },
      { kind: 'button', text: t('mail.button'), address: hole('address'), hint: t('mail.address') },
      promise(t, threshold, isLive),
      ...(isReminder ? [reminder] : []),
    ],
    footer: [
      t('mail.personal'),
      t('mail.why', { company }),
      { text: t('mail.optOut'), address: hole('optOutUrl') },
    ],
  });
  return {
    subject: t(isReminder ? 'mail.reminderSubject' : 'mail.subject', about),
    text: inSections(text),
    html: inSections(html),
  };
}

/** Returns the time needed in minutes, rounded up: a quarter of a minute per question. */
export const minutesFor = (questions: number) => Math.ceil(questions / 4);

function greeting(t: Texts, name: string): string {
  const firstName = inert(name, 60);
  return firstName === '' ? t('mail.greeting') : t('mail.greetingNamed', { firstName });
}

/** Returns who sees which results, and when: the privacy promise. */
function promise(t: Texts, threshold: number, isLive: boolean): Block {
  const isOpen = threshold <= 1;
  const text = isOpen ? t('mail.open.text') : t('mail.anonymous.text', { threshold });
  const live = isOpen ? t('mail.live') : t('mail.liveBatches', { threshold });
  return {
    kind: 'note',
    lead: t(isOpen ? 'mail.open.lead' : 'mail.anonymous.lead'),
    text: isLive ? `${text} ${live}` : text,
  };
}

/** Returns the email to a person's previous address, saying that the link sent there no longer works. It contains neither a link nor the new address. */
export function replacedNotice({
  language,
  ...names
}: Pick<Invitation, 'language' | 'company' | 'firstName'>): {
  subject: string;
  text: string;
  html: string;
} {
  const t = texts.in(language);
  const company = inert(names.company, 80);
  const content = renderMail({
    language: texts.languageFor(language),
    about: company,
    tone: 'plain',
    title: greeting(t, names.firstName),
    blocks: [
      { kind: 'text', text: t('mail.replaced.text', { company }) },
      { kind: 'note', lead: t('mail.replaced.lead'), text: t('mail.replaced.check') },
    ],
    footer: [t('mail.why', { company })],
  });
  return { subject: t('mail.replaced.subject'), ...content };
}
