// The answering page as HTML, out of what a link opens. Pure. It works without its script, loads nothing, and is under
// 30 KB as it is sent. Every text of others is escaped, and each text says which language it is in where that is not the page's.
import { escaped } from '../base/html.ts';
import { maxCommentLength } from '@soundings/contract/limits.ts';
import { lastDay } from '@soundings/contract/weeks.ts';
import { libraryLanguage, scaleWords } from '../questions/library-words.ts';
import type { Question } from '../questions/questions.ts';
import { freeText } from '../questions/types.ts';
import type { Refusal } from '../sealing/person-answers.ts';
import type { Asking } from './answering.ts';
import { isEmptiable, type Said } from './form.ts';
import { type PageWords, pageWords, type PlainKind, type RemindersState } from './page-words.ts';

/** What stands inline in a page. */
export type Dress = { style: string; script: string };

/** What is wrong with an answer, by question; the page has words for each. */
export type PageFault = 'choose' | 'wrong' | 'tooLong' | 'notAsked' | Refusal;

type Language = keyof typeof pageWords;

/** The languages in which the page can be had: those with words of its own, and those in which every question is. */
export function languagesOf({ questions }: Pick<Asking, 'questions'>): string[] {
  const [first, ...others] = questions.map(
    ({ language, translations }) => new Set([language, ...Object.keys(translations)]),
  );
  const complete = [...(first ?? [])].filter((one) => others.every((texts) => texts.has(one)));
  return [...new Set([...Object.keys(pageWords), ...complete.toSorted()])];
}

/** The language asked for, else the person's, else English. */
export function pageLanguage(asking: Pick<Asking, 'questions' | 'language'>, wanted: unknown): string {
  const offered = languagesOf(asking);
  return (
    [wanted, asking.language].map((one) => String(one).toLowerCase()).find((one) => offered.includes(one)) ??
    'en'
  );
}

/** The language of a page for somebody of whom nothing is known but what the browser says (RFC 9110 §12.5.4). */
export function spokenLanguage(acceptLanguage = ''): Language {
  const wishes = acceptLanguage
    .slice(0, 1000)
    .toLowerCase()
    .split(',')
    .map((wish) => {
      const [range = '', ...parameters] = wish.split(';').map((part) => part.trim());
      const quality = parameters.find((one) => one.startsWith('q='));
      return {
        language: range.split('-')[0] as string,
        quality: quality ? Number(quality.slice(2)) || 0 : 1,
      };
    })
    .filter(({ language, quality }) => quality > 0 && Object.hasOwn(pageWords, language))
    .toSorted((a, b) => b.quality - a.quality);
  return (wishes[0]?.language ?? 'en') as Language;
}

export const wordsOf = (language: string): PageWords => pageWords[libraryLanguage(language)];

/**
 * The page with its questions. `said`: what stands at them; `faults`: what is wrong there, or that all is empty. A question that
 * cannot be answered here any more has no fields, and where there is no other the page says that everything is answered.
 */
