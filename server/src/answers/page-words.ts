// What the answering page says, in English, Swedish and German. Pure. Every text is text: the page escapes it.

export type PageWords = {
  /** As days are written. */
  locale: string;
  /** The page's name in the browser. */
  title: (company: string) => string;
  language: string;
  /** The first name is '' where there is none. */
  greeting: (firstName: string) => string;
  asks: (company: string, questions: number) => string;
  privacy: {
    heading: string;
    /** Who sees results, from so many answers on. */
    figures: (company: string, least: number) => string;
    /** Where distributions or comments take another number. */
    spread: (spread: number, comments: number) => string;
    /** Instead of the three above, with a threshold of 1. */
    openHeading: string;
    open: (company: string) => string;
    live: string;
    until: (day: string) => string;
  };
  /** Which of how many. */
  count: (at: number, of: number) => string;
  addComment: string;
  comment: string;
  commentHint: string;
  skip: string;
  back: string;
  next: string;
  finish: string;
  send: string;
  saving: string;
  saved: string;
  unsaved: string;
  /** The link opens nothing any more, while the page is still open. */
  ended: string;
  thanks: {
    heading: (firstName: string) => string;
    text: string;
    until: (day: string, zone: string) => string;
    open: (questions: number) => string;
    change: string;
  };
  faults: {
    heading: string;
    /** Names a question in the list of faults. */
    at: (question: number, fault: string) => string;
    choose: string;
    wrong: string;
    tooLong: (most: number) => string;
    notAsked: string;
    empty: string;
  };
  reminders: {
    heading: string;
    text: (company: string) => string;
    stop: string;
    stopped: string;
    stoppedText: string;
    answer: string;
  };
  plain: Record<PlainKind, { heading: string; text: string }>;
  sendAgain: string;
};

/** The pages that say nothing but a sentence or two. */
export type PlainKind = 'dead' | 'foreign' | 'away' | 'tooLarge' | 'defect';

const english: PageWords = {
  locale: 'en-GB',
  title: (company) => `Questions from ${company}`,
  language: 'Language',
  greeting: (firstName) => (firstName === '' ? 'Hi' : `Hi ${firstName}`),
  asks: (company, questions) =>
    questions === 1
      ? `${company} has one question for you.`
      : `${company} has ${questions} questions for you.`,
  privacy: {
    heading: 'Nobody is shown who answered what',
    figures: (company, least) =>
      `Managers and administrators at ${company} see group results, from ${least} answers on.`,
    spread: (spread, comments) =>
      spread === comments
        ? `Distributions and comments are shown from ${spread} on.`
        : `Distributions are shown from ${spread} on, comments from ${comments}.`,
    openHeading: 'Your answers are not anonymous',
    open: (company) =>
      `Managers and administrators at ${company} see group results from the first answer on. If you are the only one in your group who answers, they see what you answered.`,
    live: 'They see results as they stand, also before the week is over.',
    until: (day) =>
      `You can change your answers until the end of ${day}. Then they are counted and deleted: only results and comments stay.`,
  },
  count: (at, of) => `${at} of ${of}`,
  addComment: 'Add a comment',
  comment: 'Comment',
  commentHint: 'Shown word for word, without your name.',
  skip: 'I’d rather not answer',
  back: 'Back',
  next: 'Next',
  finish: 'Finish',
  send: 'Send answers',
  saving: 'Saving …',
  saved: 'Saved',
  unsaved: 'Not saved yet. It stays on this page, and is sent again by itself.',
  ended: 'Not saved: the week is over, or a newer link has replaced this one.',
  thanks: {
    heading: (firstName) => (firstName === '' ? 'Thank you!' : `Thank you, ${firstName}!`),
    text: 'Your answers are saved.',
    until: (day, zone) => `You can change them until the end of ${day} (${zone}).`,
    open: (questions) =>
      questions === 1 ? 'One question is still open.' : `${questions} questions are still open.`,
    change: 'Change my answers',
  },
  faults: {
    heading: 'Nothing is saved yet',
    at: (question, fault) => `Question ${question}: ${fault}`,
    choose: 'Choose an answer, so that your comment can be kept.',
    wrong: 'Choose one of the answers that are shown.',
    tooLong: (most) => `Shorten the comment to ${most} characters.`,
    notAsked: 'One answer was to a question that you are not asked.',
    empty: 'You have not answered a question yet.',
  },
  reminders: {
    heading: 'No more reminders?',
    text: (company) => `${company} will go on inviting you to answer, but not remind you of it.`,
    stop: 'Stop reminders',
    stopped: 'Reminders are stopped',
    stoppedText: 'You will not be reminded any more.',
    answer: 'To the questions',
  },
  plain: {
    dead: {
      heading: 'This link opens nothing',
      text: 'Its week may be over, or a newer link may have replaced it. Use the link in the newest mail, and take care to copy all of it.',
    },
    foreign: {
      heading: 'Not accepted',
      text: 'This was sent from another website. Open your link again, and answer there.',
    },
    away: {
      heading: 'Please try again in a moment',
      text: 'The service cannot be reached right now. Nothing has been lost that was saved, but what was sent just now is not saved yet. Reload this page in a moment.',
    },
    tooLarge: {
      heading: 'Too much text',
      text: 'Nothing is saved yet. Go back in your browser, shorten your comments, and send them again.',
    },
    defect: {
      heading: 'Something went wrong on our side',
      text: 'What was sent just now is not saved. Go back in your browser and try again.',
    },
  },
  sendAgain: 'Send again',
};

