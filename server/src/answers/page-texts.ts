// Texts of the answering page in English, Swedish and German. Pure. They are plain text: the page escapes them.
import type { Refusal } from '../sealing/person-answers.ts';
import type { KeyCopies } from './answering.sql.ts';

export type PageTexts = {
  /** The locale that dates are formatted in. */
  locale: string;
  /** The title of the browser tab. */
  title: (company: string) => string;
  language: string;
  /** `firstName` is '' if the person has none. */
  greeting: (firstName: string) => string;
  asks: (company: string, questions: number) => string;
  privacy: {
    heading: string;
    /** Who sees results, and the number of answers needed. */
    figures: (company: string, threshold: number) => string;
    /** Added if distributions or comments need a different number of answers. */
    distribution: (distribution: number, comments: number) => string;
    /** Replace the three texts above if the threshold is 1. */
    openHeading: string;
    open: (company: string) => string;
    /** Added if results of the open week are shown. They change in batches of at least `threshold` new answers. */
    live: (threshold: number) => string;
    /** Where and until when answers can be changed. */
    until: (day: string) => string;
    untilLive: (day: string) => string;
    /** What happens to the answers when the week is over, depending on where copies of their key are. */
    afterwards: Record<KeyCopies, string>;
    /** The same if results are shown from the first answer on. */
    deleted: string;
    /** For a link that the employer handed out. `by`: the person who did, '' if unknown. */
    handedOut: (by: string) => string;
    /** The limits of the protection, one sentence or two each. */
    limits: {
      heading: string;
      unanimity: string;
      weeks: string;
      skip: string;
      colleagues: string;
      invented: string;
      live: (threshold: number) => string;
      operator: string;
      link: string;
      cookie: string;
    };
  };
  /** Shown in place of a question that can no longer be answered here, with the reason. */
  answered: Record<Refusal, string> & { heading: string };
  /** Shown instead of the form if no question is left to answer. */
  allAnswered: Record<Refusal, string> & {
    heading: (firstName: string) => string;
    text: string;
    notYou: string;
  };
  /** The number of the question, and how many there are. */
  count: (at: number, of: number) => string;
  addComment: string;
  comment: string;
  commentHint: string;
  skip: string;
  /** Shown beside the `skip` box while it is ticked and the comment field has text. */
  dropped: string;
  /** Shown beside it after it was unticked, as long as there is no answer to save instead. */
  stillSkipped: string;
  back: string;
  next: string;
  finish: string;
  send: string;
  saving: string;
  saved: string;
  /** Shown instead of `saved` if the link was handed out. */
  received: string;
  unsaved: string;
  /** The link has stopped working while the page was open. */
  ended: string;
  thanks: {
    heading: (firstName: string) => string;
    text: string;
    /** If the link was handed out. Saying which answers were saved would reveal what had been answered before. */
    received: string;
    until: (day: string, zone: string) => string;
    untilLive: (day: string, zone: string) => string;
    /** If none of the answers can be changed here. */
    fixed: string;
    open: (questions: number) => string;
    change: string;
    /** Shown instead of `change` if only unanswered questions can be answered. */
    rest: string;
  };
  faults: {
    heading: string;
    /** One entry in the list of faults. */
    at: (question: number, fault: string) => string;
    choose: string;
    wrong: string;
    tooLong: (characters: number) => string;
    notAsked: string;
    /** The question was answered with another link or in another browser. */
    elsewhere: string;
    /** The live figures already count the answer. */
    counted: string;
    /** Follows `elsewhere` and `counted`: what to do with the other answers. */
    again: string;
    /** Shown instead of the heading and the list if nothing was answered. */
    emptyHeading: string;
    empty: string;
  };
  reminders: Record<RemindersState, { heading: string; text: (company: string) => string; button: string }>;
  plain: Record<PlainKind, { heading: string; text: string }>;
  sendAgain: string;
};

/** Whether the page asks about stopping reminders, or the person has just stopped or resumed them. */
export type RemindersState = 'asked' | 'stopped' | 'resumed';

/** The pages without questions, which have only a heading and a sentence or two. */
export type PlainKind = 'dead' | 'foreign' | 'away' | 'tooLarge' | 'defect';

