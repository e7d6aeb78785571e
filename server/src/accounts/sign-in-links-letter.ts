// The mail with a link to set a password. Pure.
import { inert } from '../base/inert.ts';
import { lettered } from '../mail/letter.ts';

const words = {
  en: {
    subject: (company: string) => `Set your password for Soundings at ${company}`,
    greeting: (name: string) => (name === '' ? 'Hello' : `Hello ${name}`),
    forgotten: (company: string) =>
      `Somebody, we hope you, has asked for a new password for Soundings, where ${company} follows how its people are doing.`,
    given: (company: string) =>
      `${company} follows how its people are doing with Soundings, and lets you sign in. Set a password to begin.`,
    button: 'Set a password',
    hint: 'If the button does not work, open this address:',
    good: {
      lead: 'The link works once.',
      text: (hours: number) => `It expires after ${hoursInEnglish(hours)}.`,
    },
    notYou: 'If it was not you, there is nothing to do: your password stays as it is.',
    why: (company: string) => `You get this mail because you are with ${company}.`,
  },
  sv: {
    subject: (company: string) => `Välj ditt lösenord till Soundings hos ${company}`,
    greeting: (name: string) => (name === '' ? 'Hej' : `Hej ${name}`),
    forgotten: (company: string) =>
      `Någon, förhoppningsvis du, har bett om ett nytt lösenord till Soundings, där ${company} följer hur medarbetarna mår.`,
    given: (company: string) =>
      `${company} följer hur medarbetarna mår med Soundings, och du får nu logga in. Välj ett lösenord för att börja.`,
    button: 'Välj ett lösenord',
    hint: 'Om knappen inte fungerar kan du öppna den här adressen:',
    good: {
      lead: 'Länken fungerar en gång.',
      text: (hours: number) => `Den gäller i ${hoursInSwedish(hours)}.`,
    },
    notYou: 'Var det inte du behöver du inte göra något: ditt lösenord är oförändrat.',
    why: (company: string) => `Du får det här mejlet för att du finns hos ${company}.`,
  },
};

const hoursInEnglish = (hours: number) =>
  hours === 1 ? 'one hour' : hours % 24 === 0 && hours > 24 ? `${hours / 24} days` : `${hours} hours`;
const hoursInSwedish = (hours: number) =>
  hours === 1 ? 'en timme' : hours % 24 === 0 && hours > 24 ? `${hours / 24} dagar` : `${hours} timmar`;

/** `language`: any; whoever reads neither English nor Swedish gets English. */
export function signInLetter(
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
  const spoken = language === 'sv' ? 'sv' : 'en';
  const said = words[spoken];
  const company = inert(companyName, 80);
  const letter = lettered({
    language: spoken,
    about: company,
    tone: 'plain',
    title: said.greeting(inert(firstName, 60)),
    blocks: [
      { kind: 'text', text: said[kind](company) },
      { kind: 'button', text: said.button, address, hint: said.hint },
      { kind: 'note', lead: said.good.lead, text: said.good.text(hours) },
      ...(kind === 'forgotten' ? [{ kind: 'text' as const, text: said.notYou }] : []),
    ],
    footer: [said.why(company)],
  });
  return { subject: said.subject(company), ...letter };
}
