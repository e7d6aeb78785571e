// Suggestions for what a group can do about a KPI of the library, each with the publication that it is based on. The sentences were
// written for Soundings. Pure.
import type { FocusSuggestion } from '@soundings/contract/console/focus.ts';

type Source = FocusSuggestion['source'];
const source = (title: string, publisher: string): Source => ({ title, publisher });

const sources = {
  hse: source(
    'Tackling work-related stress using the Management Standards approach',
    'Health and Safety Executive (HSE)',
  ),
  osa: source(
    'AFS 2023:2, chapter 2: Organisational and social work environment',
    'Arbetsmiljöverket (Swedish Work Environment Authority)',
  ),
  who: source('WHO guidelines on mental health at work', 'World Health Organization, 2022'),
  breaks: source(
    '“Give me a break!” A systematic review and meta-analysis on the efficacy of micro-breaks',
    'Albulescu et al., PLOS ONE, 2022',
  ),
  detachment: source(
    'A meta-analysis on antecedents and outcomes of detachment from work',
    'Wendsche and Lohmann-Haislah, Frontiers in Psychology, 2017',
  ),
  goals: source(
    'Building a practically useful theory of goal setting and task motivation',
    'Locke and Latham, American Psychologist, 2002',
  ),
  design: source(
    'Integrating motivational, social, and contextual work design features',
    'Humphrey, Nahrgang and Morgeson, Journal of Applied Psychology, 2007',
  ),
  q12: source(
    'The relationship between engagement at work and organizational outcomes: Q12 meta-analysis',
    'Gallup',
  ),
  feedback: source(
    'The effects of feedback interventions on performance',
    'Kluger and DeNisi, Psychological Bulletin, 1996',
  ),
  transfer: source(
    'Transfer of training: a meta-analytic review',
    'Blume, Ford, Baldwin and Huang, Journal of Management, 2010',
  ),
  debriefs: source(
    'Do team and individual debriefs enhance performance? A meta-analysis',
    'Tannenbaum and Cerasoli, Human Factors, 2013',
  ),
  safety: source(
    'Psychological safety and learning behavior in work teams',
    'Edmondson, Administrative Science Quarterly, 1999',
  ),
  justice: source(
    'Justice at the millennium: a meta-analytic review of 25 years of organizational justice research',
    'Colquitt et al., Journal of Applied Psychology, 2001',
  ),
  significance: source('The significance of task significance', 'Grant, Journal of Applied Psychology, 2008'),
};

type Row = [kpiId: string, source: keyof typeof sources, text: { en: string; sv: string; de: string }];