const swedish: PageWords = {
  locale: 'sv-SE',
  title: (company) => `Frågor från ${company}`,
  language: 'Språk',
  greeting: (firstName) => (firstName === '' ? 'Hej' : `Hej ${firstName}`),
  asks: (company, questions) =>
    questions === 1 ? `${company} har en fråga till dig.` : `${company} har ${questions} frågor till dig.`,
  privacy: {
    heading: 'Ingen får se vem som har svarat vad',
    figures: (company, least) =>
      `Chefer och administratörer på ${company} ser resultat för grupper, från ${least} svar.`,
    spread: (spread, comments) =>
      spread === comments
        ? `Fördelningar och kommentarer visas från ${spread}.`
        : `Fördelningar visas från ${spread}, kommentarer från ${comments}.`,
    openHeading: 'Dina svar är inte anonyma',
    open: (company) =>
      `Chefer och administratörer på ${company} ser resultat för grupper redan från första svaret. Om du är den enda i din grupp som svarar ser de vad du har svarat.`,
    live: 'De ser resultaten som de står, också innan veckan är slut.',
    until: (day) =>
      `Du kan ändra dina svar till och med ${day}. Sedan räknas de och raderas: bara resultat och kommentarer finns kvar.`,
  },
  count: (at, of) => `${at} av ${of}`,
  addComment: 'Lägg till en kommentar',
  comment: 'Kommentar',
  commentHint: 'Visas ordagrant, utan ditt namn.',
  skip: 'Jag vill inte svara',
  back: 'Tillbaka',
  next: 'Nästa',
  finish: 'Klar',
  send: 'Skicka svaren',
  saving: 'Sparar …',
  saved: 'Sparat',
  unsaved: 'Inte sparat än. Det finns kvar på sidan och skickas igen av sig självt.',
  ended: 'Inte sparat: veckan är slut, eller så har en nyare länk ersatt den här.',
  thanks: {
    heading: (firstName) => (firstName === '' ? 'Tack!' : `Tack, ${firstName}!`),
    text: 'Dina svar är sparade.',
    until: (day, zone) => `Du kan ändra dem till och med ${day} (${zone}).`,
    open: (questions) =>
      questions === 1
        ? 'En fråga är fortfarande obesvarad.'
        : `${questions} frågor är fortfarande obesvarade.`,
    change: 'Ändra mina svar',
  },
  faults: {
    heading: 'Inget är sparat än',
    at: (question, fault) => `Fråga ${question}: ${fault}`,
    choose: 'Välj ett svar, så att din kommentar kan sparas.',
    wrong: 'Välj ett av svaren som visas.',
    tooLong: (most) => `Korta kommentaren till ${most} tecken.`,
    notAsked: 'Ett svar gällde en fråga som inte ställs till dig.',
    empty: 'Du har inte svarat på någon fråga än.',
  },
  reminders: {
    heading: 'Inga fler påminnelser?',
    text: (company) => `${company} fortsätter att bjuda in dig att svara, men påminner dig inte.`,
    stop: 'Stoppa påminnelser',
    stopped: 'Påminnelserna är stoppade',
    stoppedText: 'Du får inga fler påminnelser.',
    answer: 'Till frågorna',
  },
  plain: {
    dead: {
      heading: 'Den här länken öppnar ingenting',
      text: 'Dess vecka kan vara slut, eller så har en nyare länk ersatt den. Använd länken i det senaste mejlet, och se till att få med hela.',
    },
    foreign: {
      heading: 'Togs inte emot',
      text: 'Det här skickades från en annan webbplats. Öppna din länk igen och svara där.',
    },
    away: {
      heading: 'Försök igen om en stund',
      text: 'Tjänsten kan inte nås just nu. Inget som var sparat har gått förlorat, men det som skickades nyss är inte sparat än. Ladda om sidan om en stund.',
    },
    tooLarge: {
      heading: 'För mycket text',
      text: 'Inget är sparat än. Gå tillbaka i webbläsaren, korta dina kommentarer och skicka igen.',
    },
    defect: {
      heading: 'Något gick fel hos oss',
      text: 'Det som skickades nyss är inte sparat. Gå tillbaka i webbläsaren och försök igen.',
    },
  },
  sendAgain: 'Skicka igen',
};

