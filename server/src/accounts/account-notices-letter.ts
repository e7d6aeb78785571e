// The mail to a person about what an administrator has changed. Pure.
import { inert } from '../base/inert.ts';
import { lettered } from '../mail/letter.ts';
import type { NoticedChange } from './account-notices.sql.ts';

type Words = {
  subject: (company: string) => string;
  greeting: (name: string) => string;
  changes: Record<NoticedChange, string>;
  expected: string;
  unexpected: { lead: string; text: string };
  why: (company: string) => string;
};

const words: Record<'en' | 'sv', Words> = {
  en: {
    subject: (company) => `Your sign-in to Soundings at ${company} was changed`,
    greeting: (name) => (name === '' ? 'Hello' : `Hello ${name}`),
    changes: {
      'second step turned off':
        'An administrator has turned off two-factor authentication for you. You now sign in with your password alone.',
      'link shown':
        'An administrator has created a link by which your password can be set. The link was shown to the administrator.',
      'address changed':
        'Your email address in Soundings was changed. You can no longer sign in with this one.',
      'role changed': 'An administrator has changed your role in Soundings.',
    },
    expected: 'If you asked for this, you don’t have to do anything.',
    unexpected: {
      lead: 'You didn’t ask for this?',
      text: 'Talk to another administrator at once. The audit log in the console shows who did it and when.',
    },
    why: (company) => `You get this email because you can sign in to Soundings at ${company}.`,
  },
  sv: {
    subject: (company) => `Din inloggning till Soundings hos ${company} har ändrats`,
    greeting: (name) => (name === '' ? 'Hej' : `Hej ${name}`),
    changes: {
      'second step turned off':
        'En administratör har stängt av tvåfaktorsautentisering för dig. Du loggar nu in med enbart ditt lösenord.',
      'link shown':
        'En administratör har skapat en länk för att välja ditt lösenord. Länken visades för administratören.',
      'address changed':
        'Din e-postadress i Soundings har ändrats. Du kan inte längre logga in med den här adressen.',
      'role changed': 'En administratör har ändrat din roll i Soundings.',
    },
    expected: 'Om du har bett om det behöver du inte göra något.',
    unexpected: {
      lead: 'Har du inte bett om det?',
      text: 'Kontakta en annan administratör direkt. Granskningsloggen i konsolen visar vem som gjorde det och när.',
    },
    why: (company) => `Du får det här mejlet för att du kan logga in i Soundings hos ${company}.`,
  },
};

/** `language`: any; whoever reads neither English nor Swedish gets English. */
export function accountNoticeLetter(
  { language, company: companyName, firstName }: { language: string; company: string; firstName: string },
  change: NoticedChange,
): { subject: string; text: string; html: string } {
  const spoken = language === 'sv' ? 'sv' : 'en';
  const said = words[spoken];
  const company = inert(companyName, 80);
  const letter = lettered({
    language: spoken,
    about: company,
    tone: 'warn',
    title: said.greeting(inert(firstName, 60)),
    blocks: [
      { kind: 'text', text: said.changes[change] },
      { kind: 'text', text: said.expected },
      { kind: 'note', ...said.unexpected },
    ],
    footer: [said.why(company)],
  });
  return { subject: said.subject(company), ...letter };
}
