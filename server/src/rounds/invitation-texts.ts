// Texts of the invitation and reminder mails in English, Swedish and German. Pure. Names are made safe by the caller
// (invitation.ts) before they are put into these texts.
import type { Words } from '../questions/library-texts.ts';

export type InvitationTexts = {
  subject: (company: string, questions: number) => string;
  reminderSubject: (company: string, questions: number) => string;
  /** `firstName` is '' if the person has none. */
  greeting: (firstName: string) => string;
  asks: (company: string, questions: number) => string;
  stillAsks: (company: string, questions: number) => string;
  button: string;
  /** Introduces the address below the button. */
  address: string;
  personal: string;
  /** The privacy promise in two sentences. `threshold`: the number of answers a group needs for results to be shown. */
  anonymous: { lead: string; text: (threshold: number) => string };
  /** The same if results are shown from the first answer on. */
  open: { lead: string; text: string };
  /** Added to either if results of the open week are shown. They change in batches of at least `threshold` new answers. */
  live: (threshold: number) => string;
  /** Added to reminders. `lead` is left out if results are shown from the first answer on. */
  reminder: { lead: string; text: string };
  why: (company: string) => string;
  stop: string;
  /** The mail to a person's previous address, saying that the link sent there has been replaced. */
  replaced: { subject: string; text: (company: string) => string; lead: string; check: string };
};

/** Returns the time needed in minutes, rounded up: a quarter of a minute per question. */
const minutesFor = (questions: number) => Math.ceil(questions / 4);

const english: InvitationTexts = {
  subject: (company, questions) =>
    questions === 1
      ? `One question from ${company}, less than a minute`
      : `${questions} questions from ${company}, ${inEnglish(questions)}`,
  reminderSubject: (company, questions) =>
    questions === 1
      ? `Reminder: one question from ${company}, less than a minute`
      : `Reminder: ${questions} questions from ${company}, ${inEnglish(questions)}`,
  greeting: (firstName) => (firstName === '' ? 'Hi' : `Hi ${firstName}`),
  asks: (company, questions) =>
    questions === 1
      ? `${company} has one question for you. It takes less than a minute.`
      : `${company} has ${questions} questions for you. It takes ${inEnglish(questions)}.`,
  stillAsks: (company, questions) =>
    questions === 1
      ? `One question from ${company} is still waiting for your answer. It takes less than a minute.`
      : `${questions} questions from ${company} are still waiting for your answers. It takes ${inEnglish(questions)}.`,
  button: 'Answer now',
  address: 'If the button doesn’t work, open this address:',
  personal: 'This link is for you only. Please don’t forward this email.',
  anonymous: {
    lead: 'No one is shown who answered what.',
    text: (threshold) =>
      `Results are shown only for groups with at least ${threshold} answers, and the page says how long you can change yours.`,
  },
  open: {
    lead: 'Your answers are not anonymous: results are shown from the first answer on.',
    text: 'The page says who sees what and how long you can change your answers.',
  },
  live: (threshold) =>
    threshold <= 1
      ? 'Results are live: they are shown while the week is still open, and answers that have been counted can’t be changed.'
      : `Results are live: they are shown while the week is still open, in batches of at least ${threshold} new answers. Answers that have been counted can’t be changed.`,
  reminder: {
    lead: 'Managers are not told who has answered.',
    text: 'This is the only reminder this week, and you can stop reminders below.',
  },
  why: (company) => `You are getting this email because ${company} runs its surveys with Soundings.`,
  stop: 'Stop reminders',
  replaced: {
    subject: 'Your survey link has been replaced',
    text: (company) => `Your email address in the survey service of ${company} was changed.`,
    lead: 'The survey link in earlier emails to this address no longer works.',
    check:
      'A new link was sent to the new address. If you didn’t ask for this change, contact your HR department.',
  },
};

function inEnglish(questions: number): string {
  const minutes = minutesFor(questions);
  return minutes === 1 ? 'about a minute' : `about ${minutes} minutes`;
}

