// What the mails say by which people are asked and reminded, in English, Swedish and German. Pure. What others wrote comes in
// as it shall be read.
import type { Words } from '../questions/library-words.ts';

export type InvitationWords = {
  subject: (company: string, questions: number) => string;
  reminderSubject: (company: string, questions: number) => string;
  /** The first name is '' where there is none. */
  greeting: (firstName: string) => string;
  asks: (company: string, questions: number) => string;
  stillAsks: (company: string, questions: number) => string;
  button: string;
  /** Leads to the address in words. */
  address: string;
  personal: string;
  /** What is kept, in two sentences. `least`: from so many answers on results are shown. */
  anonymous: { lead: string; text: (least: number) => string };
  /** The same where results are shown from the first answer on. */
  open: { lead: string; text: string };
  /** What is said of a reminder. The first sentence only where results are not shown from the first answer on. */
  reminder: { lead: string; text: string };
  why: (company: string) => string;
  stop: string;
};

/** In minutes, rounded up: a quarter of one for each question. */
const minutesFor = (questions: number) => Math.ceil(questions / 4);

const english: InvitationWords = {
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
  address: 'If the button does not work, open this address:',
  personal: 'The link is yours alone: please do not forward this email.',
  anonymous: {
    lead: 'Nobody is shown who answered what.',
    text: (least) =>
      `Results are shown only for groups with at least ${least} answers, and the page says how long you can change yours.`,
  },
  open: {
    lead: 'Your answers are not anonymous: results are shown from the first answer on.',
    text: 'The page says who sees what, and how long you can change your answers.',
  },
  reminder: {
    lead: 'Managers are not told who has answered.',
    text: 'This is the only reminder this week, and you can stop reminders below.',
  },
  why: (company) => `You are getting this email because ${company} runs its surveys with Soundings.`,
  stop: 'Stop reminders',
};

function inEnglish(questions: number): string {
  const minutes = minutesFor(questions);
  return minutes === 1 ? 'about a minute' : `about ${minutes} minutes`;
}

const swedish: InvitationWords = {
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
  personal: 'Länken är personlig: vidarebefordra inte det här mejlet.',
  anonymous: {
    lead: 'Ingen får se vem som har svarat vad.',
    text: (least) =>
      `Resultat visas bara för grupper, från och med ${least} svar, och på sidan står hur länge du kan ändra dina svar.`,
  },
  open: {
    lead: 'Dina svar är inte anonyma: resultat visas redan från första svaret.',
    text: 'På sidan står vem som ser vad och hur länge du kan ändra dina svar.',
  },
  reminder: {
    lead: 'Chefer får inte veta vem som har svarat.',
    text: 'Det här är den enda påminnelsen den här veckan, och du kan stoppa påminnelser nedan.',
  },
  why: (company) =>
    `Du får det här mejlet eftersom ${company} gör sina medarbetarundersökningar med Soundings.`,
  stop: 'Stoppa påminnelser',
};

function inSwedish(questions: number): string {
  const minutes = minutesFor(questions);
  return minutes === 1 ? 'ungefär en minut' : `ungefär ${minutes} minuter`;
}

const german: InvitationWords = {
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
  personal: 'Der Link ist nur für dich: Bitte leite diese E-Mail nicht weiter.',
  anonymous: {
    lead: 'Niemand erfährt, wer was geantwortet hat.',
    text: (least) =>
      `Ergebnisse werden nur für Gruppen ab ${least} Antworten gezeigt, und auf der Seite steht, bis wann du deine Antworten ändern kannst.`,
  },
  open: {
    lead: 'Deine Antworten sind nicht anonym: Ergebnisse werden schon ab der ersten Antwort gezeigt.',
    text: 'Auf der Seite steht, wer was sieht und bis wann du deine Antworten ändern kannst.',
  },
  reminder: {
    lead: 'Führungskräfte erfahren nicht, wer geantwortet hat.',
    text: 'Das ist die einzige Erinnerung in dieser Woche, und unten kannst du Erinnerungen abstellen.',
  },
  why: (company) => `Du bekommst diese E-Mail, weil ${company} dich mit Soundings befragt.`,
  stop: 'Erinnerungen abstellen',
};

function inGerman(questions: number): string {
  const minutes = minutesFor(questions);
  return minutes === 1 ? 'etwa eine Minute' : `etwa ${minutes} Minuten`;
}

export const invitationWords: Record<keyof Words, InvitationWords> = {
  en: english,
  sv: swedish,
  de: german,
};
