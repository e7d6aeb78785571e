// The mails about how someone signs in, and about new administrators and tokens. Pure.
import { inert } from '../base/inert.ts';
import { lettered } from '../mail/letter.ts';
import type { AccountNotice, NoticedChange } from './account-notices.ts';

type Words = {
  subjects: { person: (company: string) => string; administrators: (company: string) => string };
  greeting: (name: string) => string;
  changes: Record<NoticedChange, string | ((about: string) => string)>;
  expected: string;
  unexpected: { lead: string; text: string };
  why: (company: string) => string;
};

const words: Record<'en' | 'sv' | 'de', Words> = {
  en: {
    subjects: {
      person: (company) => `Your sign-in to Soundings at ${company} was changed`,
      administrators: (company) => `New access to Soundings at ${company}`,
    },
    greeting: (name) => (name === '' ? 'Hello' : `Hello ${name}`),
    changes: {
      'password set': 'Your password was set. You are signed out everywhere else.',
      'link shown':
        'An administrator has created a link by which your password can be set. The link was shown to the administrator.',
      'link to previous address':
        'A link to set your password was sent to your previous email address, because your address was changed within the last 7 days.',
      'second step turned on': 'Two-factor authentication was turned on for you.',
      'second step turned off':
        'Two-factor authentication was turned off for you. You now sign in with your password alone.',
      'recovery codes made': 'New recovery codes were created for you. The earlier ones no longer work.',
      'address changed':
        'Your email address in Soundings was changed. You can no longer sign in with this one.',
      'role changed': 'An administrator has changed your role in Soundings.',
      'shut out': 'An administrator has deactivated or removed you in Soundings. You can no longer sign in.',
      'administrator added': (about) => `${about} is now an administrator of Soundings.`,
      'token created': (about) => `The API token “${about}” was created.`,
    },
    expected: 'If you did this or expected it, you don’t have to do anything.',
    unexpected: {
      lead: 'You didn’t expect this?',
      text: 'Talk to an administrator you trust at once. The audit log in the console shows who did it and when.',
    },
    why: (company) => `You get this email because you can sign in to Soundings at ${company}.`,
  },
  sv: {
    subjects: {
      person: (company) => `Din inloggning till Soundings hos ${company} har ändrats`,
      administrators: (company) => `Ny behörighet till Soundings hos ${company}`,
    },
    greeting: (name) => (name === '' ? 'Hej' : `Hej ${name}`),
    changes: {
      'password set': 'Ett nytt lösenord har valts för dig. Du är utloggad överallt annars.',
      'link shown':
        'En administratör har skapat en länk för att välja ditt lösenord. Länken visades för administratören.',
      'link to previous address':
        'En länk för att välja ditt lösenord har skickats till din tidigare e-postadress, eftersom din adress ändrades under de senaste 7 dagarna.',
      'second step turned on': 'Tvåfaktorsautentisering har slagits på för dig.',
      'second step turned off':
        'Tvåfaktorsautentisering har stängts av för dig. Du loggar nu in med enbart ditt lösenord.',
      'recovery codes made': 'Nya återställningskoder har skapats för dig. De tidigare fungerar inte längre.',
      'address changed':
        'Din e-postadress i Soundings har ändrats. Du kan inte längre logga in med den här adressen.',
      'role changed': 'En administratör har ändrat din roll i Soundings.',
      'shut out':
        'En administratör har inaktiverat dig eller tagit bort dig i Soundings. Du kan inte längre logga in.',
      'administrator added': (about) => `${about} är nu administratör i Soundings.`,
      'token created': (about) => `API-nyckeln ”${about}” har skapats.`,
    },
    expected: 'Om du har gjort det själv eller väntade dig det behöver du inte göra något.',
    unexpected: {
      lead: 'Väntade du dig inte det här?',
      text: 'Kontakta direkt en administratör som du litar på. Granskningsloggen i konsolen visar vem som gjorde det och när.',
    },
    why: (company) => `Du får det här mejlet för att du kan logga in i Soundings hos ${company}.`,
  },
  de: {
    subjects: {
      person: (company) => `Ihre Anmeldung bei Soundings (${company}) wurde geändert`,
      administrators: (company) => `Neuer Zugang zu Soundings (${company})`,
    },
    greeting: (name) => (name === '' ? 'Guten Tag' : `Guten Tag ${name}`),
    changes: {
      'password set': 'Ihr Passwort wurde neu festgelegt. Überall sonst sind Sie abgemeldet.',
      'link shown':
        'Ein Administrator hat einen Link erstellt, mit dem Ihr Passwort festgelegt werden kann. Der Link wurde dem Administrator angezeigt.',
      'link to previous address':
        'Ein Link zum Festlegen Ihres Passworts wurde an Ihre bisherige E-Mail-Adresse gesendet, weil Ihre Adresse in den letzten 7 Tagen geändert wurde.',
      'second step turned on': 'Die Zwei-Faktor-Authentifizierung wurde für Sie aktiviert.',
      'second step turned off':
        'Die Zwei-Faktor-Authentifizierung wurde für Sie deaktiviert. Zur Anmeldung genügt jetzt Ihr Passwort.',
      'recovery codes made':
        'Für Sie wurden neue Wiederherstellungscodes erstellt. Die bisherigen gelten nicht mehr.',
      'address changed':
        'Ihre E-Mail-Adresse in Soundings wurde geändert. Mit dieser Adresse können Sie sich nicht mehr anmelden.',
      'role changed': 'Ein Administrator hat Ihre Rolle in Soundings geändert.',
      'shut out':
        'Ein Administrator hat Sie in Soundings deaktiviert oder entfernt. Sie können sich nicht mehr anmelden.',
      'administrator added': (about) => `${about} ist jetzt Administrator von Soundings.`,
      'token created': (about) => `Das API-Token „${about}“ wurde erstellt.`,
    },
    expected: 'Wenn Sie das selbst waren oder es erwartet haben, müssen Sie nichts tun.',
    unexpected: {
      lead: 'Sie haben das nicht erwartet?',
      text: 'Wenden Sie sich sofort an einen Administrator, dem Sie vertrauen. Das Audit-Protokoll in der Konsole zeigt, wer es wann getan hat.',
    },
    why: (company) => `Sie erhalten diese E-Mail, weil Sie sich bei Soundings (${company}) anmelden können.`,
  },
};

/** In the reader's language where it is English, Swedish or German, otherwise in English. `to`: as in noticedChanges. */
export function accountNoticeLetter(
  {
    language,
    company: companyName,
    firstName,
    change,
    about,
  }: Pick<AccountNotice, 'language' | 'company' | 'firstName' | 'change' | 'about'>,
  to: 'person' | 'administrators',
): { subject: string; text: string; html: string } {
  const spoken = language === 'sv' || language === 'de' ? language : 'en';
  const said = words[spoken];
  const company = inert(companyName, 80);
  const text = said.changes[change];
  const letter = lettered({
    language: spoken,
    about: company,
    tone: 'warn',
    title: said.greeting(inert(firstName, 60)),
    blocks: [
      { kind: 'text', text: typeof text === 'string' ? text : text(inert(about ?? '', 200)) },
      { kind: 'text', text: said.expected },
      { kind: 'note', ...said.unexpected },
    ],
    footer: [said.why(company)],
  });
  return { subject: said.subjects[to](company), ...letter };
}
