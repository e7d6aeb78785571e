// Renders the mail that contains a link for setting a password. Pure.
import { inert } from '../base/visible-text.ts';
import { renderMail } from '../mail/template.ts';

const texts = {
  en: {
    subject: (company: string) => `Set your password for Soundings at ${company}`,
    greeting: (name: string) => (name === '' ? 'Hello' : `Hello ${name}`),
    forgotten: (company: string) =>
      `We received a request to reset your password for Soundings, the employee survey service at ${company}.`,
    given: (company: string) =>
      `${company} uses Soundings for its employee surveys, and you have been given access. Set a password to get started.`,
    button: 'Set password',
    hint: 'If the button doesn’t work, open this address:',
    validity: {
      lead: 'The link works once.',
      text: (hours: number) => `It expires in ${hoursInEnglish(hours)}.`,
    },
    notYou: 'If you didn’t request this, you can ignore this email. Your password won’t change.',
    why: (company: string) => `You received this email because you have access to Soundings at ${company}.`,
  },
  sv: {
    subject: (company: string) => `Välj ditt lösenord till Soundings hos ${company}`,
    greeting: (name: string) => (name === '' ? 'Hej' : `Hej ${name}`),
    forgotten: (company: string) =>
      `Vi har fått en begäran om ett nytt lösenord till Soundings, medarbetarenkäterna hos ${company}.`,
    given: (company: string) =>
      `${company} använder Soundings för sina medarbetarenkäter och du har fått tillgång. Välj ett lösenord för att komma i gång.`,
    button: 'Välj lösenord',
    hint: 'Om knappen inte fungerar kan du öppna den här adressen:',
    validity: {
      lead: 'Länken fungerar en gång.',
      text: (hours: number) => `Den gäller i ${hoursInSwedish(hours)}.`,
    },
    notYou: 'Om det inte var du kan du bortse från det här mejlet. Ditt lösenord ändras inte.',
    why: (company: string) => `Du får det här mejlet eftersom du har tillgång till Soundings hos ${company}.`,
  },
};

const hoursInEnglish = (hours: number) =>
  hours === 1 ? 'one hour' : hours % 24 === 0 && hours > 24 ? `${hours / 24} days` : `${hours} hours`;
const hoursInSwedish = (hours: number) =>
  hours === 1 ? 'en timme' : hours % 24 === 0 && hours > 24 ? `${hours / 24} dagar` : `${hours} timmar`;

/** Returns the mail in Swedish if `language` is sv, otherwise in English. */
export function signInMail(
  {
    kind,
    hours,
    language,
    company: companyName,
    firstName,
  }: {
    kind: 'forgotten' | 'given';
    hours: number;
    language: string;
    company: string;
    firstName: string;
  },
  address: string,
): { subject: string; text: string; html: string } {
  const mailLanguage = language === 'sv' ? 'sv' : 'en';
  const mailTexts = texts[mailLanguage];
  const company = inert(companyName, 80);
  const mail = renderMail({
    language: mailLanguage,
    about: company,
    tone: 'plain',
    title: mailTexts.greeting(inert(firstName, 60)),
    blocks: [
      { kind: 'text', text: mailTexts[kind](company) },
      { kind: 'button', text: mailTexts.button, address, hint: mailTexts.hint },
      { kind: 'note', lead: mailTexts.validity.lead, text: mailTexts.validity.text(hours) },
      ...(kind === 'forgotten' ? [{ kind: 'text' as const, text: mailTexts.notYou }] : []),
    ],
    footer: [mailTexts.why(company)],
  });
  return { subject: mailTexts.subject(company), ...mail };
}
