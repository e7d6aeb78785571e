// Builds the text messages of invitations and reminders, and the notice to a previous number that its link was replaced. Pure. They fit into
// one segment if the link and the characters allow it, and names written by others never become clickable.
import { inertInSms } from '../../base/visible-text.ts';
import { answeringLanguages } from '../../languages/languages.ts';
import { type Invitation, minutesFor } from './invitation.ts';

const { texts } = answeringLanguages;

/** How many characters of a company's name a text message contains. */
const nameLength = 30;

/**
 * Returns the text message. `link`: the address of the person's answering page. It is not part of the text of a language, because
 * some languages need invisible characters around it, which a phone could take for a part of the link.
 */
export function invitationSms(
  { kind, language, company, questions }: Pick<Invitation, 'kind' | 'language' | 'company' | 'questions'>,
  link: string,
): string {
  const about = { company: inertInSms(company, nameLength), minutes: minutesFor(questions) };
  const text = texts.in(language)(kind === 'reminder' ? 'sms.reminder' : 'sms.invitation', about);
  return `${text} ${link}`;
}

/** Returns the notice to a person's previous number. It contains neither a link nor the new address. */
export const replacedSms = ({ language, company }: Pick<Invitation, 'language' | 'company'>): string =>
  texts.in(language)('sms.replaced', { company: inertInSms(company, nameLength) });