export function askingPage(
  dress: Dress,
  asking: Asking,
  language: string,
  said: ReadonlyMap<number, Said>,
  faults: ReadonlyMap<number, PageFault> | 'empty' = new Map(),
): string {
  const { questions } = asking;
  const [words, say] = speaking(language);
  const wrong = faults === 'empty' ? new Map<number, PageFault>() : faults;
  const cards = questions.map((question, i) =>
    card({
      question,
      language,
      at: i + 1,
      of: questions.length,
      said: said.get(question.id) ?? nothing,
      fault: wrong.get(question.id),
      refusal: refusalIn(asking, wrong, question.id),
    }),
  );
  const refusals = questions.map(({ id }) => refusalIn(asking, wrong, id));
  if (questions.length > 0 && !refusals.includes(undefined)) {
    const notes = faultList(asking, language, wrong);
    const body = `${notes}${allAnswered(asking, language, refusals)}\n${privacy(asking, language, false)}`;
    return whole(dress, { language, company: asking.company, body, asking });
  }
  const progress = `<progress id="progress" max="${questions.length}" value="1" aria-hidden="true" hidden></progress>`;
  const body = `<div id="intro">
<h1>${say(words.greeting(calm(asking.firstName)))}</h1>
<p class="lead">${say(words.asks(calm(asking.company), questions.length))}</p>
</div>
${faultList(asking, language, faults)}${privacy(asking, language)}
<form id="form" method="post" action="?language=${escaped(language)}" autocomplete="off">
${progress}
${cards.join('\n')}
<div class="foot"><button type="button" id="back" class="plain" hidden>${say(words.back)}</button>
<button type="submit"><span id="send">${say(words.send)}</span><span id="next" hidden>${say(words.next)}</span><span id="finish" hidden>${say(words.finish)}</span></button></div>
<p id="state" role="status"></p>
<template id="words">${scriptWords.map((key) => `<p data-word="${key}">${say(words[key === 'saved' && asking.isExported ? 'received' : key])}</p>`).join('')}<p data-word="choose">${say(words.faults.choose)}</p></template>
</form>
<script>${dress.script}</script>`;
  return whole(dress, { language, company: asking.company, body, asking, isFaulty: wrong.size > 0 });
}

/** Why a question cannot be answered here any more: as the link opened it, or as an answer was refused just now. */
function refusalIn(
  { fixed }: Asking,
  faults: ReadonlyMap<number, PageFault>,
  id: number,
): Refusal | undefined {
  const fault = faults.get(id);
  return fixed.get(id) ?? (fault === 'elsewhere' || fault === 'counted' ? fault : undefined);
}

/** What stands in place of the form where there is nothing left to answer, and why. */
function allAnswered(asking: Asking, language: string, refusals: (Refusal | undefined)[]): string {
  const [{ allAnswered: words }, say] = speaking(language);
  const isElsewhere = refusals.includes('elsewhere');
  const reasons = (['elsewhere', 'counted'] as const).filter((one) => refusals.includes(one));
  return `<div class="thanks done">
${checkMark}
<h1>${say(words.heading(calm(asking.firstName)))}</h1>
<p>${say(words.text)}</p>
${reasons.map((reason) => `<p class="lead">${say(words[reason])}</p>`).join('')}${isElsewhere ? `<p class="lead">${say(words.notYou)}</p>` : ''}
</div>`;
}

const checkMark =
  '<svg viewBox="0 0 56 56" width="56" height="56" aria-hidden="true"><circle cx="28" cy="28" r="26"/><path d="m17 29 8 8 14-17"/></svg>';

/** What the script says. */
const scriptWords = ['saving', 'saved', 'unsaved', 'ended', 'dropped', 'stillSkipped'] as const;

/** The page after answers were kept. */
export function thanksPage(dress: Dress, asking: Asking, language: string): string {
  const [{ thanks, privacy: promises }, say] = speaking(language);
  // By a link that was handed out, nothing shows what was answered.
  const isDone = (id: number) => asking.answers.has(id) || asking.fixed.has(id);
  const open = asking.isExported ? 0 : asking.questions.filter(({ id }) => !isDone(id)).length;
  const canChange = [...asking.answers.keys()].some((id) => !asking.fixed.has(id));
  const until = asking.isLive ? thanks.untilLive : thanks.until;
  const stays = asking.isExported ? '' : thanks.fixed;
  const rest = canChange ? until(lastDayIn(asking, language), zoneIn(asking, language)) : stays;
  const button = canChange ? thanks.change : open > 0 ? thanks.rest : undefined;
  const kind = canChange ? ' plain' : '';
  const back =
    button && `\n<p><a class="button${kind}" href="?language=${escaped(language)}">${say(button)}</a></p>`;
  const body = `<div class="thanks">
${checkMark}
<h1>${say(thanks.heading(calm(asking.firstName)))}</h1>
<p>${say(asking.isExported ? thanks.received : thanks.text)}${open > 0 ? ` ${say(thanks.open(open))}` : ''}</p>
<p class="lead">${say(`${rest} ${afterwards(asking, promises)}`.trim())}</p>${back ?? ''}
</div>`;
  return whole(dress, { language, company: asking.company, body });
}

