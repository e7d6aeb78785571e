// The built-in KPIs and questions that every account starts with. Keys, types and ids of options never change: a change of
// meaning is a new question with a new key. All texts were written for Soundings. docs/administrators/questions.md explains the rules and the
// research behind the KPIs. Pure.
import {
  agreementScale,
  freeText,
  multipleChoice,
  type QuestionType,
  recommendation,
  singleChoice,
  tenStepScale,
  yesNo,
} from '@soundings/contract/question-types.ts';
import { libraryLanguage, type TextByLanguage } from './library-texts.ts';
import type { NewQuestion } from './questions.sql.ts';

export type LibraryKpi = { id: string; name: TextByLanguage };

export type StandardQuestion = {
  key: string;
  type: QuestionType;
  /** The KPI it belongs to. Choice questions and free text have none. */
  kpi: string | undefined;
  text: TextByLanguage;
  /** For choice questions, in display order. */
  options?: { id: string; text: TextByLanguage }[];
};

/**
 * Returns the library for an account: texts in its language, or English if the library lacks it, and the other languages as
 * translations. In the data interface, KPIs have their English names. `questions`: keys, in the order of the library.
 */
export function libraryFor(language: string): {
  questions: NewQuestion[];
  kpis: { id: string; name: string; translations: Record<string, string>; questions: string[] }[];
} {
  const own = libraryLanguage(language);
  return {
    questions: libraryQuestions.map(({ key, type, text, options = [] }) => ({
      key,
      type,
      language: own,
      ...textsIn(text, own),
      options: options.map((option) => ({ id: option.id, ...textsIn(option.text, own) })),
    })),
    kpis: libraryKpis.map(({ id, name: { en, ...translations } }) => ({
      id,
      name: en,
      translations,
      questions: libraryQuestions.filter(({ kpi }) => kpi === id).map(({ key }) => key),
    })),
  };
}

function textsIn(
  texts: TextByLanguage,
  own: keyof TextByLanguage,
): { text: string; translations: Record<string, string> } {
  const { [own]: text, ...translations } = texts;
  return { text, translations };
}

export const libraryKpis: readonly LibraryKpi[] = [
  {
    id: 'workload',
    name: {
      en: 'Workload and recovery',
      sv: 'Arbetsbelastning och återhämtning',
      de: 'Arbeitsbelastung und Erholung',
    },
  },
  { id: 'clarity', name: { en: 'Role clarity', sv: 'Tydlighet i rollen', de: 'Rollenklarheit' } },
  { id: 'autonomy', name: { en: 'Autonomy', sv: 'Handlingsutrymme', de: 'Handlungsspielraum' } },
  {
    id: 'leadership',
    name: {
      en: 'Leadership and feedback',
      sv: 'Ledarskap och återkoppling',
      de: 'Führung und Feedback',
    },
  },
  {
    id: 'development',
    name: { en: 'Learning and development', sv: 'Lärande och utveckling', de: 'Lernen und Entwicklung' },
  },
  { id: 'community', name: { en: 'Team and support', sv: 'Team och stöd', de: 'Team und Unterstützung' } },
  {
    id: 'fairness',
    name: { en: 'Fairness and voice', sv: 'Rättvisa och delaktighet', de: 'Fairness und Mitsprache' },
  },
  {
    id: 'engagement',
    name: { en: 'Meaning and engagement', sv: 'Mening och engagemang', de: 'Sinn und Engagement' },
  },
];

type Row = [key: string, type: QuestionType, en: string, sv: string, de: string];

