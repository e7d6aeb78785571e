// Renders the mails about changes to a person's sign-in, and about new administrators and API tokens. Pure.
import { inert } from '../base/visible-text.ts';
import { renderMail } from '../mail/template.ts';
import type { AccountNotice, NoticedChange } from './account-notices.ts';

type Texts = {
  subjects: { person: (company: string) => string; administrators: (company: string) => string };
  greeting: (name: string) => string;
  changes: Record<NoticedChange, string | ((about: string) => string)>;
  expected: string;
  unexpected: { lead: string; text: string };
  why: (company: string) => string;
};

const texts: Record<'en' | 'sv' | 'de', Texts> = {
  en: {
    subjects: {
      person: (company) => `Your sign-in to Soundings at ${company} was changed`,
      administrators: (company) => `New access to Soundings at ${company}`,
    },
    greeting: (name) => (name === '' ? 'Hello' : `Hello ${name}`),
    changes: {
      'password set': 'Your password was set. You are signed out everywhere else.',
      'link shown':
        'An administrator has created a link for setting your password. The link was shown to the administrator.',
      'link to previous address':
        'A link for setting your password was sent to your previous email address because your address was changed within the last 7 days.',
      'two-factor turned on': 'Two-factor authentication was turned on for your account.',
      'two-factor turned off':
        'Two-factor authentication was turned off for your account. You now sign in with your password only.',
      'recovery codes created':
        'New recovery codes were created for your account. The previous codes no longer work.',
      'address changed':
        'Your email address in Soundings was changed. You can no longer sign in with this address.',
      'role changed': 'An administrator has changed your role in Soundings.',
      'shut out':
        'An administrator has deactivated or removed your user in Soundings. You can no longer sign in.',
      'administrator added': (about) => `${about} is now an administrator of Soundings.`,
      'token created': (about) => `The API token “${about}” was created.`,
    },
    expected: 'If you did this or expected it, you don’t have to do anything.',
    unexpected: {
      lead: 'Didn’t expect this?',
      text: 'Contact an administrator you trust right away. The audit log in the console shows who did it and when.',
    },
    why: (company) => `You received this email because you can sign in to Soundings at ${company}.`,
  },
  sv: {
    subjects: {
      person: (company) => `Din inloggning till Soundings hos ${company} har ändrats`,
      administrators: (company) => `Ny behörighet till Soundings hos ${company}`,
    },
    greeting: (name) => (name === '' ? 'Hej' : `Hej ${name}`),
    changes: {
      'password set': 'Ditt lösenord har ändrats. Du har loggats ut på alla andra enheter.',
      'link shown':
        'En administratör har skapat en länk för att välja ett nytt lösenord åt dig. Länken visades för administratören.',
      'link to previous address':
        'En länk för att välja lösenord har skickats till din tidigare e-postadress, eftersom din adress har ändrats under de senaste 7 dagarna.',
      'two-factor turned on': 'Tvåfaktorsautentisering har aktiverats för ditt konto.',
      'two-factor turned off':
        'Tvåfaktorsautentisering har inaktiverats för ditt konto. Nu loggar du in med enbart lösenord.',
      'recovery codes created':
        'Nya återställningskoder har skapats för ditt konto. De tidigare koderna fungerar inte längre.',
      'address changed':
        'Din e-postadress i Soundings har ändrats. Du kan inte längre logga in med den här adressen.',
      'role changed': 'En administratör har ändrat din roll i Soundings.',
      'shut out':
        'En administratör har inaktiverat eller tagit bort ditt konto i Soundings. Du kan inte längre logga in.',
      'administrator added': (about) => `${about} är nu administratör i Soundings.`,
      'token created': (about) => `API-nyckeln ”${about}” har skapats.`,
    },
    expected: 'Om du gjorde det själv eller kände till det behöver du inte göra något.',
    unexpected: {
      lead: 'Känner du inte igen det här?',
      text: 'Kontakta genast en administratör som du litar på. Granskningsloggen i konsolen visar vem som gjorde ändringen och när.',
    },
    why: (company) => `Du får det här mejlet eftersom du kan logga in i Soundings hos ${company}.`,
  },
  de: {
    subjects: {
      person: (company) => `Ihre Anmeldung bei Soundings (${company}) wurde geändert`,
      administrators: (company) => `Neuer Zugang zu Soundings (${company})`,
    },
    greeting: (name) => (name === '' ? 'Guten Tag' : `Guten Tag ${name}`),
    changes: {
      'password set': 'Ihr Passwort wurde geändert. Auf allen anderen Geräten wurden Sie abgemeldet.',
      'link shown':
        'Ein Administrator hat einen Link erstellt, über den sich Ihr Passwort festlegen lässt. Der Link wurde dem Administrator angezeigt.',
      'link to previous address':
        'Ein Link zum Festlegen Ihres Passworts wurde an Ihre bisherige E-Mail-Adresse gesendet, weil Ihre Adresse in den letzten 7 Tagen geändert wurde.',
      'two-factor turned on': 'Die Zwei-Faktor-Authentifizierung wurde für Ihr Konto aktiviert.',
      'two-factor turned off':
        'Die Zwei-Faktor-Authentifizierung wurde für Ihr Konto deaktiviert. Zur Anmeldung genügt jetzt Ihr Passwort.',
      'recovery codes created':
        'Für Ihr Konto wurden neue Wiederherstellungscodes erstellt. Die bisherigen Codes sind nicht mehr gültig.',
      'address changed':
        'Ihre E-Mail-Adresse in Soundings wurde geändert. Mit dieser Adresse können Sie sich nicht mehr anmelden.',
      'role changed': 'Ein Administrator hat Ihre Rolle in Soundings geändert.',
      'shut out':
        'Ein Administrator hat Ihr Konto in Soundings deaktiviert oder entfernt. Sie können sich nicht mehr anmelden.',
      'administrator added': (about) => `${about} ist jetzt Administrator von Soundings.`,
      'token created': (about) => `Das API-Token „${about}“ wurde erstellt.`,
    },
    expected: 'Wenn Sie das selbst waren oder davon wussten, müssen Sie nichts tun.',
    unexpected: {
      lead: 'Kommt Ihnen das unbekannt vor?',
      text: 'Wenden Sie sich umgehend an einen Administrator, dem Sie vertrauen. Das Audit-Protokoll in der Konsole zeigt, wer die Änderung wann vorgenommen hat.',
    },
    why: (company) => `Sie erhalten diese E-Mail, weil Sie sich bei Soundings (${company}) anmelden können.`,
  },
};

/** Returns the mail in the recipient's language if that is English, Swedish or German, otherwise in English. `to`: as in noticedChanges. */
export function accountNoticeMail(
  {
    language,
    company: companyName,
    firstName,
    change,
    about,
  }: Pick<AccountNotice, 'language' | 'company' | 'firstName' | 'change' | 'about'>,
  to: 'person' | 'administrators',
): { subject: string; text: string; html: string } {
  const mailLanguage = language === 'sv' || language === 'de' ? language : 'en';
  const mailTexts = texts[mailLanguage];
  const company = inert(companyName, 80);
  const text = mailTexts.changes[change];
  const mail = renderMail({
    language: mailLanguage,
    about: company,
    tone: 'warn',
    title: mailTexts.greeting(inert(firstName, 60)),
    blocks: [
      { kind: 'text', text: typeof text === 'string' ? text : text(inert(about ?? '', 200)) },
      { kind: 'text', text: mailTexts.expected },
      { kind: 'note', ...mailTexts.unexpected },
    ],
    footer: [mailTexts.why(company)],
  });
  return { subject: mailTexts.subjects[to](company), ...mail };
}