/** The page on which reminders are stopped, and wanted again: what holds now, and a button for the other. */
export function remindersPage(
  dress: Dress,
  { company, language: own }: { company: string; language: string },
  state: RemindersState,
): string {
  const language = libraryLanguage(own);
  const { heading, text, button } = pageWords[language].reminders[state];
  const isStopped = state === 'stopped';
  const body = `<h1>${escaped(heading)}</h1>
<p class="lead">${escaped(text(calm(company)))}</p>
<form method="post" action="?${isStopped ? 'again' : 'stop'}"><button type="submit"${isStopped ? ' class="plain"' : ''}>${escaped(button)}</button></form>`;
  return whole(dress, { language, company, title: heading, body });
}

/**
 * A page of a sentence or two, the same for everybody. `fields`: what was sent and could not be kept, to be sent again.
 * `id`: of the request, to ask about.
 */
export function plainPage(
  dress: Dress,
  language: Language,
  kind: PlainKind,
  { fields = [], id }: { fields?: Iterable<readonly [string, string]>; id?: string } = {},
): string {
  const words = pageWords[language];
  const hidden = [...fields].map(
    ([name, text]) => `<textarea hidden name="${escaped(name)}">\n${escaped(text)}</textarea>`,
  );
  const again =
    hidden.length === 0
      ? ''
      : `\n<form method="post">${hidden.join('')}<button type="submit">${escaped(words.sendAgain)}</button></form>`;
  const { heading, text } = words.plain[kind];
  const note = id === undefined ? '' : `\n<p class="hint">${escaped(id)}</p>`;
  const body = `<h1>${escaped(heading)}</h1>\n<p class="lead">${escaped(text)}</p>${again}${note}`;
  return whole(dress, { language, company: 'Soundings', title: heading, body });
}

type Frame = {
  language: string;
  company: string;
  title?: string;
  body: string;
  /** Whose languages are offered; none: no language can be chosen. */
  asking?: Asking;
  isFaulty?: boolean;
};

function whole(dress: Dress, { language, company, title, body, asking, isFaulty = false }: Frame): string {
  const [words] = speaking(language);
  const name = title ?? words.title(calm(company));
  return `<!doctype html>
<html lang="${escaped(language)}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="format-detection" content="telephone=no">
<title>${escaped(isFaulty ? `${words.faults.heading} – ${name}` : name)}</title>
<style>${dress.style}</style>
</head>
<body>
<header><b>${escaped(calm(company))}</b>${asking ? languageMenu(asking, language) : ''}</header>
<main>
${body}
</main>
</body>
</html>
`;
}

/** Links rather than a list that acts when something is chosen (WCAG 3.2.2); they work without the script. */
function languageMenu(asking: Asking, language: string): string {
  const [words, say] = speaking(language);
  const links = languagesOf(asking).map((one) => {
    const current = one === language ? ' aria-current="true"' : '';
    const marks = `${foreign(one, language)} hreflang="${escaped(one)}"`;
    return `<li><a href="?language=${escaped(one)}"${marks}${current}>${escaped(nameOf(one))}</a></li>`;
  });
  return `<details id="languages"><summary><span class="unseen">${say(words.language)}: </span>${escaped(nameOf(language))}</summary><ul>${links.join('')}</ul></details>`;
}

/** A language's name in itself, such as Svenska. */
function nameOf(language: string): string {
  const name = new Intl.DisplayNames(localeOf(language), { type: 'language', fallback: 'code' }).of(
    localeOf(language),
  ) as string;
  return name.replace(/^\p{L}/u, (letter) => letter.toLocaleUpperCase(localeOf(language)));
}

