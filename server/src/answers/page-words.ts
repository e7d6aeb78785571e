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
    /** Of a link that an administrator has handed out. */
    exported: string;
  };
  /** Which of how many. */
  count: (at: number, of: number) => string;
  addComment: string;
  comment: string;
  commentHint: string;
  skip: string;
  /** Beside the box of `skip` while it is ticked, with something written in the field. */
  dropped: string;
  /** Beside it when it is no longer ticked, and nothing that could be kept stands in its place. */
  stillSkipped: string;
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
    /** It was answered by another link or in another browser, or is counted already. */
    elsewhere: string;
    /** Instead of the heading and the list, where nothing was answered. */
    emptyHeading: string;
    empty: string;
  };
  /** By what has become of reminders: asked about, stopped, or wanted again. */
  reminders: Record<RemindersState, { heading: string; text: (company: string) => string; button: string }>;
  plain: Record<PlainKind, { heading: string; text: string }>;
  sendAgain: string;
};

/** Whether somebody is asked about reminders, has stopped them, or wants them again. */
export type RemindersState = 'asked' | 'stopped' | 'resumed';

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
      `Managers and administrators at ${company} see results for groups with at least ${least} answers.`,
    spread: (spread, comments) =>
      spread === comments
        ? `Distributions and comments are shown for groups with at least ${spread} answers.`
        : `Distributions are shown for groups with at least ${spread} answers, comments with at least ${comments}.`,
    openHeading: 'Your answers are not anonymous',
    open: (company) =>
      `Managers and administrators at ${company} see group results from the first answer on. If you are the only one in your group to answer, they see what you answered.`,
    live: 'They see the results as they stand, even before the week is over.',
    until: (day) =>
      `You can change your answers until the end of ${day}. Then they are counted and deleted: only results and comments remain.`,
    exported: 'If you have answered before, those answers are not shown here; answering again replaces them.',
  },
  count: (at, of) => `${at} of ${of}`,
  addComment: 'Add a comment',
  comment: 'Comment',
  commentHint: 'Shown word for word, without your name.',
  skip: 'I’d rather not answer',
  dropped: 'What you have written is not kept while this is ticked.',
  stillSkipped: 'Until you answer, “I’d rather not answer” still counts.',
  back: 'Back',
  next: 'Next',
  finish: 'Finish',
  send: 'Send answers',
  saving: 'Saving …',
  saved: 'Saved',
  unsaved: 'Not saved yet. Your answer stays on this page and is sent again automatically.',
  ended: 'Not saved: the week may be over, or a newer link may have replaced this one.',
  thanks: {
    heading: (firstName) => (firstName === '' ? 'Thank you!' : `Thank you, ${firstName}!`),
    text: 'Your answers are saved.',
    until: (day, zone) => `You can change them until the end of ${day} (${zone}).`,
    open: (questions) =>
      questions === 1 ? 'One question is still open.' : `${questions} questions are still open.`,
    change: 'Change my answers',
  },
  faults: {
    heading: 'These answers are not saved yet',
    at: (question, fault) => `Question ${question}: ${fault}`,
    choose: 'Choose an answer so that your comment can be saved.',
    wrong: 'Choose one of the answers shown.',
    tooLong: (most) => `Shorten the comment to ${most} characters.`,
    notAsked: 'One of the answers is to a question that you are not asked.',
    elsewhere:
      "This question has already been answered from another link or browser, so it can't be changed here.",
    emptyHeading: 'No answers yet',
    empty: 'You have not answered any question on this page yet.',
  },
  reminders: {
    asked: {
      heading: 'No more reminders?',
      text: (company) => `You will still get invitations from ${company}, but no reminders.`,
      button: 'Stop reminders',
    },
    stopped: {
      heading: 'Reminders are stopped',
      text: (company) => `You will still get invitations from ${company}, but no more reminders.`,
      button: 'Remind me again',
    },
    resumed: {
      heading: 'You will be reminded again',
      text: (company) => `You will get a reminder when questions from ${company} are still unanswered.`,
      button: 'Stop reminders',
    },
  },
  plain: {
    dead: {
      heading: 'This link does not work',
      text: 'The week may be over, or a newer link may have replaced this one. Use the link in your latest email, and make sure to copy all of it.',
    },
    foreign: {
      heading: 'Not accepted',
      text: 'This was sent from another website. Open your link again, and answer there.',
    },
    away: {
      heading: 'Please try again in a moment',
      text: 'The service cannot be reached right now. Nothing that was saved has been lost, but anything sent just now is not saved yet. Reload this page in a moment.',
    },
    tooLarge: {
      heading: 'Too much text',
      text: 'What you sent is not saved. Go back in your browser, shorten your comments, and send them again.',
    },
    defect: {
      heading: 'Something went wrong on our side',
      text: 'Anything sent just now is not saved. Go back in your browser and try again.',
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
      `Chefer och administratörer på ${company} ser gruppresultat från och med ${least} svar.`,
    spread: (spread, comments) =>
      spread === comments
        ? `Svarsfördelningar och kommentarer visas från och med ${spread} svar.`
        : `Svarsfördelningar visas från och med ${spread} svar, kommentarer från och med ${comments}.`,
    openHeading: 'Dina svar är inte anonyma',
    open: (company) =>
      `Chefer och administratörer på ${company} ser gruppresultat redan från första svaret. Om du är den enda i din grupp som svarar, ser de vad du har svarat.`,
    live: 'De ser resultaten som de är just nu, även innan veckan är slut.',
    until: (day) =>
      `Du kan ändra dina svar till och med ${day}. Sedan räknas de och raderas: bara resultat och kommentarer finns kvar.`,
    exported: 'Om du har svarat tidigare visas de svaren inte här; svarar du igen ersätts de.',
  },
  count: (at, of) => `${at} av ${of}`,
  addComment: 'Lägg till en kommentar',
  comment: 'Kommentar',
  commentHint: 'Visas ordagrant, utan ditt namn.',
  skip: 'Jag vill inte svara',
  dropped: 'Det du har skrivit sparas inte så länge rutan är ikryssad.',
  stillSkipped: 'Tills du svarar gäller fortfarande ”Jag vill inte svara”.',
  back: 'Tillbaka',
  next: 'Nästa',
  finish: 'Klar',
  send: 'Skicka svaren',
  saving: 'Sparar …',
  saved: 'Sparat',
  unsaved: 'Inte sparat än. Ditt svar finns kvar på sidan och skickas igen automatiskt.',
  ended: 'Inte sparat: veckan kan vara slut, eller så har en nyare länk ersatt den här.',
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
    heading: 'De här svaren är inte sparade än',
    at: (question, fault) => `Fråga ${question}: ${fault}`,
    choose: 'Välj ett svar så att din kommentar kan sparas.',
    wrong: 'Välj ett av svaren som visas.',
    tooLong: (most) => `Korta ner kommentaren till ${most} tecken.`,
    notAsked: 'Ett av svaren gäller en fråga som inte ställs till dig.',
    elsewhere:
      'Frågan har redan besvarats via en annan länk eller i en annan webbläsare och kan inte ändras här.',
    emptyHeading: 'Inga svar än',
    empty: 'Du har inte svarat på någon fråga på den här sidan än.',
  },
  reminders: {
    asked: {
      heading: 'Inga fler påminnelser?',
      text: (company) => `Du får fortfarande inbjudningar från ${company}, men inga påminnelser.`,
      button: 'Stoppa påminnelser',
    },
    stopped: {
      heading: 'Påminnelserna är stoppade',
      text: (company) => `Du får fortfarande inbjudningar från ${company}, men inga fler påminnelser.`,
      button: 'Påminn mig igen',
    },
    resumed: {
      heading: 'Du får påminnelser igen',
      text: (company) => `Du får en påminnelse när frågor från ${company} fortfarande är obesvarade.`,
      button: 'Stoppa påminnelser',
    },
  },
  plain: {
    dead: {
      heading: 'Länken fungerar inte',
      text: 'Veckan kan vara slut, eller så har en nyare länk ersatt den här. Använd länken i det senaste mejlet, och se till att få med hela.',
    },
    foreign: {
      heading: 'Togs inte emot',
      text: 'Det här skickades från en annan webbplats. Öppna din länk igen och svara där.',
    },
    away: {
      heading: 'Försök igen om en stund',
      text: 'Tjänsten kan inte nås just nu. Inget som var sparat har gått förlorat, men det som skickades alldeles nyss är inte sparat än. Ladda om sidan om en stund.',
    },
    tooLarge: {
      heading: 'För mycket text',
      text: 'Det du skickade är inte sparat. Gå tillbaka i webbläsaren, korta ner dina kommentarer och skicka igen.',
    },
    defect: {
      heading: 'Något gick fel hos oss',
      text: 'Det som skickades alldeles nyss är inte sparat. Gå tillbaka i webbläsaren och försök igen.',
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
      `Führungskräfte und die Administration von ${company} sehen Gruppenergebnisse ab ${least} Antworten.`,
    spread: (spread, comments) =>
      spread === comments
        ? `Verteilungen und Kommentare werden ab ${spread} Antworten gezeigt.`
        : `Verteilungen werden ab ${spread} Antworten gezeigt, Kommentare ab ${comments}.`,
    openHeading: 'Deine Antworten sind nicht anonym',
    open: (company) =>
      `Führungskräfte und die Administration von ${company} sehen Gruppenergebnisse schon ab der ersten Antwort. Wenn in deiner Gruppe nur du antwortest, sehen sie, was du geantwortet hast.`,
    live: 'Sie sehen den jeweiligen Stand auch schon, bevor die Woche zu Ende ist.',
    until: (day) =>
      `Bis einschließlich ${day} kannst du deine Antworten ändern. Danach werden sie gezählt und gelöscht; nur Ergebnisse und Kommentare bleiben.`,
    exported:
      'Falls du schon geantwortet hast, werden diese Antworten hier nicht gezeigt; antwortest du erneut, werden sie ersetzt.',
  },
  count: (at, of) => `${at} von ${of}`,
  addComment: 'Kommentar hinzufügen',
  comment: 'Kommentar',
  commentHint: 'Wird im Wortlaut gezeigt, ohne deinen Namen.',
  skip: 'Ich möchte nicht antworten',
  dropped: 'Was du geschrieben hast, wird nicht gespeichert, solange das Kästchen angekreuzt ist.',
  stillSkipped: 'Bis du antwortest, gilt weiterhin „Ich möchte nicht antworten“.',
  back: 'Zurück',
  next: 'Weiter',
  finish: 'Fertig',
  send: 'Antworten senden',
  saving: 'Wird gespeichert …',
  saved: 'Gespeichert',
  unsaved:
    'Noch nicht gespeichert. Deine Antwort bleibt auf dieser Seite und wird automatisch erneut gesendet.',
  ended: 'Nicht gespeichert: Vielleicht ist die Woche vorbei, oder ein neuerer Link hat diesen ersetzt.',
  thanks: {
    heading: (firstName) => (firstName === '' ? 'Vielen Dank!' : `Vielen Dank, ${firstName}!`),
    text: 'Deine Antworten sind gespeichert.',
    until: (day, zone) => `Bis einschließlich ${day} (${zone}) kannst du sie ändern.`,
    open: (questions) =>
      questions === 1 ? 'Eine Frage ist noch offen.' : `${questions} Fragen sind noch offen.`,
    change: 'Meine Antworten ändern',
  },
  faults: {
    heading: 'Diese Antworten sind noch nicht gespeichert',
    at: (question, fault) => `Frage ${question}: ${fault}`,
    choose: 'Wähle eine Antwort, damit dein Kommentar gespeichert werden kann.',
    wrong: 'Wähle eine der gezeigten Antworten.',
    tooLong: (most) => `Kürze den Kommentar auf ${most} Zeichen.`,
    notAsked: 'Eine der Antworten gehört zu einer Frage, die dir nicht gestellt wird.',
    elsewhere:
      'Diese Frage wurde bereits über einen anderen Link oder in einem anderen Browser beantwortet und kann hier nicht geändert werden.',
    emptyHeading: 'Noch keine Antworten',
    empty: 'Du hast auf dieser Seite noch keine Frage beantwortet.',
  },
  reminders: {
    asked: {
      heading: 'Keine Erinnerungen mehr?',
      text: (company) => `Du bekommst weiterhin Einladungen von ${company}, aber keine Erinnerungen.`,
      button: 'Erinnerungen abstellen',
    },
    stopped: {
      heading: 'Die Erinnerungen sind abgestellt',
      text: (company) => `Du bekommst weiterhin Einladungen von ${company}, aber keine Erinnerungen mehr.`,
      button: 'Wieder erinnern',
    },
    resumed: {
      heading: 'Du wirst wieder erinnert',
      text: (company) => `Du bekommst eine Erinnerung, wenn Fragen von ${company} noch unbeantwortet sind.`,
      button: 'Erinnerungen abstellen',
    },
  },
  plain: {
    dead: {
      heading: 'Dieser Link funktioniert nicht',
      text: 'Vielleicht ist die Woche vorbei, oder ein neuerer Link hat diesen ersetzt. Verwende den Link aus der neuesten E-Mail und achte darauf, ihn vollständig zu kopieren.',
    },
    foreign: {
      heading: 'Nicht angenommen',
      text: 'Das wurde von einer anderen Website gesendet. Öffne deinen Link erneut und antworte dort.',
    },
    away: {
      heading: 'Bitte versuche es gleich noch einmal',
      text: 'Der Dienst ist gerade nicht erreichbar. Was schon gespeichert war, ist nicht verloren; was eben erst gesendet wurde, ist noch nicht gespeichert. Lade diese Seite gleich noch einmal.',
    },
    tooLarge: {
      heading: 'Zu viel Text',
      text: 'Was du gesendet hast, ist nicht gespeichert. Geh im Browser zurück, kürze deine Kommentare und sende sie erneut.',
    },
    defect: {
      heading: 'Bei uns ist etwas schiefgegangen',
      text: 'Was eben erst gesendet wurde, ist nicht gespeichert. Geh im Browser zurück und versuche es noch einmal.',
    },
  },
  sendAgain: 'Erneut senden',
};

export const pageWords = { en: english, sv: swedish, de: german };
