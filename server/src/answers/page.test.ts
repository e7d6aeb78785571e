// The answering page as HTML: what it says in each situation and language, and that foreign text stays text.
import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type QuestionType, questionTypes } from '@soundings/contract/question-types.ts';
import { compress } from '../http/responses/encoding.ts';
import { libraryFor } from '../questions/library.ts';
import type { NewQuestion, Question } from '../questions/questions.sql.ts';
import type { Refusal } from '../sealing/person-answers.ts';
import { anyCharacter, cases } from '../testing/house/cases.ts';
import type { Asking } from './answering.ts';
import { pageAssets } from './page-responses.ts';
import { storedValuesIn, type SubmittedValue } from './form.ts';
import { askingPage, optOutPage, plainPage, thanksPage } from './page.ts';
import { languagesOf, pageLanguage, spokenLanguage } from './page-language.ts';
import { pageTexts, type PlainKind } from './page-texts.ts';

const library = libraryFor('en').questions;
const questionOf = (type: QuestionType, id: number): Question => ({
  // The library need not have questions of every type.
  ...(library.find((one) => one.type === type) ?? { ...(library[0] as NewQuestion), type }),
  id,
  allowsNotApplicable: false,
  retiredAt: null,
});

const asking = (over: Partial<Asking> = {}): Asking => ({
  accountId: 1,
  userId: 1,
  company: 'Nordwind',
  firstName: 'Karin',
  language: 'en',
  week: '2026-11-16',
  timezone: 'Europe/Stockholm',
  thresholds: { figures: 5, distribution: 10, comments: 10 },
  isLive: false,
  breakdowns: [],
  focus: undefined,
  questions: questionTypes.map((type, i) => questionOf(type, 101 + i)),
  answers: new Map(),
  isExported: false,
  isFromCard: false,
  handedBy: null,
  copies: 'none',
  fixed: new Map(),
  ...over,
});

const allFixed = ({ questions }: Pick<Asking, 'questions'>, refusal: Refusal): Asking['fixed'] =>
  new Map(questions.map(({ id }) => [id, refusal]));
const pageOf = (
  over: Partial<Asking> = {},
  language = 'en',
  entered: ReadonlyMap<number, SubmittedValue> = new Map(),
) => askingPage(pageAssets, asking(over), language, entered);

const noAnswer = { value: null, choices: null, comment: null, skipped: false };

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const decoded = (html: string) =>
  html.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] as string);