const swedish: InvitationTexts = {
  subject: (company, questions) =>
    questions === 1
      ? `En fråga från ${company}, mindre än en minut`
      : `${questions} frågor från ${company}, ${inSwedish(questions)}`,
  reminderSubject: (company, questions) =>
    questions === 1
      ? `Påminnelse: en fråga från ${company}, mindre än en minut`
      : `Påminnelse: ${questions} frågor från ${company}, ${inSwedish(questions)}`,
  greeting: (firstName) => (firstName === '' ? 'Hej' : `Hej ${firstName}`),
  asks: (company, questions) =>
    questions === 1
      ? `${company} har en fråga till dig. Det tar mindre än en minut.`
      : `${company} har ${questions} frågor till dig. Det tar ${inSwedish(questions)}.`,
  stillAsks: (company, questions) =>
    questions === 1
      ? `En fråga från ${company} väntar fortfarande på ditt svar. Det tar mindre än en minut.`
      : `${questions} frågor från ${company} väntar fortfarande på dina svar. Det tar ${inSwedish(questions)}.`,
  button: 'Svara nu',
  address: 'Om knappen inte fungerar kan du öppna den här adressen:',
  personal: 'Länken är personlig. Vidarebefordra inte det här mejlet.',
  anonymous: {
    lead: 'Ingen får se vem som har svarat vad.',
    text: (threshold) =>
      `Resultat visas bara för grupper med minst ${threshold} svar, och på sidan står hur länge du kan ändra dina svar.`,
  },
  open: {
    lead: 'Dina svar är inte anonyma: resultat visas redan från första svaret.',
    text: 'På sidan står vem som ser vad och hur länge du kan ändra dina svar.',
  },
  live: (threshold) =>
    threshold <= 1
      ? 'Resultaten visas direkt, medan veckan fortfarande pågår, och svar som har räknats går inte att ändra.'
      : `Resultaten visas direkt, medan veckan fortfarande pågår, i omgångar om minst ${threshold} nya svar. Svar som har räknats går inte att ändra.`,
  reminder: {
    lead: 'Chefer får inte veta vem som har svarat.',
    text: 'Det här är den enda påminnelsen den här veckan, och du kan stoppa påminnelser nedan.',
  },
  why: (company) =>
    `Du får det här mejlet eftersom ${company} gör sina medarbetarundersökningar med Soundings.`,
  stop: 'Stoppa påminnelser',
  replaced: {
    subject: 'Din enkätlänk har ersatts',
    text: (company) => `Din e-postadress i enkättjänsten hos ${company} har ändrats.`,
    lead: 'Länken i tidigare mejl till den här adressen fungerar inte längre.',
    check:
      'En ny länk har skickats till den nya adressen. Om du inte har bett om ändringen, kontakta din HR-avdelning.',
  },
};

function inSwedish(questions: number): string {
  const minutes = minutesFor(questions);
  return minutes === 1 ? 'ungefär en minut' : `ungefär ${minutes} minuter`;
}

const german: InvitationTexts = {
  subject: (company, questions) =>
    questions === 1
      ? `Eine Frage von ${company}, weniger als eine Minute`
      : `${questions} Fragen von ${company}, ${inGerman(questions)}`,
  reminderSubject: (company, questions) =>
    questions === 1
      ? `Erinnerung: eine Frage von ${company}, weniger als eine Minute`
      : `Erinnerung: ${questions} Fragen von ${company}, ${inGerman(questions)}`,
  greeting: (firstName) => (firstName === '' ? 'Hallo' : `Hallo ${firstName}`),
  asks: (company, questions) =>
    questions === 1
      ? `${company} hat eine Frage an dich. Das dauert weniger als eine Minute.`
      : `${company} hat ${questions} Fragen an dich. Das dauert ${inGerman(questions)}.`,
  stillAsks: (company, questions) =>
    questions === 1
      ? `Eine Frage von ${company} wartet noch auf deine Antwort. Das dauert weniger als eine Minute.`
      : `${questions} Fragen von ${company} warten noch auf deine Antworten. Das dauert ${inGerman(questions)}.`,
  button: 'Jetzt antworten',
  address: 'Falls der Button nicht funktioniert, öffne diese Adresse:',
  personal: 'Der Link ist nur für dich. Bitte leite diese E-Mail nicht weiter.',
  anonymous: {
    lead: 'Niemandem wird gezeigt, wer was geantwortet hat.',
    text: (threshold) =>
      `Ergebnisse werden nur für Gruppen ab ${threshold} Antworten gezeigt, und auf der Seite steht, bis wann du deine Antworten ändern kannst.`,
  },
  open: {
    lead: 'Deine Antworten sind nicht anonym: Ergebnisse werden schon ab der ersten Antwort gezeigt.',
    text: 'Auf der Seite steht, wer was sieht und bis wann du deine Antworten ändern kannst.',
  },
  live: (threshold) =>
    threshold <= 1
      ? 'Die Ergebnisse sind live: Sie werden schon gezeigt, während die Woche noch läuft, und Antworten, die zählen, lassen sich nicht mehr ändern.'
      : `Die Ergebnisse sind live: Sie werden schon gezeigt, während die Woche noch läuft, jeweils mit mindestens ${threshold} neuen Antworten. Antworten, die zählen, lassen sich nicht mehr ändern.`,
  reminder: {
    lead: 'Führungskräfte erfahren nicht, wer geantwortet hat.',
    text: 'Das ist die einzige Erinnerung in dieser Woche, und unten kannst du Erinnerungen abstellen.',
  },
  why: (company) => `Du bekommst diese E-Mail, weil ${company} dich mit Soundings befragt.`,
  stop: 'Erinnerungen abstellen',
  replaced: {
    subject: 'Dein Umfragelink wurde ersetzt',
    text: (company) => `Deine E-Mail-Adresse im Umfragedienst von ${company} wurde geändert.`,
    lead: 'Der Link in früheren E-Mails an diese Adresse funktioniert nicht mehr.',
    check:
      'Ein neuer Link ging an die neue Adresse. Falls du diese Änderung nicht veranlasst hast, wende dich an deine Personalabteilung.',
  },
};

function inGerman(questions: number): string {
  const minutes = minutesFor(questions);
  return minutes === 1 ? 'etwa eine Minute' : `etwa ${minutes} Minuten`;
}

export const invitationTexts: Record<keyof Words, InvitationTexts> = {
  en: english,
  sv: swedish,
  de: german,
};