const rowsOfKpis: Record<string, Row[]> = {
  workload: [
    [
      'workload-pace',
      agreementScale,
      'I can work at a pace I can keep up over time.',
      'Jag kan arbeta i en takt som håller i längden.',
      'Ich kann in einem Tempo arbeiten, das ich auf Dauer durchhalte.',
    ],
    [
      'workload-amount',
      agreementScale,
      'I can get my work done within my working hours.',
      'Jag hinner med mitt arbete inom min arbetstid.',
      'Ich schaffe meine Arbeit in meiner Arbeitszeit.',
    ],
    [
      'workload-breaks',
      agreementScale,
      'I get the breaks I need at work.',
      'Jag får de pauser jag behöver på jobbet.',
      'Ich bekomme bei der Arbeit die Pausen, die ich brauche.',
    ],
    [
      'workload-off',
      agreementScale,
      'When I finish work, I can switch off.',
      'När jag har slutat för dagen kan jag släppa tankarna på jobbet.',
      'Wenn ich Feierabend habe, kann ich von der Arbeit abschalten.',
    ],
    [
      'workload-rested',
      tenStepScale,
      'How rested do you usually feel when you start work?',
      'Hur utvilad brukar du känna dig när du börjar jobba?',
      'Wie ausgeruht fühlst du dich meistens, wenn du mit der Arbeit beginnst?',
    ],
  ],
  clarity: [
    [
      'clarity-tasks',
      agreementScale,
      'I know which tasks are mine.',
      'Det är tydligt för mig vilka arbetsuppgifter som är mina.',
      'Mir ist klar, für welche Aufgaben ich zuständig bin.',
    ],
    [
      'clarity-priorities',
      agreementScale,
      'When there is a lot to do, I know what is most important.',
      'När det är mycket att göra vet jag vad som är viktigast.',
      'Wenn viel zu tun ist, weiß ich, was am wichtigsten ist.',
    ],
    [
      'clarity-quality',
      agreementScale,
      'I know what a good result looks like in my work.',
      'Jag vet hur ett bra resultat ser ut i mitt arbete.',
      'Ich weiß, wie ein gutes Ergebnis meiner Arbeit aussieht.',
    ],
    [
      'clarity-purpose',
      agreementScale,
      'I know what my work contributes to.',
      'Jag vet varför mitt arbete behövs.',
      'Ich weiß, wofür meine Arbeit gebraucht wird.',
    ],
    [
      'clarity-contact',
      yesNo,
      'Do you know who to ask when something at work is unclear?',
      'Vet du vem du kan fråga när något på jobbet är oklart för dig?',
      'Weißt du, wen du fragen kannst, wenn dir bei der Arbeit etwas unklar ist?',
    ],
  ],
  autonomy: [
    [
      'autonomy-freedom',
      agreementScale,
      'I have enough freedom in how I do my work.',
      'Jag har tillräckligt stor frihet att bestämma hur jag gör mitt jobb.',
      'Ich kann frei genug bestimmen, wie ich meine Arbeit mache.',
    ],
    [
      'autonomy-order',
      agreementScale,
      'I can influence the order in which I do my tasks.',
      'Jag kan påverka i vilken ordning jag gör mina arbetsuppgifter.',
      'Ich kann mitbestimmen, in welcher Reihenfolge ich meine Aufgaben erledige.',
    ],
    [
      'autonomy-hours',
      agreementScale,
      'I have enough say over when I work.',
      'Jag har tillräckligt inflytande över när jag arbetar.',
      'Ich kann genug mitbestimmen, wann ich arbeite.',
    ],
    [
      'autonomy-decisions',
      agreementScale,
      'I am trusted to make decisions in my work.',
      'Jag får förtroendet att fatta beslut i mitt arbete.',
      'Man traut mir zu, bei der Arbeit Entscheidungen zu treffen.',
    ],
    [
      'autonomy-change',
      agreementScale,
      'When something works poorly, I can help change it.',
      'När något fungerar dåligt kan jag vara med och förändra det.',
      'Wenn etwas schlecht läuft, kann ich dazu beitragen, es zu ändern.',
    ],
  ],
  leadership: [
    [
      'leadership-help',
      agreementScale,
      'My manager helps me when I get stuck.',
      'Min närmaste chef hjälper mig när jag kör fast.',
      'Meine Führungskraft hilft mir, wenn ich feststecke.',
    ],
    [
      'leadership-feedback',
      agreementScale,
      'I get feedback that helps me do my work better.',
      'Jag får återkoppling som hjälper mig att göra ett bättre jobb.',
      'Ich bekomme Feedback, das mir hilft, meine Arbeit besser zu machen.',
    ],
    [
      'leadership-appreciation',
      agreementScale,
      'When I do something well, someone tells me.',
      'När jag gör något bra får jag höra det.',
      'Wenn ich etwas gut mache, sagt mir das jemand.',
    ],
    [
      'leadership-trust',
      tenStepScale,
      'How much do you trust your manager?',
      'Hur mycket litar du på din närmaste chef?',
      'Wie sehr vertraust du deiner Führungskraft?',
    ],
    [
      'leadership-talk',
      yesNo,
      'In the last four weeks, have you talked with your manager about how work is going?',
      'Har du de senaste fyra veckorna pratat med din närmaste chef om hur jobbet går?',
      'Hast du in den letzten vier Wochen mit deiner Führungskraft besprochen, wie es läuft?',
    ],
  ],
  development: [
    [
      'development-growth',
      agreementScale,
      'I keep getting better at what I do at work.',
      'Jag blir hela tiden bättre på det jag gör på jobbet.',
      'Ich werde in meiner Arbeit immer besser.',
    ],
    [
      'development-strengths',
      agreementScale,
      'My work lets me use what I am good at.',
      'I mitt arbete får jag använda det jag är bra på.',
      'Bei meiner Arbeit kann ich einsetzen, was ich gut kann.',
    ],
    [
      'development-training',
      agreementScale,
      'I get the training I need for my tasks.',
      'Jag får den utbildning jag behöver för mina arbetsuppgifter.',
      'Ich bekomme die Schulungen, die ich für meine Aufgaben brauche.',
    ],
    [
      'development-difficulty',
      agreementScale,
      'The difficulty of my tasks is just right for me.',
      'Mina arbetsuppgifter är lagom svåra för mig.',
      'Der Schwierigkeitsgrad meiner Aufgaben ist für mich genau richtig.',
    ],
    [
      'development-future',
      agreementScale,
      'I see good opportunities for myself here in the coming years.',
      'Jag ser goda möjligheter för mig själv här under de närmaste åren.',
      'Ich sehe hier in den nächsten Jahren gute Perspektiven für mich.',
    ],
  ],
  community: [
    [
      'community-help',
      agreementScale,
      'When I need help, I get it from the people I work with.',
      'När jag behöver hjälp får jag det av dem jag jobbar med.',
      'Wenn ich Hilfe brauche, bekomme ich sie von den Menschen, mit denen ich arbeite.',
    ],
    [
      'community-cooperation',
      agreementScale,
      'In my team, we work well together.',
      'I mitt team samarbetar vi bra.',
      'In meinem Team arbeiten wir gut zusammen.',
    ],
    [
      'community-kindness',
      agreementScale,
      'We are friendly to each other at work.',
      'Vi är vänliga mot varandra på jobbet.',
      'Wir gehen bei der Arbeit freundlich miteinander um.',
    ],
    [
      'community-mistakes',
      agreementScale,
      'Where I work, we can talk openly about mistakes.',
      'Där jag arbetar kan vi prata öppet om misstag.',
      'Wo ich arbeite, können wir offen über Fehler sprechen.',
    ],
    [
      'community-belonging',
      tenStepScale,
      'How much do you feel that you belong here?',
      'I hur hög grad känner du att du hör hemma här?',
      'Wie sehr hast du das Gefühl, hier dazuzugehören?',
    ],
  ],
  fairness: [
    [
      'fairness-rules',
      agreementScale,
      'Where I work, the same rules apply to everyone.',
      'Där jag arbetar gäller samma regler för alla.',
      'Wo ich arbeite, gelten für alle dieselben Regeln.',
    ],
    [
      'fairness-reasons',
      agreementScale,
      'When something is decided about my work, I am told why.',
      'När det fattas beslut som rör mitt arbete får jag veta varför.',
      'Wenn über meine Arbeit entschieden wird, erfahre ich, warum.',
    ],
    [
      'fairness-opinion',
      agreementScale,
      'I can say what I think at work, even when others think differently.',
      'Jag kan säga vad jag tycker på jobbet, även när andra tycker annorlunda.',
      'Ich kann bei der Arbeit sagen, was ich denke, auch wenn andere es anders sehen.',
    ],
    [
      'fairness-suggestions',
      agreementScale,
      'When I make a suggestion, I get an answer.',
      'När jag kommer med ett förslag får jag svar.',
      'Wenn ich einen Vorschlag mache, bekomme ich eine Antwort.',
    ],
    [
      'fairness-contact',
      yesNo,
      'Do you know where to turn if someone at work is treated badly?',
      'Vet du vart du kan vända dig om någon behandlas illa på jobbet?',
      'Weißt du, an wen du dich wenden kannst, wenn hier jemand schlecht behandelt wird?',
    ],
  ],
  engagement: [
    [
      'engagement-useful',
      agreementScale,
      'What I do at work is useful to others.',
      'Det jag gör på jobbet är till nytta för andra.',
      'Was ich bei der Arbeit mache, nützt anderen.',
    ],
    [
      'engagement-energy',
      agreementScale,
      'My work gives me energy.',
      'Mitt jobb ger mig energi.',
      'Meine Arbeit gibt mir Energie.',
    ],
    [
      'engagement-tasks',
      agreementScale,
      'I like the tasks that I have.',
      'Jag trivs med mina arbetsuppgifter.',
      'Ich mag meine Aufgaben.',
    ],
    [
      'engagement-forward',
      tenStepScale,
      'How much do you look forward to your next day at work?',
      'Hur mycket ser du fram emot din nästa arbetsdag?',
      'Wie sehr freust du dich auf deinen nächsten Arbeitstag?',
    ],
    [
      'engagement-recommend',
      recommendation,
      'Would you tell a friend to apply for a job here?',
      'Skulle du rekommendera en vän att söka jobb här?',
      'Würdest du Freunden raten, sich hier zu bewerben?',
    ],
  ],
};