/** Returns the tags and the names of their attributes. */
const skeleton = (html: string) =>
  (html.match(/<[a-z/!][^>]*>/gi) ?? []).map((tag) => tag.replaceAll(/="[^"]*"/g, '='));
const textOf = (html: string) =>
  decoded(html.replaceAll(/<(style|script)>[\s\S]*?<\/\1>/g, '').replaceAll(/<[^>]*>/g, ' ')).replaceAll(
    /\s+/g,
    ' ',
  );

test('a page behind a link that was sent has a link to turn survey messages off; one that was handed out has none', () => {
  const optOutToken = 'A'.repeat(32);
  const pages = (over: Partial<Asking>) => [
    pageOf(over),
    pageOf({ ...over, fixed: allFixed(asking(), 'elsewhere') }),
    thanksPage(pageAssets, asking(over), 'en'),
  ];
  for (const page of pages({ optOutToken }))
    expect(page).toContain(`<a href="../r/${optOutToken}">Stop reminders or all survey messages</a>`);
  for (const page of pages({ isExported: true })) expect(page).not.toContain('/r/');
});

describe('foreign texts', () => {
  const hostile = fc.oneof(
    fc.constantFrom(
      '</title><script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      "' autofocus onfocus='alert(1)",
      '</textarea></form><form action="https://evil.example">',
      '<!--',
      ']]>',
      '&lt;b&gt; &amp;amp; &#60;',
      '</style><style>*{display:none}',
      '$& $1 $` ${link}',
    ),
    fc.string({ unit: anyCharacter, maxLength: 40 }),
    fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '=', '/', '\n', '`', '-', '!', 'a', ' ') }),
  );
  /** Returns every page with `text` in place of each foreign text. */
  const withText = (text: string) => {
    const questions = questionTypes.map((type, i): Question => {
      const options = type === 5 || type === 6 ? [{ id: `o${text}`, text, translations: { sv: text } }] : [];
      return {
        id: i + 1,
        key: text,
        type,
        text,
        language: 'en',
        translations: { sv: text },
        options,
        allowsNotApplicable: false,
        retiredAt: null,
      };
    });
    const entered = new Map(
      questions.map(({ id }) => [
        id,
        { values: [`o${text}`], comment: `.${text}`, skipped: true, wasKept: true },
      ]),
    );
    const focus = {
      state: 'done' as const,
      group: text,
      action: text,
      subject: text,
      language: null,
      translations: { sv: text },
    };
    const one = asking({ company: text, firstName: text, questions, focus });
    return [
      ...['en', 'sv', 'de'].map((language) =>
        askingPage(pageAssets, one, language, entered, new Map([[1, 'wrong']])),
      ),
      askingPage(pageAssets, { ...one, isExported: true, handedBy: text }, 'en', entered),
      askingPage(pageAssets, { ...one, fixed: new Map([[2, 'elsewhere']]) }, 'en', entered),
      askingPage(pageAssets, { ...one, fixed: allFixed(one, 'elsewhere') }, 'en', entered),
      thanksPage(pageAssets, one, 'en'),
      optOutPage(pageAssets, { kind: 'reminders', state: 'optedOut' }, one),
      optOutPage(pageAssets, { kind: 'digests', state: 'resumed' }, one),
      plainPage(pageAssets, 'en', 'away', { fields: [[text, text]], id: text }),
    ];
  };

  test('stay plain text, whatever they contain', () => {
    const plain = withText('x').map(skeleton);
    fc.assert(
      fc.property(hostile, (text) => {
        expect(withText(text).map(skeleton)).toEqual(plain);
      }),
      cases(40),
    );
  });

  test('appear on the page unchanged', () => {
    const text = '</b> "R&D" <i>\'1\'';
    const entered = new Map([[107, { values: [], comment: `\n${text}`, skipped: false, wasKept: true }]]);
    const page = pageOf({ company: text }, 'en', entered);
    expect(decoded(page)).toContain(`>${text}</b>`);
    // HTML drops the first line break after <textarea>.
    expect(decoded(page)).toContain(`>\n\n${text}</textarea>`);
  });

  test('do not change the direction of the surrounding sentence', () => {
    const page = pageOf({ firstName: '\u202eKarin\u2069', company: 'نوردويند' });
    expect(page).not.toContain('\u202e');
    expect(page).toContain('\u2068نوردويند\u2069 has');
  });
});

describe('the size', () => {
  test('is under 33 KB uncompressed for five questions of each type, even in a language with three bytes per letter', () => {
    const long = 'அணியில் எனக்கு என்ன எதிர்பார்க்கப்படுகிறது என்பது தெளிவாக உள்ளதா';
    for (const type of questionTypes) {
      const questions = [1, 2, 3, 4, 5].map((id): Question => {
        const question = questionOf(type, 1_000_000 + id);
        const options = question.options.map((option) => ({
          ...option,
          translations: { ta: long.slice(0, 24) },
        }));
        return { ...question, translations: { ...question.translations, ta: long }, options };
      });
      for (const language of [...pageTexts.languages, 'ta']) {
        const page = pageOf({ questions, company: 'Nordwind Aktiebolag', isLive: true }, language);
        expect(Buffer.byteLength(page), `type ${type}, ${language}`).toBeLessThan(33_000);
      }
    }
  });

  test('is under 30 KB compressed for 50 questions, the maximum, in a language with three bytes per letter', async () => {
    const phrase = 'அணியில் எனக்கு என்ன எதிர்பார்க்கப்படுகிறது என்பது தெளிவாக உள்ளதா'.split(' ');
    const questions = Array.from({ length: 50 }, (_, i): Question => {
      const question = questionOf(questionTypes[i % questionTypes.length] as QuestionType, 1_000_000 + i);
      // All texts differ: each has its words in a different order.
      const ta = phrase
        .toSorted((a, b) => ((a.length * (i + 7)) % 11) - ((b.length * (i + 7)) % 11))
        .join(' ');
      return { ...question, translations: { ...question.translations, ta } };
    });
    for (const language of ['de', 'ar', 'ta']) {
      const page = pageOf({ questions, company: 'Nordwind Aktiebolag', isLive: true }, language);
      for (const encoding of ['gzip', 'br'] as const) {
        const { length } = await compress(encoding, Buffer.from(page));
        expect(length, `${language}, ${encoding}`).toBeLessThan(30_000);
      }
    }
  });
});