const rows: readonly Row[] = [
  [
    'workload',
    'osa',
    {
      en: 'Go through the tasks together every month, and agree what to do first, what can wait, and what to drop.',
      sv: 'Gå igenom arbetsuppgifterna tillsammans varje månad och bestäm vad som går först, vad som kan vänta och vad som tas bort.',
      de: 'Die Aufgaben jeden Monat gemeinsam durchgehen und festlegen, was zuerst kommt, was warten kann und was wegfällt.',
    },
  ],
  [
    'workload',
    'breaks',
    {
      en: 'Plan short breaks during the day, and keep them free from meetings and messages.',
      sv: 'Planera in korta pauser under dagen och håll dem fria från möten och meddelanden.',
      de: 'Kurze Pausen über den Tag einplanen und sie von Besprechungen und Nachrichten freihalten.',
    },
  ],
  [
    'workload',
    'detachment',
    {
      en: 'Agree when no one has to answer messages, and which channel is for emergencies.',
      sv: 'Kom överens om när ingen behöver svara på meddelanden, och vilken kanal som gäller i nödfall.',
      de: 'Vereinbaren, wann niemand auf Nachrichten antworten muss und welcher Kanal für Notfälle gilt.',
    },
  ],
  [
    'clarity',
    'goals',
    {
      en: 'Set one clear goal per person for the next month, with a way to see whether it is reached.',
      sv: 'Sätt ett tydligt mål per medarbetare för nästa månad, och bestäm hur det märks att det är nått.',
      de: 'Pro Person ein klares Ziel für den nächsten Monat setzen und festlegen, woran man sieht, dass es erreicht ist.',
    },
  ],
  [
    'clarity',
    'hse',
    {
      en: 'Write down who decides and who does what in the tasks that most often cause questions.',
      sv: 'Skriv ner vem som bestämmer och vem som gör vad i de uppgifter som oftast väcker frågor.',
      de: 'Aufschreiben, wer bei den Aufgaben, die am häufigsten Fragen auslösen, entscheidet und wer was tut.',
    },
  ],
  [
    'autonomy',
    'design',
    {
      en: 'Let the team decide the order of its tasks, and how to do them, for a trial month.',
      sv: 'Låt teamet under en provmånad själva bestämma i vilken ordning och hur uppgifterna görs.',
      de: 'Das Team in einem Probemonat selbst entscheiden lassen, in welcher Reihenfolge und wie es seine Aufgaben erledigt.',
    },
  ],
  [
    'autonomy',
    'hse',
    {
      en: 'Ask before changes to working hours, schedules or methods, and explain what was decided and why.',
      sv: 'Fråga innan arbetstider, scheman eller arbetssätt ändras, och berätta vad som bestämdes och varför.',
      de: 'Vor Änderungen an Arbeitszeiten, Plänen oder Arbeitsweisen nachfragen und erklären, was entschieden wurde und warum.',
    },
  ],
  [
    'leadership',
    'q12',
    {
      en: 'Have a short one-to-one talk with everyone every second week, about their work and what they need.',
      sv: 'Ha ett kort enskilt samtal med alla varannan vecka, om arbetet och vad var och en behöver.',
      de: 'Alle zwei Wochen mit allen ein kurzes Einzelgespräch über ihre Arbeit und das, was sie brauchen, führen.',
    },
  ],
  [
    'leadership',
    'feedback',
    {
      en: 'Give feedback about the task and the next step, soon after the work and not about the person.',
      sv: 'Ge återkoppling om uppgiften och nästa steg, snart efteråt, och inte om personen.',
      de: 'Rückmeldung zeitnah und zur Aufgabe und zum nächsten Schritt geben, nicht zur Person.',
    },
  ],
  [
    'development',
    'transfer',
    {
      en: 'Before each course, agree where to use it in the first two weeks, and talk about it afterwards.',
      sv: 'Bestäm före varje kurs var kunskapen ska användas de första två veckorna, och följ upp efteråt.',
      de: 'Vor jeder Weiterbildung vereinbaren, wo das Gelernte in den ersten zwei Wochen eingesetzt wird, und danach darüber sprechen.',
    },
  ],
  [
    'development',
    'debriefs',
    {
      en: 'End each larger task with 15 minutes together: what went well, what didn’t, and what to change.',
      sv: 'Avsluta varje större uppgift med en kvart tillsammans: vad gick bra, vad gick sämre och vad ändras.',
      de: 'Jede umfangreiche Aufgabe mit 15 Minuten gemeinsam abschließen: Was lief gut, was nicht, was wird geändert?',
    },
  ],
  [
    'community',
    'safety',
    {
      en: 'Start meetings with what is difficult right now, with the manager first, and thank people for asking.',
      sv: 'Börja möten med vad som är svårt just nu, chefen först, och tacka den som frågar.',
      de: 'Besprechungen mit dem beginnen, was gerade schwierig ist, die Führungskraft zuerst, und sich für Fragen bedanken.',
    },
  ],
  [
    'community',
    'who',
    {
      en: 'Agree who steps in when someone is overloaded or away, so that asking for help is easy.',
      sv: 'Bestäm vem som rycker in när någon har för mycket eller är borta, så att det är lätt att be om hjälp.',
      de: 'Festlegen, wer einspringt, wenn jemand überlastet oder abwesend ist, damit es leicht ist, um Hilfe zu bitten.',
    },
  ],
  [
    'fairness',
    'justice',
    {
      en: 'Explain how decisions about tasks, schedules and pay are made, before they are made.',
      sv: 'Berätta hur beslut om uppgifter, scheman och lön fattas, innan de fattas.',
      de: 'Erklären, wie über Aufgaben, Pläne und Bezahlung entschieden wird, bevor entschieden wird.',
    },
  ],
  [
    'fairness',
    'osa',
    {
      en: 'Collect suggestions in one place, and answer each within two weeks: yes, no or later, and why.',
      sv: 'Samla förslag på ett ställe och svara på vart och ett inom två veckor: ja, nej eller senare, och varför.',
      de: 'Vorschläge an einem Ort sammeln und jeden innerhalb von zwei Wochen beantworten: ja, nein oder später, und warum.',
    },
  ],
  [
    'engagement',
    'significance',
    {
      en: 'Let the team meet the people its work is for, or read what they say about it, once a month.',
      sv: 'Låt teamet en gång i månaden träffa dem som arbetet är till för, eller läsa vad de säger om det.',
      de: 'Das Team einmal im Monat die Menschen treffen lassen, für die es arbeitet, oder lesen, was sie darüber sagen.',
    },
  ],
  [
    'engagement',
    'q12',
    {
      en: 'Find out what each person does best, and move at least one task so that they can do more of it.',
      sv: 'Ta reda på vad var och en är bäst på, och flytta minst en uppgift så att de får göra mer av det.',
      de: 'Herausfinden, was jede Person am besten kann, und mindestens eine Aufgabe so verlagern, dass sie mehr davon tun kann.',
    },
  ],
];

/** Returns the suggestions in a language, or in English if they are not translated into it, in the order of the library. */
export const suggestionsIn = (language: string): FocusSuggestion[] =>
  rows.map(([kpiId, name, text]) => ({
    kpiId,
    text: language === 'sv' || language === 'de' ? text[language] : text.en,
    source: sources[name],
  }));