const outside: StandardQuestion[] = [
  {
    key: 'help-most',
    type: singleChoice,
    kpi: undefined,
    text: {
      en: 'What would help you most in your work right now?',
      sv: 'Vad skulle hjälpa dig mest i ditt arbete just nu?',
      de: 'Was würde dir bei deiner Arbeit im Moment am meisten helfen?',
    },
    options: optionsOf(
      ['time', 'More time for my tasks', 'Mer tid för mina arbetsuppgifter', 'Mehr Zeit für meine Aufgaben'],
      ['people', 'More people to share the work', 'Fler som delar på arbetet', 'Mehr Personal'],
      ['goals', 'Clearer goals', 'Tydligare mål', 'Klarere Ziele'],
      [
        'tools',
        'Better tools or equipment',
        'Bättre verktyg eller utrustning',
        'Bessere Arbeitsmittel oder Geräte',
      ],
      ['training', 'More training', 'Mer utbildning', 'Mehr Schulungen'],
      [
        'manager',
        'More support from my manager',
        'Mer stöd från min närmaste chef',
        'Mehr Unterstützung durch meine Führungskraft',
      ],
      [
        'influence',
        'More influence on decisions',
        'Mer inflytande över beslut',
        'Mehr Mitsprache bei Entscheidungen',
      ],
      ['cooperation', 'Better cooperation', 'Bättre samarbete', 'Bessere Zusammenarbeit'],
      ['other', 'Something else', 'Något annat', 'Etwas anderes'],
      ['nothing', 'Nothing at the moment', 'Inget just nu', 'Im Moment nichts'],
    ),
  },
  {
    key: 'work-compared',
    type: singleChoice,
    kpi: undefined,
    text: {
      en: 'How is your work now, compared with three months ago?',
      sv: 'Hur är din arbetssituation nu, jämfört med för tre månader sedan?',
      de: 'Wie ist deine Arbeitssituation jetzt im Vergleich zu der vor drei Monaten?',
    },
    options: optionsOf(
      ['better', 'Better', 'Bättre', 'Besser'],
      ['same', 'About the same', 'Ungefär likadant', 'Ungefähr gleich'],
      ['worse', 'Worse', 'Sämre', 'Schlechter'],
      ['unsure', 'I cannot say', 'Kan inte säga', 'Kann ich nicht sagen'],
    ),
  },
  {
    key: 'energy-givers',
    type: multipleChoice,
    kpi: undefined,
    text: {
      en: 'What has given you energy at work in the last few weeks?',
      sv: 'Vad har gett dig energi på jobbet de senaste veckorna?',
      de: 'Was hat dir in den letzten Wochen bei der Arbeit Energie gegeben?',
    },
    options: optionsOf(
      ['tasks', 'My tasks', 'Mina arbetsuppgifter', 'Meine Aufgaben'],
      ['colleagues', 'The people I work with', 'De jag jobbar med', 'Die Menschen, mit denen ich arbeite'],
      [
        'recipients',
        'The people our work is for',
        'De som vårt arbete är till för',
        'Die Menschen, für die unsere Arbeit da ist',
      ],
      ['result', 'A good result', 'Ett bra resultat', 'Ein gutes Ergebnis'],
      ['learning', 'Learning something new', 'Att lära mig något nytt', 'Etwas Neues lernen'],
      ['thanks', 'Thanks or praise', 'Tack eller beröm', 'Dank oder Lob'],
      ['deciding', 'Deciding something myself', 'Att få bestämma något själv', 'Etwas selbst entscheiden'],
      ['time', 'Enough time', 'Tillräckligt med tid', 'Genug Zeit'],
      ['other', 'Something else', 'Något annat', 'Etwas anderes'],
      ['nothing', 'Nothing in particular', 'Inget särskilt', 'Nichts Besonderes'],
    ),
  },
  {
    key: 'obstacles',
    type: multipleChoice,
    kpi: undefined,
    text: {
      en: 'What has made your work harder in the last few weeks?',
      sv: 'Vad har gjort ditt arbete svårare de senaste veckorna?',
      de: 'Was hat dir in den letzten Wochen die Arbeit erschwert?',
    },
    options: optionsOf(
      ['interruptions', 'Interruptions', 'Avbrott', 'Unterbrechungen'],
      ['waiting', 'Waiting for others', 'Att vänta på andra', 'Warten auf andere'],
      ['unclear', 'Unclear tasks', 'Otydliga arbetsuppgifter', 'Unklare Aufgaben'],
      ['information', 'Missing information', 'Information som saknas', 'Fehlende Informationen'],
      [
        'tools',
        'Tools or equipment that do not work',
        'Verktyg eller utrustning som inte fungerar',
        'Arbeitsmittel oder Geräte, die nicht funktionieren',
      ],
      ['people', 'Too few people', 'Att vi är för få', 'Zu wenig Personal'],
      ['rules', 'Complicated rules', 'Krångliga regler', 'Komplizierte Regeln'],
      ['noise', 'Noise', 'Buller', 'Lärm'],
      ['conflict', 'Conflicts', 'Konflikter', 'Konflikte'],
      ['other', 'Something else', 'Något annat', 'Etwas anderes'],
      ['nothing', 'Nothing in particular', 'Inget särskilt', 'Nichts Besonderes'],
    ),
  },
  textQuestion('works-well', 'What works well here?', 'Vad fungerar bra här?', 'Was läuft hier gut?'),
  textQuestion(
    'change-one-thing',
    'If you could change one thing at work, what would it be?',
    'Om du fick ändra en sak på jobbet, vad skulle det vara?',
    'Wenn du bei der Arbeit eine Sache ändern könntest, welche wäre das?',
  ),
  textQuestion(
    'anything-else',
    'What else would you like to tell us?',
    'Vad mer vill du berätta för oss?',
    'Was möchtest du uns sonst noch sagen?',
  ),
];

/** First the questions of KPIs, five each, then the questions that belong to no KPI. */
export const libraryQuestions: readonly StandardQuestion[] = [
  ...Object.entries(rowsOfKpis).flatMap(([kpi, rows]) =>
    rows.map(([key, type, en, sv, de]) => ({ key, type, kpi, text: { en, sv, de } })),
  ),
  ...outside,
];

function optionsOf(
  ...rows: [id: string, en: string, sv: string, de: string][]
): { id: string; text: TextByLanguage }[] {
  return rows.map(([id, en, sv, de]) => ({ id, text: { en, sv, de } }));
}

function textQuestion(key: string, en: string, sv: string, de: string): StandardQuestion {
  return { key, type: freeText, kpi: undefined, text: { en, sv, de } };
}