const english: PageTexts = {
  locale: 'en-GB',
  title: (company) => `Questions from ${company}`,
  language: 'Language',
  greeting: (firstName) => (firstName === '' ? 'Hi' : `Hi ${firstName}`),
  asks: (company, questions) =>
    questions === 1
      ? `${company} has one question for you.`
      : `${company} has ${questions} questions for you.`,
  privacy: {
    heading: 'No one is shown who answered what',
    figures: (company, threshold) =>
      `Managers and administrators at ${company}, and systems connected to Soundings, see results for groups with at least ${threshold} answers.`,
    distribution: (distribution, comments) =>
      distribution === comments
        ? `Distributions and comments are shown for groups with at least ${distribution} answers.`
        : `Distributions are shown for groups with at least ${distribution} answers, comments with at least ${comments}.`,
    openHeading: 'Your answers are not anonymous',
    open: (company) =>
      `Managers and administrators at ${company}, and systems connected to Soundings, see group results from the first answer on. If you are the only one in your group to answer, they see what you answered.`,
    live: (threshold) =>
      threshold <= 1
        ? 'Results are live: they are shown while the week is still open.'
        : `Results are live: they are shown while the week is still open, and are updated only when at least ${threshold} new answers have come in.`,
    until: (day) =>
      `You can see and change your answers only in this browser, as long as it stays open, until the end of ${day} at the latest.`,
    untilLive: (day) =>
      `You can see and change an answer only in this browser, as long as it stays open, until the live results count it, or until the end of ${day} at the latest. Answers that have been counted can’t be changed.`,
    afterwards: {
      none: 'When the week is over, all answers are counted, and the key that links them to you is destroyed.',
      database:
        'When the week is over, all answers are counted and deleted. Until older backups and logs of the database are gone, the people who operate it could still find out who answered what.',
      elsewhere:
        'When the week is over, all answers are counted and deleted. However, a copy of the key to the answers is kept elsewhere. Anyone who has this copy and older backups or logs of the database could still find out who answered what.',
    },
    deleted: 'When the week is over, all answers are counted and deleted. Only results and comments remain.',
    handedOut: (by) =>
      `This link was handed out by ${by === '' ? 'your employer' : by}, not sent to you by Soundings. The person who handed it out could also use it to answer. So that no one can use it to find out whether you have answered, it doesn’t show any answers, not even your own. To change an answer, answer again in this browser, as long as it stays open. If the question has already been answered in another way, or the answer is already counted in the results, the earlier answer stays.`,
    limits: {
      heading: 'What this means',
      unanimity:
        'If nearly everyone in a group gives the same answer, the result shows it: an average close to the end of the scale means that nearly everyone chose that end.',
      weeks:
        'Comparing weeks can reveal an answer: for example, when one person leaves a group and the others answer the same as before.',
      skip: 'Results show how many answers they are based on. Someone who knows that everyone else has answered can tell that you haven’t, or that you chose “I’d rather not answer”.',
      colleagues:
        'Colleagues who share their answers with each other can work out the last one. A comment can be recognized by its style, or by something that only you know.',
      invented:
        'An administrator who adds made-up people to a group and answers for them can narrow down what the real people answered.',
      live: (threshold) =>
        `Someone who watches live results sees how each batch of at least ${threshold} new answers changes them.`,
      operator:
        'The people who operate Soundings and its database can read answers while the week is open. If they keep copies of the database and the key from that time, they can also read the answers afterwards.',
      link: 'Anyone who has your link, such as the administrators of your email, can answer what you haven’t answered yet. They can’t see or change your answers.',
      cookie:
        'This page uses one cookie to recognize your browser until you close it. Without it, you can’t change your answers after you leave this page.',
    },
  },
  answered: {
    heading: 'You have answered this question',
    elsewhere:
      'It was answered with another link or in another browser. The answer is shown only there and can’t be changed here.',
    counted: 'The live results already count your answer, so it can’t be changed.',
  },
  allAnswered: {
    heading: (firstName) =>
      firstName === '' ? 'All questions are answered' : `All questions are answered, ${firstName}`,
    text: 'You have no more questions this week. Thank you!',
    elsewhere:
      'The questions were answered with another link or in another browser. The answers are shown only there and can’t be changed here.',
    counted: 'The live results already count your answers, so they can’t be changed.',
    notYou: 'If it wasn’t you who answered, contact your HR department.',
  },
  count: (at, of) => `${at} of ${of}`,
  addComment: 'Add a comment',
  comment: 'Comment',
  commentHint: 'Shown word for word, without your name.',
  skip: 'I’d rather not answer',
  dropped: 'What you’ve written isn’t saved while this box is ticked.',
  stillSkipped: '“I’d rather not answer” stays saved until you answer.',
  back: 'Back',
  next: 'Next',
  finish: 'Finish',
  send: 'Send answers',
  saving: 'Saving…',
  saved: 'Saved',
  received: 'Received',
  unsaved: 'Not saved yet. Your answer stays on this page and is sent again automatically.',
  ended: 'Not saved. The week may be over, or a newer link may have replaced this one.',
  thanks: {
    heading: (firstName) => (firstName === '' ? 'Thank you!' : `Thank you, ${firstName}!`),
    text: 'Your answers are saved.',
    received:
      'Your answers have been received. If a question had already been answered in another way, or an answer was already counted in the results, the earlier answer stays.',
    until: (day, zone) =>
      `You can change them in this browser, as long as it stays open, until the end of ${day} (${zone}) at the latest.`,
    untilLive: (day, zone) =>
      `You can change an answer in this browser, as long as it stays open, until the live results count it, or until the end of ${day} (${zone}) at the latest.`,
    fixed: 'They can’t be seen or changed here anymore.',
    open: (questions) =>
      questions === 1 ? 'One question is still unanswered.' : `${questions} questions are still unanswered.`,
    change: 'Change my answers',
    rest: 'Continue answering',
  },
  faults: {
    heading: 'These answers aren’t saved yet',
    at: (question, fault) => `Question ${question}: ${fault}`,
    choose: 'Choose an answer so that your comment can be saved.',
    wrong: 'Choose one of the answers shown.',
    tooLong: (characters) => `Shorten the comment to ${characters} characters.`,
    notAsked: 'One of the answers is to a question that you weren’t asked.',
    elsewhere:
      'This question was already answered with another link or in another browser. Your new answer can’t be saved.',
    counted: 'The live results already count your answer to this question. Your change can’t be saved.',
    again: 'Your other answers are still on this page. Send them again.',
    emptyHeading: 'No answers yet',
    empty: 'You haven’t answered any questions on this page yet.',
  },
  reminders: {
    asked: {
      heading: 'No more reminders?',
      text: (company) => `You will still get invitations from ${company}, but no reminders.`,
      button: 'Stop reminders',
    },
    stopped: {
      heading: 'Reminders stopped',
      text: (company) => `You will still get invitations from ${company}, but no more reminders.`,
      button: 'Turn reminders back on',
    },
    resumed: {
      heading: 'Reminders are back on',
      text: (company) => `You will get a reminder when questions from ${company} are still unanswered.`,
      button: 'Stop reminders',
    },
  },
  plain: {
    dead: {
      heading: 'This link doesn’t work',
      text: 'The week may be over, or a newer link may have replaced this one. Use the link in your latest email, and make sure to copy all of it.',
    },
    foreign: {
      heading: 'Not accepted',
      text: 'This form was sent from another website. Open your link again and answer there.',
    },
    away: {
      heading: 'Please try again in a moment',
      text: 'The service can’t be reached right now. Nothing that was saved has been lost, but anything you sent just now isn’t saved yet. Reload this page in a moment.',
    },
    tooLarge: {
      heading: 'Too much text',
      text: 'What you sent isn’t saved. Go back in your browser, shorten your comments, and send them again.',
    },
    defect: {
      heading: 'Something went wrong on our side',
      text: 'Anything you sent just now isn’t saved. Go back in your browser and try again.',
    },
  },
  sendAgain: 'Send again',
};