const german: PageWords = {
  locale: 'de-DE',
  title: (company) => `Fragen von ${company}`,
  language: 'Sprache',
  greeting: (firstName) => (firstName === '' ? 'Hallo' : `Hallo ${firstName}`),
  asks: (company, questions) =>
    questions === 1 ? `${company} hat eine Frage an dich.` : `${company} hat ${questions} Fragen an dich.`,
  privacy: {
    heading: 'Niemand erfährt, wer was geantwortet hat',
    figures: (company, least) =>
      `Führungskräfte und Administratoren von ${company} sehen Ergebnisse von Gruppen, ab ${least} Antworten.`,
    spread: (spread, comments) =>
      spread === comments
        ? `Verteilungen und Kommentare werden ab ${spread} gezeigt.`
        : `Verteilungen werden ab ${spread} gezeigt, Kommentare ab ${comments}.`,
    openHeading: 'Deine Antworten sind nicht anonym',
    open: (company) =>
      `Führungskräfte und Administratoren von ${company} sehen Ergebnisse von Gruppen ab der ersten Antwort. Antwortest in deiner Gruppe nur du, so ist zu sehen, was du geantwortet hast.`,
    live: 'Der jeweilige Stand ist auch zu sehen, bevor die Woche vorbei ist.',
    until: (day) =>
      `Bis einschließlich ${day} kannst du deine Antworten ändern. Dann werden sie gezählt und gelöscht; nur Ergebnisse und Kommentare bleiben.`,
  },
  count: (at, of) => `${at} von ${of}`,
  addComment: 'Kommentar hinzufügen',
  comment: 'Kommentar',
  commentHint: 'Wird im Wortlaut gezeigt, ohne deinen Namen.',
  skip: 'Ich möchte nicht antworten',
  back: 'Zurück',
  next: 'Weiter',
  finish: 'Fertig',
  send: 'Antworten senden',
  saving: 'Wird gespeichert …',
  saved: 'Gespeichert',
  unsaved: 'Noch nicht gespeichert. Es bleibt auf dieser Seite und wird von selbst erneut gesendet.',
  ended: 'Nicht gespeichert: Die Woche ist vorbei, oder ein neuerer Link hat diesen ersetzt.',
  thanks: {
    heading: (firstName) => (firstName === '' ? 'Vielen Dank!' : `Vielen Dank, ${firstName}!`),
    text: 'Deine Antworten sind gespeichert.',
    until: (day, zone) => `Bis einschließlich ${day} (${zone}) kannst du sie ändern.`,
    open: (questions) =>
      questions === 1 ? 'Eine Frage ist noch offen.' : `${questions} Fragen sind noch offen.`,
    change: 'Meine Antworten ändern',
  },
  faults: {
    heading: 'Noch ist nichts gespeichert',
    at: (question, fault) => `Frage ${question}: ${fault}`,
    choose: 'Wähle eine Antwort, damit dein Kommentar gespeichert werden kann.',
    wrong: 'Wähle eine der gezeigten Antworten.',
    tooLong: (most) => `Kürze den Kommentar auf ${most} Zeichen.`,
    notAsked: 'Eine Antwort galt einer Frage, die dir nicht gestellt wird.',
    empty: 'Du hast noch keine Frage beantwortet.',
  },
  reminders: {
    heading: 'Keine Erinnerungen mehr?',
    text: (company) =>
      `${company} lädt dich weiterhin ein zu antworten, erinnert dich aber nicht mehr daran.`,
    stop: 'Erinnerungen abstellen',
    stopped: 'Die Erinnerungen sind abgestellt',
    stoppedText: 'Du wirst nicht mehr erinnert.',
    answer: 'Zu den Fragen',
  },
  plain: {
    dead: {
      heading: 'Dieser Link öffnet nichts',
      text: 'Seine Woche ist vielleicht vorbei, oder ein neuerer Link hat ihn ersetzt. Benutze den Link in der neuesten E-Mail, und zwar vollständig.',
    },
    foreign: {
      heading: 'Nicht angenommen',
      text: 'Das wurde von einer anderen Website gesendet. Öffne deinen Link erneut und antworte dort.',
    },
    away: {
      heading: 'Bitte versuche es gleich noch einmal',
      text: 'Der Dienst ist gerade nicht erreichbar. Was gespeichert war, ist nicht verloren; was eben gesendet wurde, ist noch nicht gespeichert. Lade diese Seite gleich neu.',
    },
    tooLarge: {
      heading: 'Zu viel Text',
      text: 'Noch ist nichts gespeichert. Geh im Browser zurück, kürze deine Kommentare und sende sie erneut.',
    },
    defect: {
      heading: 'Bei uns ist etwas schiefgegangen',
      text: 'Was eben gesendet wurde, ist nicht gespeichert. Geh im Browser zurück und versuche es noch einmal.',
    },
  },
  sendAgain: 'Erneut senden',
};

export const pageWords = { en: english, sv: swedish, de: german };