function faultList(
  asking: Asking,
  language: string,
  faults: ReadonlyMap<number, PageFault> | 'empty',
): string {
  if (faults !== 'empty' && faults.size === 0) return '';
  const [words, say] = speaking(language);
  const list = (faults === 'empty' ? [] : [...faults]).map(([id, fault]) => {
    const at = asking.questions.findIndex((question) => question.id === id);
    if (at < 0) return `<li>${say(faultWords(words, 'notAsked'))}</li>`;
    return `<li><a href="#q${id}">${say(words.faults.at(at + 1, faultWords(words, fault)))}</a></li>`;
  });
  const { heading, emptyHeading, empty } = words.faults;
  const { again: sendAgain } = words.faults;
  const refused =
    faults === 'empty' ? [] : [...faults.values()].filter((one) => one === 'elsewhere' || one === 'counted');
  const isRest = asking.questions.some(({ id }) => faults !== 'empty' && !refusalIn(asking, faults, id));
  const again = refused.length > 0 && isRest ? `<p>${say(sendAgain)}</p>` : '';
  const what =
    faults === 'empty'
      ? `<h2>${say(emptyHeading)}</h2><p>${say(empty)}</p>`
      : `<h2>${say(heading)}</h2><ul>${list.join('')}</ul>${again}`;
  return `<div class="faults" role="alert">${what}</div>\n`;
}

/** What is wrong, in the page's words. */
export const faultWords = ({ faults }: PageWords, fault: PageFault): string =>
  fault === 'tooLong' ? faults.tooLong(maxCommentLength) : faults[fault];

/** What becomes of the answers when the week is over. */
const afterwards = ({ thresholds, copies }: Asking, words: PageWords['privacy']): string =>
  thresholds.figures <= 1 ? words.deleted : words.afterwards[copies];

/**
 * Who sees what, from how many answers on, what no one is shown (P11), and what that does not cover (P20). `canChange`: there is
 * something on the page that can be answered.
 */
function privacy(asking: Asking, language: string, canChange = true): string {
  const [{ privacy: words }, say] = speaking(language);
  const { figures, spread, comments } = asking.thresholds;
  const company = calm(asking.company);
  const isOpen = figures <= 1;
  const isOneNumber = spread === figures && comments === figures;
  const who = [
    isOpen ? words.open(company) : words.figures(company, figures),
    ...(isOneNumber ? [] : [words.spread(spread, comments)]),
  ];
  const live = asking.isLive ? [words.live(figures)] : [];
  const day = lastDayIn(asking, language);
  const change =
    canChange && !asking.isExported ? [asking.isLive ? words.untilLive(day) : words.until(day)] : [];
  const until = [...change, afterwards(asking, words)];
  const handedOut = asking.isExported ? [words.handedOut(calm(asking.handedBy ?? ''))] : [];
  const paragraphs = [who.join(' '), ...live, until.join(' '), ...handedOut];
  return `<section id="privacy"${isOpen ? ' class="open"' : ''}><h2>${say(isOpen ? words.openHeading : words.heading)}</h2>
${paragraphs.map((text) => `<p>${say(text)}</p>`).join('')}
${limits(asking, words.limits, say)}</section>`;
}

/** What is not covered, folded up: in plain words, and only what applies. */
function limits(
  { thresholds: { figures }, isLive }: Asking,
  words: PageWords['privacy']['limits'],
  say: (text: string) => string,
): string {
  const { unanimity, weeks, skip, colleagues, invented, live, operator, link, cookie } = words;
  const ofGroups = [unanimity, weeks, skip, colleagues, invented, ...(isLive ? [live(figures)] : [])];
  const all = [...(figures <= 1 ? [] : [...ofGroups, operator]), link, cookie];
  return `<details><summary>${say(words.heading)}</summary><ul>${all.map((text) => `<li>${say(text)}</li>`).join('')}</ul></details>`;
}

type Card = {
  question: Question;
  language: string;
  at: number;
  of: number;
  said: Said;
  fault: PageFault | undefined;
  /** It cannot be answered here any more. */
  refusal: Refusal | undefined;
};