describe('texts', () => {
  test('are in the language of the page, with the date in its format', () => {
    expect(textOf(pageOf({}, 'sv'))).toContain('Hej Karin');
    expect(textOf(pageOf({}, 'sv'))).toContain('till och med söndag 22 november');
    expect(textOf(pageOf({}, 'de'))).toContain('bis einschließlich Sonntag, 22. November');
    expect(textOf(pageOf())).toContain('until the end of Sunday 22 November');
    const answers: Asking['answers'] = new Map([[101, { ...noAnswer, value: 4 }]]);
    expect(textOf(thanksPage(pageAssets, asking({ answers }), 'en'))).toContain(
      'Sunday 22 November (Central European Time)',
    );
    expect(textOf(thanksPage(pageAssets, asking({ answers, timezone: 'Factory' }), 'sv'))).toContain(
      '22 november',
    );
  });
});

describe('privacy', () => {
  const privacyOf = (over: Partial<Asking>) =>
    textOf(/<section id="privacy"[\s\S]*?<\/section>/.exec(pageOf(over))?.[0] ?? '');

  test('says before the first question who sees results, how many answers this takes, and what no one can see', () => {
    const text = privacyOf({});
    expect(text).toContain('Soundings never shows who answered what');
    expect(text).toContain(
      'Managers and administrators at Nordwind, and systems connected to Soundings, see results for groups with at least 5 answers.',
    );
    expect(text).toContain('Distributions and comments are shown for groups with at least 10 answers.');
    expect(text).toContain(
      'only in this browser, as long as it stays open, until the end of Sunday 22 November at the latest. When the week is over, all answers are counted, and the key that links them to you is destroyed.',
    );
    expect(text).not.toContain('live');
    const page = pageOf();
    expect(page.indexOf('id="privacy"')).toBeLessThan(page.indexOf('<form'));
  });

  test("names each threshold if they differ, and one if they don't", () => {
    expect(privacyOf({ thresholds: { figures: 5, distribution: 8, comments: 12 } })).toContain(
      'Distributions are shown for groups with at least 8 answers, and comments for groups with at least 12.',
    );
    expect(privacyOf({ thresholds: { figures: 5, distribution: 5, comments: 5 } })).not.toContain(
      'Distributions',
    );
  });

  test('names the attributes by which results are also shown, escaped, and how many people they need', () => {
    const site = { name: 'Site', by: [{ attribute: 'site', bands: null }] };
    // Whatever an administrator calls it.
    const harmless = { name: 'Place', by: [{ attribute: 'sick leave <zz>', bands: null }] };
    const age = { name: 'Age', by: [{ attribute: 'born', bands: [30, 50] }] };
    const both = { name: 'Site by age', by: [...site.by, ...age.by] };
    expect(privacyOf({ breakdowns: [site, harmless, age, both] })).toContain(
      'Results are also shown across groups by: site; sick leave <zz>, called “Place”; born in bands of years (30, 50), called “Age”; ' +
        'site combined with born in bands of years (30, 50), called “Site by age”. They are never shown for fewer than 5 people.',
    );
    expect(pageOf({ breakdowns: [harmless] })).not.toContain('<zz>');
    const open = { figures: 1, distribution: 1, comments: 1 };
    expect(privacyOf({ breakdowns: [site], thresholds: open })).toContain('by: site.');
    expect(privacyOf({ breakdowns: [site], thresholds: open })).not.toContain('fewer than');
    expect(privacyOf({})).not.toContain('across groups');
  });

  test('says plainly with a threshold of 1 that answers are not anonymous, and why', () => {
    const text = privacyOf({ thresholds: { figures: 1, distribution: 1, comments: 1 } });
    expect(text).toContain('Your answers are not anonymous');
    expect(text).toContain(
      'as soon as one person has answered. If you are the only one in your group to answer',
    );
    expect(text).toContain('counted and deleted. Only results and comments remain.');
    expect(text).not.toMatch(/Soundings never shows|linked to you/);
  });

  test("says for a live week that results are shown while it is open, and that counted answers can't be changed", () => {
    const text = privacyOf({ isLive: true });
    expect(text).toContain('Results are live: they are shown while the week is still open');
    expect(text).toContain('are updated only when at least 5 new answers have come in.');
    expect(text).toContain('Answers that have been counted can’t be changed.');
    expect(text).toContain('sees how each batch of at least 5 new answers changes them.');
  });

  test('promises less if the key to the answers is in the database', () => {
    const text = privacyOf({ copies: 'database' });
    expect(text).toContain('Until older backups and logs of the database are gone');
    expect(text).not.toContain('is destroyed');
    const elsewhere = privacyOf({ copies: 'elsewhere' });
    expect(elsewhere).toContain('a copy of the key to the answers is kept elsewhere');
    expect(elsewhere).not.toContain('is destroyed');
  });

  test('shows each limit of privacy that applies in a collapsed section, in one or two sentences (P20)', () => {
    const page = pageOf();
    const limits = /<details><summary>What this means<\/summary>([\s\S]*?)<\/details>/.exec(page)?.[1] ?? '';
    for (const phrase of [
      'nearly everyone chose that end',
      'Comparing weeks can reveal an answer',
      'Someone who knows that everyone else has answered',
      'Colleagues who share their answers',
      'made-up people',
      'The people who operate Soundings and its database can read answers while the week is open',
      'Anyone who has your link',
      'This page uses one cookie to recognize your browser',
    ]) {
      expect(textOf(limits)).toContain(phrase);
    }
    expect(limits.match(/<li>/g)).toHaveLength(8);
    const open = pageOf({ thresholds: { figures: 1, distribution: 1, comments: 1 }, isLive: true });
    expect(
      open.match(/<details><summary>What this means[\s\S]*?<\/details>/)?.[0].match(/<li>/g),
    ).toHaveLength(2);
    expect(textOf(open)).not.toContain('at least 1');
  });
});