const swedish: PageTexts = {
  locale: 'sv-SE',
  title: (company) => `Frågor från ${company}`,
  language: 'Språk',
  greeting: (firstName) => (firstName === '' ? 'Hej' : `Hej ${firstName}`),
  asks: (company, questions) =>
    questions === 1 ? `${company} har en fråga till dig.` : `${company} har ${questions} frågor till dig.`,
  privacy: {
    heading: 'Ingen får se vem som har svarat vad',
    figures: (company, threshold) =>
      `Chefer och administratörer på ${company}, och system som är anslutna till Soundings, ser gruppresultat från och med ${threshold} svar.`,
    distribution: (distribution, comments) =>
      distribution === comments
        ? `Svarsfördelningar och kommentarer visas från och med ${distribution} svar.`
        : `Svarsfördelningar visas från och med ${distribution} svar, kommentarer från och med ${comments}.`,
    openHeading: 'Dina svar är inte anonyma',
    open: (company) =>
      `Chefer och administratörer på ${company}, och system som är anslutna till Soundings, ser gruppresultat redan från första svaret. Om du är den enda i din grupp som svarar, ser de vad du har svarat.`,
    live: (threshold) =>
      threshold <= 1
        ? 'Resultaten visas direkt, medan veckan fortfarande pågår.'
        : `Resultaten visas direkt, medan veckan fortfarande pågår, och ändras först när det har kommit minst ${threshold} nya svar.`,
    until: (day) =>
      `Du kan bara se och ändra dina svar i den här webbläsaren, så länge den är öppen, dock längst till och med ${day}.`,
    untilLive: (day) =>
      `Du kan bara se och ändra ett svar i den här webbläsaren, så länge den är öppen, tills det räknas i resultaten, dock längst till och med ${day}. Svar som har räknats går inte att ändra.`,
    afterwards: {
      none: 'När veckan är slut räknas alla svar, och nyckeln som kopplar dem till dig förstörs.',
      database:
        'När veckan är slut räknas alla svar och raderas. Tills äldre säkerhetskopior och loggar av databasen är borta kan den som driver den fortfarande ta reda på vem som har svarat vad.',
      elsewhere:
        'När veckan är slut räknas alla svar och raderas. Men det finns en kopia av nyckeln till svaren på ett annat ställe. Den som har kopian och äldre säkerhetskopior eller loggar av databasen kan fortfarande ta reda på vem som har svarat vad.',
    },
    deleted: 'När veckan är slut räknas alla svar och raderas. Bara resultat och kommentarer finns kvar.',
    handedOut: (by) =>
      `Länken har delats ut av ${by === '' ? 'din arbetsgivare' : by} och har inte skickats till dig av Soundings. Den som har delat ut den kan också svara med den. För att ingen ska kunna använda den för att ta reda på om du har svarat visar den inga svar, inte ens dina egna. Du kan ändra ett svar genom att svara igen i den här webbläsaren, så länge den är öppen. Om en fråga redan har besvarats på annat sätt, eller svaret redan räknas i resultaten, gäller det tidigare svaret.`,
    limits: {
      heading: 'Vad det här betyder',
      unanimity:
        'Om nästan alla i en grupp svarar likadant syns det i resultatet: ett medelvärde nära skalans ände betyder att nästan alla har valt den änden.',
      weeks:
        'Den som jämför veckor kan ibland räkna ut ett svar, till exempel när en person lämnar en grupp och de andra svarar som förut.',
      skip: 'Resultaten visar hur många svar de bygger på. Den som vet att alla andra har svarat kan förstå att du inte har gjort det, eller att du valde ”Jag vill inte svara”.',
      colleagues:
        'Kollegor som berättar för varandra vad de har svarat kan räkna ut det sista svaret. En kommentar kan kännas igen på stilen, eller på något som bara du vet.',
      invented:
        'En administratör som lägger till påhittade personer i en grupp och svarar åt dem kan ringa in vad de riktiga personerna har svarat.',
      live: (threshold) =>
        `Den som följer resultaten medan veckan pågår ser hur varje omgång på minst ${threshold} nya svar ändrar dem.`,
      operator:
        'De som driftar Soundings och dess databas kan läsa svar medan veckan pågår. Med kopior av databasen och nyckeln från den tiden går det även efteråt.',
      link: 'Alla som har din länk, till exempel de som sköter din e-post, kan svara på det du inte har svarat på än. De kan inte se eller ändra dina svar.',
      cookie:
        'En kaka gör att din webbläsare känns igen tills du stänger den. Utan den kan du inte ändra dina svar när du har lämnat sidan.',
    },
  },
  answered: {
    heading: 'Du har svarat på den här frågan',
    elsewhere:
      'Frågan har besvarats via en annan länk eller i en annan webbläsare. Svaret visas bara där och går inte att ändra här.',
    counted: 'Ditt svar räknas redan i resultaten och går inte att ändra.',
  },
  allAnswered: {
    heading: (firstName) =>
      firstName === '' ? 'Alla frågor är besvarade' : `Alla frågor är besvarade, ${firstName}`,
    text: 'Du har inga fler frågor den här veckan. Tack!',
    elsewhere:
      'Frågorna har besvarats via en annan länk eller i en annan webbläsare. Svaren visas bara där och går inte att ändra här.',
    counted: 'Dina svar räknas redan i resultaten och går inte att ändra.',
    notYou: 'Om det inte var du som svarade, kontakta din HR-avdelning.',
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
  received: 'Mottaget',
  unsaved: 'Inte sparat än. Ditt svar finns kvar på sidan och skickas igen automatiskt.',
  ended: 'Inte sparat. Veckan kan vara slut, eller så har en nyare länk ersatt den här.',
  thanks: {
    heading: (firstName) => (firstName === '' ? 'Tack!' : `Tack, ${firstName}!`),
    text: 'Dina svar är sparade.',
    received:
      'Dina svar är mottagna. Om en fråga redan hade besvarats på annat sätt, eller ett svar redan räknades i resultaten, gäller det tidigare svaret.',
    until: (day, zone) =>
      `Du kan ändra dem i den här webbläsaren, så länge den är öppen, dock längst till och med ${day} (${zone}).`,
    untilLive: (day, zone) =>
      `Du kan ändra ett svar i den här webbläsaren, så länge den är öppen, tills det räknas i resultaten, dock längst till och med ${day} (${zone}).`,
    fixed: 'De går inte längre att se eller ändra här.',
    open: (questions) =>
      questions === 1
        ? 'En fråga är fortfarande obesvarad.'
        : `${questions} frågor är fortfarande obesvarade.`,
    change: 'Ändra mina svar',
    rest: 'Fortsätt svara',
  },
  faults: {
    heading: 'De här svaren är inte sparade än',
    at: (question, fault) => `Fråga ${question}: ${fault}`,
    choose: 'Välj ett svar så att din kommentar kan sparas.',
    wrong: 'Välj ett av svaren som visas.',
    tooLong: (characters) => `Korta ner kommentaren till ${characters} tecken.`,
    notAsked: 'Ett av svaren gäller en fråga som inte ställs till dig.',
    elsewhere:
      'Frågan har redan besvarats via en annan länk eller i en annan webbläsare. Ditt nya svar kan inte sparas.',
    counted: 'Ditt svar på frågan räknas redan i resultaten. Ändringen kan inte sparas.',
    again: 'Dina andra svar finns kvar på sidan. Skicka dem igen.',
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
      button: 'Slå på påminnelser igen',
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
      text: 'Formuläret skickades från en annan webbplats. Öppna din länk igen och svara där.',
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

const german: PageTexts = {
  locale: 'de-DE',
  title: (company) => `Fragen von ${company}`,
  language: 'Sprache',
  greeting: (firstName) => (firstName === '' ? 'Hallo' : `Hallo ${firstName}`),
  asks: (company, questions) =>
    questions === 1 ? `${company} hat eine Frage an dich.` : `${company} hat ${questions} Fragen an dich.`,
  privacy: {
    heading: 'Niemandem wird gezeigt, wer was geantwortet hat',
    figures: (company, threshold) =>
      `Führungskräfte und die Administration von ${company} sowie mit Soundings verbundene Systeme sehen Gruppenergebnisse ab ${threshold} Antworten.`,
    distribution: (distribution, comments) =>
      distribution === comments
        ? `Verteilungen und Kommentare werden ab ${distribution} Antworten gezeigt.`
        : `Verteilungen werden ab ${distribution} Antworten gezeigt, Kommentare ab ${comments}.`,
    openHeading: 'Deine Antworten sind nicht anonym',
    open: (company) =>
      `Führungskräfte und die Administration von ${company} sowie mit Soundings verbundene Systeme sehen Gruppenergebnisse schon ab der ersten Antwort. Wenn in deiner Gruppe nur du antwortest, sehen sie, was du geantwortet hast.`,
    live: (threshold) =>
      threshold <= 1
        ? 'Die Ergebnisse sind live: Sie werden schon gezeigt, während die Woche noch läuft.'
        : `Die Ergebnisse sind live: Sie werden schon gezeigt, während die Woche noch läuft, und ändern sich erst, wenn mindestens ${threshold} neue Antworten da sind.`,
    until: (day) =>
      `Nur in diesem Browser kannst du deine Antworten sehen und ändern, solange er geöffnet bleibt, längstens bis einschließlich ${day}.`,
    untilLive: (day) =>
      `Nur in diesem Browser kannst du eine Antwort sehen und ändern, solange er geöffnet bleibt, bis sie in den Ergebnissen zählt, längstens bis einschließlich ${day}. Antworten, die schon zählen, lassen sich nicht mehr ändern.`,
    afterwards: {
      none: 'Wenn die Woche vorbei ist, werden alle Antworten gezählt, und der Schlüssel, der sie mit dir verbindet, wird vernichtet.',
      database:
        'Wenn die Woche vorbei ist, werden alle Antworten gezählt und gelöscht. Bis ältere Sicherungen und Protokolle der Datenbank gelöscht sind, könnte ihr Betreiber noch herausfinden, wer was geantwortet hat.',
      elsewhere:
        'Wenn die Woche vorbei ist, werden alle Antworten gezählt und gelöscht. Eine Kopie des Schlüssels zu den Antworten liegt aber an einem anderen Ort. Wer diese Kopie und ältere Sicherungen oder Protokolle der Datenbank hat, könnte noch herausfinden, wer was geantwortet hat.',
    },
    deleted:
      'Wenn die Woche vorbei ist, werden alle Antworten gezählt und gelöscht; nur Ergebnisse und Kommentare bleiben.',
    handedOut: (by) =>
      `Dieser Link wurde von ${by === '' ? 'deinem Arbeitgeber' : by} ausgegeben und dir nicht von Soundings geschickt. Wer ihn ausgegeben hat, könnte auch selbst damit antworten. Damit niemand damit herausfinden kann, ob du geantwortet hast, zeigt er keine Antworten, auch nicht deine eigenen. Du kannst eine Antwort ändern, indem du sie in diesem Browser noch einmal gibst, solange er geöffnet bleibt. Wenn eine Frage schon auf anderem Weg beantwortet wurde oder die Antwort in den Ergebnissen schon zählt, bleibt es bei der früheren Antwort.`,
    limits: {
      heading: 'Was das bedeutet',
      unanimity:
        'Wenn in einer Gruppe fast alle dasselbe antworten, zeigt das auch das Ergebnis: Ein Mittelwert nahe am Ende der Skala heißt, dass fast alle dieses Ende gewählt haben.',
      weeks:
        'Wer Wochen vergleicht, kann manchmal eine Antwort erschließen, zum Beispiel wenn eine Person die Gruppe verlässt und die anderen antworten wie zuvor.',
      skip: 'Ergebnisse zeigen, auf wie vielen Antworten sie beruhen. Wer weiß, dass alle anderen geantwortet haben, kann erkennen, dass du nicht geantwortet oder „Ich möchte nicht antworten“ gewählt hast.',
      colleagues:
        'Wenn sich Kolleginnen und Kollegen ihre Antworten verraten, können sie die letzte erschließen. Ein Kommentar kann am Stil erkannt werden, oder an etwas, das nur du weißt.',
      invented:
        'Wer in der Administration erfundene Personen in eine Gruppe aufnimmt und für sie antwortet, kann eingrenzen, was die echten Personen geantwortet haben.',
      live: (threshold) =>
        `Wer Live-Ergebnisse beobachtet, sieht, wie jeweils mindestens ${threshold} neue Antworten sie verändern.`,
      operator:
        'Wer Soundings und die Datenbank betreibt, kann Antworten lesen, solange die Woche läuft. Mit Kopien der Datenbank und des Schlüssels aus dieser Zeit geht das auch danach.',
      link: 'Wer deinen Link hat, zum Beispiel die Administration deines E-Mail-Postfachs, kann beantworten, was du noch nicht beantwortet hast. Deine Antworten sehen oder ändern kann damit niemand.',
      cookie:
        'Ein Cookie erkennt deinen Browser wieder, bis du ihn schließt. Ohne das Cookie kannst du deine Antworten nicht mehr ändern, wenn du diese Seite verlassen hast.',
    },
  },
  answered: {
    heading: 'Du hast diese Frage beantwortet',
    elsewhere:
      'Sie wurde über einen anderen Link oder in einem anderen Browser beantwortet. Die Antwort wird nur dort gezeigt und lässt sich hier nicht ändern.',
    counted: 'Deine Antwort zählt bereits in den Live-Ergebnissen und lässt sich nicht mehr ändern.',
  },
  allAnswered: {
    heading: (firstName) =>
      firstName === '' ? 'Alle Fragen sind beantwortet' : `Alle Fragen sind beantwortet, ${firstName}`,
    text: 'Diese Woche gibt es keine weiteren Fragen an dich. Vielen Dank!',
    elsewhere:
      'Die Fragen wurden über einen anderen Link oder in einem anderen Browser beantwortet. Die Antworten werden nur dort gezeigt und lassen sich hier nicht ändern.',
    counted: 'Deine Antworten zählen bereits in den Live-Ergebnissen und lassen sich nicht mehr ändern.',
    notYou: 'Falls nicht du geantwortet hast, wende dich an deine Personalabteilung.',
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
  received: 'Angekommen',
  unsaved:
    'Noch nicht gespeichert. Deine Antwort bleibt auf dieser Seite und wird automatisch erneut gesendet.',
  ended: 'Nicht gespeichert. Vielleicht ist die Woche vorbei, oder ein neuerer Link hat diesen ersetzt.',
  thanks: {
    heading: (firstName) => (firstName === '' ? 'Vielen Dank!' : `Vielen Dank, ${firstName}!`),
    text: 'Deine Antworten sind gespeichert.',
    received:
      'Deine Antworten sind angekommen. Wenn eine Frage schon auf anderem Weg beantwortet war oder die Antwort in den Ergebnissen schon zählte, bleibt es bei der früheren Antwort.',
    until: (day, zone) =>
      `Du kannst sie in diesem Browser ändern, solange er geöffnet bleibt, längstens bis einschließlich ${day} (${zone}).`,
    untilLive: (day, zone) =>
      `Du kannst eine Antwort in diesem Browser ändern, solange er geöffnet bleibt, bis sie in den Ergebnissen zählt, längstens bis einschließlich ${day} (${zone}).`,
    fixed: 'Hier lassen sie sich nicht mehr sehen oder ändern.',
    open: (questions) =>
      questions === 1 ? 'Eine Frage ist noch offen.' : `${questions} Fragen sind noch offen.`,
    change: 'Meine Antworten ändern',
    rest: 'Weiter antworten',
  },
  faults: {
    heading: 'Diese Antworten sind noch nicht gespeichert',
    at: (question, fault) => `Frage ${question}: ${fault}`,
    choose: 'Wähle eine Antwort, damit dein Kommentar gespeichert werden kann.',
    wrong: 'Wähle eine der gezeigten Antworten.',
    tooLong: (characters) => `Kürze den Kommentar auf ${characters} Zeichen.`,
    notAsked: 'Eine der Antworten gehört zu einer Frage, die dir nicht gestellt wird.',
    elsewhere:
      'Diese Frage wurde bereits über einen anderen Link oder in einem anderen Browser beantwortet. Deine neue Antwort kann nicht gespeichert werden.',
    counted:
      'Deine Antwort auf diese Frage zählt bereits in den Live-Ergebnissen. Die Änderung kann nicht gespeichert werden.',
    again: 'Deine anderen Antworten stehen noch auf dieser Seite. Sende sie noch einmal.',
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
      button: 'Erinnerungen wieder einschalten',
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
      text: 'Das Formular wurde von einer anderen Website gesendet. Öffne deinen Link erneut und antworte dort.',
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

export const pageTexts = { en: english, sv: swedish, de: german };