const nothing: Said = { values: [], comment: '', skipped: false, wasKept: false };

function card(one: Card): string {
  const { question, language, at, of, said, fault, refusal } = one;
  const { id, type } = question;
  const [words, say] = speaking(language);
  const count = `<small>${say(words.count(at, of))}</small>`;
  const text = `<span id="t${id}"${foreign(textLanguage(question, language), language)}>${escaped(textIn(question, question, language))}</span>`;
  const heading = `<h2 tabindex="-1">${count} ${text}</h2>`;
  if (refusal) {
    const { answered } = words;
    return `<div class="card fixed" id="q${id}" data-fixed>${heading}<p class="done">${say(answered.heading)}</p><p class="hint">${say(answered[refusal])}</p></div>`;
  }
  const isRadio = type <= 5;
  const state = fault ? ` aria-invalid="true" aria-describedby="f${id}"` : '';
  const group = isRadio ? ` role="radiogroup" aria-labelledby="t${id}"${state}` : '';
  const marker = said.wasKept && isEmptiable(type) ? `<input type="hidden" name="q${id}" value="">` : '';
  const message = `<p class="fault" id="f${id}" role="alert">${fault ? say(faultWords(words, fault)) : ''}</p>`;
  const answer =
    type === freeText
      ? `${heading}${message}${commentField(one, fault !== undefined)}`
      : `<fieldset${group}><legend>${heading}</legend>${message}${inputs(one, type === 6 ? state : '')}</fieldset>`;
  const extra =
    type === freeText
      ? ''
      : `<details${said.comment === '' && fault !== 'tooLong' ? '' : ' open'}><summary>${say(words.addComment)}</summary>${commentField(one, fault === 'tooLong')}</details>`;
  const skip = `<label class="skip"><input type="checkbox" name="s${id}" value="1" aria-describedby="t${id} n${id}"${said.skipped ? ' checked' : ''}>${say(words.skip)}</label><p class="note" id="n${id}" role="status"></p>`;
  return `<div class="card${fault ? ' wrong' : ''}" id="q${id}" data-type="${type}"${said.wasKept ? ' data-kept' : ''}>${marker}${answer}<div class="more">${extra}${skip}</div></div>`;
}

/** The radio buttons or check boxes of types 1 to 6. `state`: of each box, as a group of boxes cannot have it. */
function inputs({ question, language, said }: Card, state: string): string {
  const { id, type, options } = question;
  const kind = type === 6 ? 'checkbox' : 'radio';
  const input = (value: string) =>
    `<input type="${kind}" name="q${id}" value="${escaped(value)}"${said.values.includes(value) ? ' checked' : ''}${state}>`;
  if (type === 2 || type === 3) return numberRow(question, language, input);
  const scale = scaleWords(type, language).map(({ value, text }) => ({
    value: type === 4 ? (['no', 'yes'][value] as string) : String(value),
    text,
    marks: foreign(libraryLanguage(language), language),
  }));
  const chosen = options.map((option) => ({
    value: option.id,
    text: textIn(option, question, language),
    marks: foreign(option.translations?.[language] === undefined ? question.language : language, language),
  }));
  const labels = [...scale, ...chosen].map(
    ({ value, text, marks }) => `<label>${input(value)}${marked(text, marks)}</label>`,
  );
  return `<div class="${type === 4 ? 'list two' : 'list'}">${labels.join('')}</div>`;
}

/** The numbers of types 2 and 3, with words at the ends. */
function numberRow({ type }: Question, language: string, input: (value: string) => string): string {
  const [low, high] = scaleWords(type, language) as [
    { value: number; text: string },
    { value: number; text: string },
  ];
  const marks = foreign(libraryLanguage(language), language);
  const cells = Array.from({ length: high.value - low.value + 1 }, (_, i) => {
    const value = low.value + i;
    const end = [low, high].find((one) => one.value === value);
    const words = end ? `<i class="unseen"${marks}> ${escaped(end.text)}</i>` : '';
    return `<label>${input(String(value))}<span>${value}${words}</span></label>`;
  });
  const ends = [low, high].map(({ text }) => `<span${marks}>${escaped(text)}</span>`).join('');
  return `<div class="numbers from${low.value}">${cells.join('')}</div><div class="ends" aria-hidden="true">${ends}</div>`;
}