describe('a handed-out link', () => {
  test('says who handed it out and what they could do, that answers given otherwise stay, and hides how many questions are open', () => {
    for (const [language, by, stays, seen] of [
      [
        'en',
        'handed out by Anna A, not sent',
        'already been answered in another way',
        'only in this browser',
      ],
      ['sv', 'delats ut av Anna A och', 'redan har besvarats på annat sätt', 'bara se och ändra'],
      ['de', 'hat Anna A verteilt', 'schon auf anderem Weg beantwortet', 'nur in diesem Browser sehen'],
    ] as const) {
      for (const isLive of [false, true]) {
        const text = textOf(pageOf({ isExported: true, handedBy: 'Anna A', isLive }, language));
        expect(text).toContain(by);
        expect(text).toContain(stays);
        expect(text).not.toContain(seen);
        expect(textOf(pageOf({ isLive }, language))).not.toContain(stays);
      }
      expect(textOf(pageOf({}, language))).toContain(seen);
    }
    const unknown = textOf(pageOf({ isExported: true }));
    expect(unknown).toContain('handed out by your employer');
    expect(unknown).toContain('The person who handed it out could also use it to answer.');
    expect(textOf(thanksPage(pageAssets, asking({ isExported: true }), 'en'))).not.toContain(
      'still unanswered',
    );
    expect(textOf(thanksPage(pageAssets, asking(), 'en'))).toContain('8 questions are still unanswered.');
  });
});