function commentField({ question: { id, type }, language, said }: Card, isWrong: boolean): string {
  const [words, say] = speaking(language);
  const state = isWrong ? ' aria-invalid="true"' : '';
  const described = `h${id}${isWrong ? ` f${id}` : ''}`;
  const label = type === freeText ? '' : `<span class="unseen" id="l${id}">${say(words.comment)}</span>`;
  const name = type === freeText ? `t${id}` : `l${id} t${id}`;
  // What stands after <textarea> is taken for its first line only if a line break comes before it.
  return `${label}<textarea name="c${id}" maxlength="${maxCommentLength}" aria-labelledby="${name}" aria-describedby="${described}"${state}>
${escaped(said.comment)}</textarea><p class="hint" id="h${id}">${say(words.commentHint)}</p>`;
}

type Texted = { text: string; translations?: Record<string, string> };

/** In the page's language, else in the question's own. */
const textIn = ({ text, translations }: Texted, question: Question, language: string): string =>
  question.language === language ? text : (translations?.[language] ?? text);

const textLanguage = ({ language: own, translations }: Question, language: string): string =>
  translations[language] === undefined ? own : language;

/** The page's words in the language nearest to its own, and what makes HTML of them. */
function speaking(language: string): [PageWords, (text: string) => string] {
  const spoken = libraryLanguage(language);
  const marks = foreign(spoken, language);
  return [pageWords[spoken], (text) => marked(text, marks)];
}

/** Says of a text that it is not in the language of the page (WCAG 3.1.2), and where it has a direction of its own. */
function foreign(language: string, page: string): string {
  if (language === page) return '';
  const direction = directionOf(language);
  return ` lang="${escaped(language)}"${direction === directionOf(page) ? '' : ` dir="${direction}"`}`;
}

/** A text with such marks. */
const marked = (text: string, marks: string) =>
  marks === '' ? escaped(text) : `<span${marks}>${escaped(text)}</span>`;

const rightToLeft = new Set(['ar', 'dv', 'fa', 'he', 'ks', 'ps', 'sd', 'ug', 'ur', 'yi']);
export const directionOf = (language: string): 'rtl' | 'ltr' => (rightToLeft.has(language) ? 'rtl' : 'ltr');

/** The language for Intl, which throws for what is no language. */
function localeOf(language: string): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? 'en';
  } catch {
    return 'en';
  }
}

/** The Sunday of the week, as the page's words write it. */
const lastDayIn = ({ week }: Asking, language: string): string =>
  new Intl.DateTimeFormat(wordsOf(language).locale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    timeZone: 'UTC',
  }).format(Date.parse(`${lastDay(week)}T00:00:00Z`));

/**
 * The name of the time zone by which the week ends, such as Central European Time. Of one that Intl does not know
 * (Factory), as weeks.ts has it.
 */
function zoneIn({ timezone, week }: Asking, language: string): string {
  const nameIn = (timeZone: string) =>
    new Intl.DateTimeFormat(wordsOf(language).locale, { timeZone, timeZoneName: 'longGeneric' })
      .formatToParts(Date.parse(`${lastDay(week)}T00:00:00Z`))
      .find(({ type }) => type === 'timeZoneName')
      ?.value.replace('GMT+00:00', 'UTC') ?? timeZone;
  try {
    return nameIn(timezone);
  } catch {
    return nameIn('UTC');
  }
}

/**
 * A name of others within a sentence: nothing in it turns the direction of what follows, and where it is written from right
 * to left it stays by itself.
 */
function calm(name: string): string {
  const plain = name.replaceAll(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Cc}]/gu, ' ').trim();
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(plain) ? `\u2068${plain}\u2069` : plain;
}