describe("a question that can't be answered here any more", () => {
  const cardOf = (page: string, id: number) =>
    new RegExp(`<div class="card[^"]*" id="q${id}"[\\s\\S]*?(?=<div class="card|<div class="foot)`).exec(
      page,
    )?.[0] ?? '';

  test('has no field, whatever is stored, and says why', () => {
    for (const [refusal, phrase] of [
      ['elsewhere', 'answered with another link or in another browser'],
      ['counted', 'already counted in the live results'],
    ] as const) {
      const answers: Asking['answers'] = new Map([[101, { ...noAnswer, value: 4, comment: 'Because' }]]);
      const over = { answers, fixed: new Map([[101, refusal]]) };
      const card = cardOf(pageOf(over, 'en', storedValuesIn(asking(over))), 101);
      expect(textOf(card)).toContain('You have answered this question');
      expect(textOf(card)).toContain(phrase);
      expect(card).not.toMatch(/<(input|textarea|fieldset|details)|Because/);
      expect(cardOf(pageOf(over), 102)).toContain('<input');
    }
  });

  test('shows a new refusal too, and keeps the other answers for sending them again', () => {
    const entered = new Map([[102, { values: ['3'], comment: '', skipped: false, wasKept: false }]]);
    const page = askingPage(
      pageAssets,
      asking({ isExported: true }),
      'en',
      entered,
      new Map([[101, 'elsewhere']]),
    );
    expect(cardOf(page, 101)).not.toContain('<input');
    expect(cardOf(page, 102)).toContain('value="3" checked');
    expect(textOf(page)).toContain('Question 1: This question was already answered');
    expect(textOf(page)).toContain('Your other answers are still on this page. Send them again.');
  });

  test('if it is the only one, the page says so in a friendly way and has no form', () => {
    for (const [language, heading] of [
      ['en', 'All questions are answered, Karin'],
      ['sv', 'Alla frågor är besvarade, Karin'],
      ['de', 'Alle Fragen sind beantwortet, Karin'],
    ] as const) {
      const page = pageOf({ fixed: allFixed(asking(), 'elsewhere') }, language);
      expect(textOf(page)).toContain(heading);
      expect(page).not.toMatch(/<form|<input|<script/);
      expect(page).toContain('id="privacy"');
    }
    const elsewhere = textOf(pageOf({ fixed: allFixed(asking(), 'elsewhere') }));
    expect(elsewhere).toContain('If it wasn’t you who answered, contact your HR department.');
    expect(elsewhere).not.toContain('only in this browser');
    const counted = textOf(pageOf({ isLive: true, fixed: allFixed(asking(), 'counted') }));
    expect(counted).toContain('Your answers are already counted in the live results');
    expect(counted).not.toContain('wasn’t you');
  });
});

describe('the thank-you page', () => {
  const kept: Asking['answers'] = new Map([[101, { ...noAnswer, value: 4 }]]);
  const thanksOf = (over: Partial<Asking>) => thanksPage(pageAssets, asking(over), 'en');

  test('offers to change answers only if that is possible, and says how long', () => {
    const own = thanksOf({ answers: kept });
    expect(textOf(own)).toContain('as long as it stays open, until the end of Sunday 22 November');
    expect(own).toContain('>Change my answers</a>');
    const live = thanksOf({ answers: kept, isLive: true });
    expect(textOf(live)).toContain('until it is counted in the live results');
    expect(live).toContain('>Change my answers</a>');
    for (const over of [
      { fixed: new Map([[101, 'elsewhere']] as const) },
      { answers: kept, fixed: new Map([[101, 'counted']] as const), isLive: true },
    ]) {
      const page = thanksOf(over);
      expect(page).not.toContain('Change my answers');
      expect(textOf(page)).toContain('They can’t be seen or changed here any more. When the week is over');
      expect(page).toContain('>Continue answering</a>');
    }
    expect(textOf(own)).toContain('Your answers are saved.');
    // With a handed-out link, saying that the answer is saved would reveal whether an earlier one existed.
    const handedOut = textOf(thanksOf({ isExported: true, fixed: new Map([[101, 'elsewhere']]) }));
    expect(handedOut).toContain('Your answers have been received. If a question had already been answered');
    expect(handedOut).not.toMatch(/saved/i);
    expect(textOf(thanksOf({ isExported: true }))).toBe(handedOut);
    expect(thanksOf({ fixed: allFixed(asking(), 'elsewhere') })).not.toContain('<a class="button');
  });
});

describe('errors', () => {
  test('in a form do not claim that nothing was saved, and an empty form has its own text', () => {
    const faulty = textOf(askingPage(pageAssets, asking(), 'en', new Map(), new Map([[101, 'wrong']])));
    expect(faulty).toContain('These answers aren’t saved yet');
    const empty = textOf(askingPage(pageAssets, asking(), 'en', new Map(), 'empty'));
    expect(empty).toContain('No answers yet You haven’t answered any questions on this page yet.');
    for (const page of [faulty, empty]) expect(page).not.toContain('Nothing is saved');
  });
});

describe('languages', () => {
  const persian = (question: Question): Question => ({
    ...question,
    translations: { ...question.translations, fa: 'پرسش' },
  });
  const own = pageTexts.languages;

  test('are those of the page, and those in which every question exists', () => {
    const { questions } = asking();
    expect(languagesOf({ questions }).toSorted()).toEqual(own.toSorted());
    expect(languagesOf({ questions: questions.map(persian) }).toSorted()).toEqual([...own, 'fa'].toSorted());
    expect(
      languagesOf({ questions: [...questions.slice(1).map(persian), questions[0] as Question] }),
    ).not.toContain('fa');
    expect(languagesOf({ questions: [] }).toSorted()).toEqual(own.toSorted());
  });

  test('are listed by their own names', () => {
    const page = pageOf();
    const listed = [...page.matchAll(/<li><a [^>]*>([^<]+)<\/a>/g)].map(([, name]) => name);
    expect(listed.slice(0, 4)).toEqual(['Dansk', 'Deutsch', 'English', 'Español']);
    expect(listed.slice(-3)).toEqual(['Suomi', 'Svenska', 'العربية']);
    expect(page).toContain('<a href="?language=ar" lang="ar" dir="rtl">العربية</a>');
  });

  test("are chosen in this order: requested, the person's, English", () => {
    const one = asking({ language: 'sv' });
    expect(pageLanguage(one, 'de')).toBe('de');
    expect(pageLanguage(one, 'DE')).toBe('de');
    for (const wanted of ['is', undefined, ['de', 'en'], '__proto__', '"><b>']) {
      expect(pageLanguage(one, wanted)).toBe('sv');
    }
    expect(pageLanguage(asking({ language: 'is' }), undefined)).toBe('en');
    expect(pageLanguage(one, 'en')).toBe('en');
    // Norwegian without saying which, and Nynorsk.
    for (const norwegian of ['no', 'nn', 'NN']) expect(pageLanguage(one, norwegian)).toBe('nb');
    expect(pageLanguage(asking({ language: 'no' }), undefined)).toBe('nb');
  });

  test('of a page for an unknown person follow the browser', () => {
    const spoken: [string | undefined, string][] = [
      [undefined, 'en'],
      ['', 'en'],
      ['sv-SE,sv;q=0.9,en;q=0.8', 'sv'],
      ['is,en;q=0.5,de;q=0.7', 'de'],
      ['no,en;q=0.9', 'nb'],
      ['nn-NO,nn;q=0.9,en;q=0.8', 'nb'],
      ['ar-EG,en;q=0.9', 'ar'],
      ['de;q=0,sv;q=0.1', 'sv'],
      ['constructor', 'en'],
      [';q=;;,,q', 'en'],
    ];
    for (const [header, language] of spoken) expect(spokenLanguage(header), `${header}`).toBe(language);
  });

  test('written right to left turn the whole page, and English parts are marked as English', () => {
    const page = pageOf({ questions: asking().questions.map(persian) }, 'fa');
    expect(page).toContain('<html lang="fa" dir="rtl">');
    expect(page).toContain('<h1><span lang="en" dir="ltr">Hi Karin</span></h1>');
    expect(page).toContain('<span id="t101">پرسش</span>');
  });

  test('of the page: every text is in the language, and so is the date', () => {
    for (const language of own) {
      const page = pageOf({}, language);
      const direction = language === 'ar' ? 'rtl' : 'ltr';
      expect(page).toContain(`<html lang="${language}" dir="${direction}">`);
      const others = [...page.matchAll(/<(?!a )\w+[^>]* lang="(\w+)"/g)].map(([, other]) => other);
      expect(others).toEqual([language]);
      expect(textOf(page)).toContain(pageTexts.in(language)('privacy.heading'));
    }
    const until = { pl: 'niedziela, 22 listopada', fi: 'sunnuntai 22. marraskuuta', ar: 'الأحد، 22 نوفمبر' };
    for (const [language, day] of Object.entries(until)) expect(textOf(pageOf({}, language))).toContain(day);
  });

  test("that a question has other than the page's are marked", () => {
    const question: Question = {
      ...questionOf(5, 1),
      text: 'Kaj je novega?',
      language: 'sl',
      translations: {},
      options: [{ id: 'a', text: 'Nič', translations: { sv: 'Inget' } }],
    };
    expect(pageOf({ questions: [question] }, 'sv')).toContain('<span id="t1" lang="sl">Kaj je novega?');
    expect(pageOf({ questions: [question] }, 'sv')).toContain('value="a">Inget</label>');
    expect(pageOf({ questions: [question] })).toContain('value="a"><span lang="sl">Nič</span></label>');
  });

  test('need no left or right in the style', () => {
    expect(pageAssets.style).not.toMatch(
      /(margin|padding|border)-(left|right)|(^|[{;\s])(left|right):|: ?(left|right)\b/m,
    );
  });
});

describe('stored answers', () => {
  test('are shown in their questions', () => {
    const [, , , , single, several] = asking().questions as [
      Question,
      Question,
      Question,
      Question,
      Question,
      Question,
    ];
    const chosen = several.options.slice(0, 2).map(({ id }) => id);
    const answers: Asking['answers'] = new Map([
      [101, { ...noAnswer, value: 4, comment: 'Because' }],
      [103, { ...noAnswer, value: 0 }],
      [104, { ...noAnswer, value: 0 }],
      [105, { ...noAnswer, choices: [single.options[1]?.id as string] }],
      [106, { ...noAnswer, choices: chosen }],
      [107, { ...noAnswer, skipped: true }],
      [108, { ...noAnswer, value: 4 }],
    ]);
    const page = pageOf({ answers }, 'en', storedValuesIn(asking({ answers })));
    const checked = [...page.matchAll(/name="(\w+)" value="([^"]*)"[^>]* checked/g)].map(
      ([, name, value]) => `${name}=${value}`,
    );
    expect(checked).toEqual([
      'q101=4',
      'q103=0',
      'q104=no',
      `q105=${single.options[1]?.id}`,
      ...chosen.map((id) => `q106=${id}`),
      's107=1',
      'q108=4',
    ]);
    expect(page).toContain('>\nBecause</textarea>');
    expect(page).toMatch(/<details open><summary>Add a comment/);
    expect(textOf(thanksPage(pageAssets, asking({ answers }), 'en'))).toContain(
      'One question is still unanswered.',
    );
  });
});

describe('colours', () => {
  const css = readFileSync(new URL('page.css', import.meta.url), 'utf8');
  const themes = [0, 1].map(
    (theme) =>
      new Map(
        [...css.matchAll(/--([\w-]+): light-dark\((#\w+), (#\w+)\)/g)].map(([, name, ...pair]) => [
          name,
          pair[theme],
        ]),
      ),
  );
  function luminance(colour: string): number {
    const hex = colour.length === 4 ? colour.replaceAll(/[^#]/g, '$&$&') : colour;
    const [r, g, b] = [1, 3, 5].map((at) => {
      const part = parseInt(hex.slice(at, at + 2), 16) / 255;
      return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  test('meet the contrast of WCAG 2.2 AA in both themes: 4.5 for text, 3 for the edges of controls', () => {
    const letters = [
      'ink page',
      'ink sheet',
      'ink wash',
      'ink warn-wash',
      'ink bad-wash',
      'soft page',
      'soft sheet',
      'accent sheet',
      'accent wash',
      'accent warn-wash',
      'on accent',
      'bad sheet',
      'bad page',
    ];
    const edges = ['edge sheet', 'accent wash', 'accent page', 'accent sheet', 'bad sheet'];
    for (const theme of themes) {
      expect(theme.size).toBe(12);
      for (const [pairs, minimum] of [
        [letters, 4.5],
        [edges, 3],
      ] as const) {
        for (const pair of pairs) {
          const [a, b] = pair.split(' ').map((name) => luminance(theme.get(name) as string)) as [
            number,
            number,
          ];
          expect((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), `${pair}`).toBeGreaterThanOrEqual(
            minimum,
          );
        }
      }
    }
  });
});

describe('plain pages', () => {
  test('are the same for everyone, in every language', () => {
    const kinds: PlainKind[] = ['dead', 'foreign', 'away', 'tooLarge', 'defect'];
    const pages = kinds.flatMap((kind) => pageTexts.languages.map((one) => plainPage(pageAssets, one, kind)));
    expect(new Set(pages).size).toBe(5 * pageTexts.languages.length);
    for (const page of pages) expect(page).not.toMatch(/<script>|<form/);
  });
});
