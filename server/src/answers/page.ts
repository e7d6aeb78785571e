// Renders the answering page as HTML. Pure. The page works without its script, loads no other resources, and is smaller than 30 KB
// as it is sent. All texts written by others are escaped, and texts in another language than the page's are marked with it.
import { localeOf, onceForLanguage, writingDirectionOf } from '@soundings/contract/texts.ts';
import { escaped } from '../base/html.ts';
import { lastDay } from '@soundings/contract/weeks.ts';
import type { Refusal } from '../sealing/person-answers.ts';
import type { Asking } from './answering.ts';
import type { AskedBreakdown } from './answering.sql.ts';
import type { SubmittedValue } from './form.ts';
import { foreign, languagesOf, nameOf, textsFor } from './page-language.ts';
import { type PageTexts, pageTexts, type PlainKind, type OptOutPageKind } from './page-texts.ts';
import { card, faultText, noFields, type PageFault } from './question-card.ts';

/** The inline style and script of a page. */
export type PageAssets = { style: string; script: string };

/**
 * Returns the page with its questions. `fields`: the content of their fields. `faults`: what is wrong with them, or 'empty' if nothing
 * was answered. A question that can no longer be answered here has no fields. If there is no other question, the page says that
 * all questions are answered.
 */
export function askingPage(
  pageAssets: PageAssets,
  asking: Asking,
  language: string,
  fields: ReadonlyMap<number, SubmittedValue>,
  faults: ReadonlyMap<number, PageFault> | 'empty' = new Map(),
): string {
  const { questions } = asking;
  const firstName = calm(asking.firstName);
  const [t, html] = textsFor(language);
  const wrong = faults === 'empty' ? new Map<number, PageFault>() : faults;
  const cards = questions.map((question, i) =>
    card({
      question,
      language,
      at: i + 1,
      of: questions.length,
      fields: fields.get(question.id) ?? noFields,
      fault: wrong.get(question.id),
      refusal: refusalIn(asking, wrong, question.id),
    }),
  );
  const refusals = questions.map(({ id }) => refusalIn(asking, wrong, id));
  if (questions.length > 0 && !refusals.includes(undefined)) {
    const notes = faultList(asking, language, wrong);
    const body = `${notes}${allAnswered(asking, language, refusals)}\n${privacy(asking, language, false)}`;
    return whole(pageAssets, { language, company: asking.company, body, asking });
  }
  const progress = `<progress id="progress" max="${questions.length}" value="1" aria-hidden="true" hidden></progress>`;
  const body = `<div id="intro">
<h1>${html(firstName === '' ? t('greeting') : t('greetingNamed', { firstName }))}</h1>
<p class="lead">${html(t('asks', { company: calm(asking.company), questions: questions.length }))}</p>
${focusNews(asking, language)}</div>
${faultList(asking, language, faults)}${privacy(asking, language)}
<form id="form" method="post" action="?language=${escaped(language)}" autocomplete="off">
${progress}
${cards.join('\n')}
<div class="foot"><button type="button" id="back" class="plain" hidden>${html(t('back'))}</button>
<button type="submit"><span id="send">${html(t('send'))}</span><span id="next" hidden>${html(t('next'))}</span><span id="finish" hidden>${html(t('finish'))}</span></button></div>
<p id="state" role="status"></p>
<template id="texts">${scriptTexts.map((key) => `<p data-text="${key}">${html(t(key === 'saved' && asking.isExported ? 'received' : key))}</p>`).join('')}<p data-text="choose">${html(t('faults.choose'))}</p></template>
</form>
<script>${pageAssets.script}</script>`;
  return whole(pageAssets, { language, company: asking.company, body, asking, isFaulty: wrong.size > 0 });
}

/** Returns one sentence about what the person's group does after earlier answers. It is the same for everyone in the group. */
function focusNews({ focus }: Asking, language: string): string {
  if (!focus) return '';
  const [t, html] = textsFor(language);
  const { state, translations } = focus;
  const names = {
    group: calm(focus.group),
    subject: calm(translations[language] ?? focus.subject),
    action: calm(focus.action),
  };
  return `<div class="news"><b>${html(t(`focus.${state}.lead`))}</b> ${html(t(`focus.${state}.text`, names))}</div>\n`;
}

/** Returns why a question can no longer be answered here, either from the start or because an answer was just refused. */
function refusalIn(
  { fixed }: Asking,
  faults: ReadonlyMap<number, PageFault>,
  id: number,
): Refusal | undefined {
  const fault = faults.get(id);
  return fixed.get(id) ?? (fault === 'elsewhere' || fault === 'counted' ? fault : undefined);
}

/** Returns what replaces the form if nothing is left to answer, with the reasons. */
function allAnswered(asking: Asking, language: string, refusals: (Refusal | undefined)[]): string {
  const [t, html] = textsFor(language);
  const firstName = calm(asking.firstName);
  const isElsewhere = refusals.includes('elsewhere');
  const reasons = (['elsewhere', 'counted'] as const).filter((one) => refusals.includes(one));
  return `<div class="thanks done">
${checkMark}
<h1>${html(firstName === '' ? t('allAnswered.heading') : t('allAnswered.headingNamed', { firstName }))}</h1>
<p>${html(t('allAnswered.text'))}</p>
${reasons.map((reason) => `<p class="lead">${html(t(`allAnswered.${reason}`))}</p>`).join('')}${isElsewhere ? `<p class="lead">${html(t('allAnswered.notYou'))}</p>` : ''}
</div>`;
}

const checkMark =
  '<svg viewBox="0 0 56 56" width="56" height="56" aria-hidden="true"><circle cx="28" cy="28" r="26"/><path d="m17 29 8 8 14-17"/></svg>';

/** The texts that the script uses. */
const scriptTexts = ['saving', 'saved', 'unsaved', 'ended', 'dropped', 'stillSkipped'] as const;

/** Returns the page after answers were saved. */
export function thanksPage(pageAssets: PageAssets, asking: Asking, language: string): string {
  const [t, html] = textsFor(language);
  const firstName = calm(asking.firstName);
  // A handed-out link must not show what was answered.
  const isDone = (id: number) => asking.answers.has(id) || asking.fixed.has(id);
  const open = asking.isExported ? 0 : asking.questions.filter(({ id }) => !isDone(id)).length;
  const canChange = [...asking.answers.keys()].some((id) => !asking.fixed.has(id));
  const stays = asking.isExported ? '' : t('thanks.fixed');
  const rest = canChange
    ? t(asking.isLive ? 'thanks.untilLive' : 'thanks.until', {
        day: lastDayIn(asking, language),
        zone: zoneIn(asking, language),
      })
    : stays;
  const button = canChange ? t('thanks.change') : open > 0 ? t('thanks.rest') : undefined;
  const kind = canChange ? ' plain' : '';
  const back =
    button && `\n<p><a class="button${kind}" href="?language=${escaped(language)}">${html(button)}</a></p>`;
  const body = `<div class="thanks">
${checkMark}
<h1>${html(firstName === '' ? t('thanks.heading') : t('thanks.headingNamed', { firstName }))}</h1>
<p>${html(t(asking.isExported ? 'thanks.received' : 'thanks.text'))}${open > 0 ? ` ${html(t('thanks.open', { questions: open }))}` : ''}</p>
<p class="lead">${html(`${rest} ${afterwards(asking, t)}`.trim())}</p>${back ?? ''}
</div>`;
  return whole(pageAssets, { language, company: asking.company, body });
}

/** Returns the page on which people turn reminders, all survey emails or digests off or back on. */
export function optOutPage(
  pageAssets: PageAssets,
  shown: OptOutPageKind,
  { company, language: own }: { company: string; language: string },
): string {
  const language = pageTexts.languageFor(own);
  const t = pageTexts.in(language);
  const about = { company: calm(company) };
  const text = (part: 'heading' | 'text' | 'button') =>
    shown.kind === 'reminders'
      ? escaped(t(`optOut.reminders.${shown.state}.${part}`, about))
      : escaped(t(`optOut.digests.${shown.state}.${part}`, about));
  const button = (query: string, label: string, isPlain: boolean) =>
    `<form method="post" action="?${query}"><button type="submit"${isPlain ? ' class="plain"' : ''}>${label}</button></form>`;
  const isOff = shown.state === 'optedOut' || shown.state === 'stopped';
  const buttons = [
    button(isOff ? 'again' : 'stop', text('button'), isOff),
    ...(shown.kind === 'reminders' && shown.state !== 'stopped'
      ? [button('none', escaped(t('optOut.reminders.stopAll')), true)]
      : []),
  ];
  const heading = text('heading');
  const body = `<h1>${heading}</h1>
<p class="lead">${text('text')}</p>
${buttons.join('\n')}`;
  return whole(pageAssets, { language, company, title: heading, body });
}

/**
 * Returns a short page that is the same for everyone. `fields`: form fields that could not be saved, to be sent again. `id`: the
 * request's id, to quote when asking for help.
 */
export function plainPage(
  pageAssets: PageAssets,
  language: string,
  kind: PlainKind,
  { fields = [], id }: { fields?: Iterable<readonly [string, string]>; id?: string } = {},
): string {
  const t = pageTexts.in(language);
  const hidden = [...fields].map(
    ([name, text]) => `<textarea hidden name="${escaped(name)}">\n${escaped(text)}</textarea>`,
  );
  const again =
    hidden.length === 0
      ? ''
      : `\n<form method="post">${hidden.join('')}<button type="submit">${escaped(t('sendAgain'))}</button></form>`;
  const heading = t(`plain.${kind}.heading`);
  const note = id === undefined ? '' : `\n<p class="hint">${escaped(id)}</p>`;
  const body = `<h1>${escaped(heading)}</h1>\n<p class="lead">${escaped(t(`plain.${kind}.text`))}</p>${again}${note}`;
  return whole(pageAssets, { language, company: 'Soundings', title: heading, body });
}

type Frame = {
  language: string;
  company: string;
  title?: string;
  body: string;
  /** Its languages are offered. If left out, no language can be chosen. */
  asking?: Asking;
  isFaulty?: boolean;
};

function whole(
  pageAssets: PageAssets,
  { language, company, title, body, asking, isFaulty = false }: Frame,
): string {
  const [t] = textsFor(language);
  const name = title ?? t('title', { company: calm(company) });
  return `<!doctype html>
<html lang="${escaped(language)}" dir="${writingDirectionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="format-detection" content="telephone=no">
<title>${escaped(isFaulty ? `${t('faults.heading')} – ${name}` : name)}</title>
<style>${pageAssets.style}</style>
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

/** Returns the language menu. Uses links instead of a select box that acts on selection (WCAG 3.2.2), so it works without the script. */
function languageMenu(asking: Asking, language: string): string {
  const [t, html] = textsFor(language);
  const links = languagesOf(asking).map((one) => {
    const current = one === language ? ' aria-current="true"' : '';
    return `<li><a href="?language=${escaped(one)}"${foreign(one, language)}${current}>${escaped(nameOf(one))}</a>`;
  });
  return `<details id="languages"><summary><span class="unseen">${html(t('language'))}: </span>${escaped(nameOf(language))}</summary><ul>${links.join('')}</ul></details>`;
}

function faultList(
  asking: Asking,
  language: string,
  faults: ReadonlyMap<number, PageFault> | 'empty',
): string {
  if (faults !== 'empty' && faults.size === 0) return '';
  const [t, html] = textsFor(language);
  const list = (faults === 'empty' ? [] : [...faults]).map(([id, fault]) => {
    const at = asking.questions.findIndex((question) => question.id === id);
    if (at < 0) return `<li>${html(t('faults.notAsked'))}</li>`;
    return `<li><a href="#q${id}">${html(t('faults.at', { question: at + 1, fault: faultText(t, fault) }))}</a></li>`;
  });
  const refused =
    faults === 'empty' ? [] : [...faults.values()].filter((one) => one === 'elsewhere' || one === 'counted');
  const isRest = asking.questions.some(({ id }) => faults !== 'empty' && !refusalIn(asking, faults, id));
  const again = refused.length > 0 && isRest ? `<p>${html(t('faults.again'))}</p>` : '';
  const what =
    faults === 'empty'
      ? `<h2>${html(t('faults.emptyHeading'))}</h2><p>${html(t('faults.empty'))}</p>`
      : `<h2>${html(t('faults.heading'))}</h2><ul>${list.join('')}</ul>${again}`;
  return `<div class="faults" role="alert">${what}</div>\n`;
}

/** Returns what happens to the answers when the week is over. */
const afterwards = ({ thresholds, copies }: Asking, t: PageTexts): string =>
  t(thresholds.figures <= 1 ? 'privacy.deleted' : `privacy.afterwards.${copies}`);

/**
 * Returns the privacy section: who sees what, how many answers this takes, what no one is shown (P11), and the limits of this
 * protection (P20). `canChange`: whether the page has something to answer.
 */
function privacy(asking: Asking, language: string, canChange = true): string {
  const [t, html] = textsFor(language);
  const { figures } = asking.thresholds;
  const company = calm(asking.company);
  const isOpen = figures <= 1;
  const who = [
    isOpen ? t('privacy.open', { company }) : t('privacy.figures', { company, threshold: figures }),
    ...thresholdsBeside(asking, t),
    ...breakdownsBeside(asking, t),
  ];
  const live = asking.isLive
    ? [isOpen ? t('privacy.live') : t('privacy.liveBatches', { threshold: figures })]
    : [];
  const day = lastDayIn(asking, language);
  const change =
    canChange && !asking.isExported
      ? [t(asking.isLive ? 'privacy.untilLive' : 'privacy.until', { day })]
      : [];
  const until = [...change, afterwards(asking, t)];
  const paragraphs = [who.join(' '), ...live, until.join(' '), ...handedOut(asking, t)];
  return `<section id="privacy"${isOpen ? ' class="open"' : ''}><h2>${html(t(isOpen ? 'privacy.openHeading' : 'privacy.heading'))}</h2>
${paragraphs.map((text) => `<p>${html(text)}</p>`).join('')}
${limits(asking, t, html)}</section>`;
}

/** Returns how many answers distributions and comments need, if they need another number than the other figures. */
function thresholdsBeside(
  { thresholds: { figures, distribution, comments } }: Asking,
  t: PageTexts,
): string[] {
  if (distribution === figures && comments === figures) return [];
  return distribution === comments
    ? [t('privacy.distributionsAndComments', { threshold: distribution })]
    : [t('privacy.distributions', { distribution, comments })];
}

/** Returns a sentence that lists the breakdowns by which results are also shown. */
function breakdownsBeside({ breakdowns, thresholds: { figures } }: Asking, t: PageTexts): string[] {
  if (breakdowns.length === 0) return [];
  const names = breakdowns.map((one) => breakdownText(one, t)).join('; ');
  return [
    figures <= 1
      ? t('privacy.breakdownsOpen', { names })
      : t('privacy.breakdowns', { names, threshold: figures }),
  ];
}

/**
 * Returns what a breakdown divides people by: its attributes and bands. Its name comes after them, if it says something else, because an
 * administrator chooses it and could call anything "Site".
 */
function breakdownText({ name, by }: AskedBreakdown, t: PageTexts): string {
  const [one = '', other] = by.map(({ attribute, bands }) =>
    bands
      ? t('privacy.breakdown.years', { attribute: calm(attribute), years: bands.join(', ') })
      : calm(attribute),
  );
  const text = other === undefined ? one : t('privacy.breakdown.two', { one, other });
  const isSame = calm(name).toLowerCase() === text.toLowerCase();
  return isSame ? text : t('privacy.breakdown.named', { by: text, name: calm(name) });
}

/** Returns what is special about a link that the employer handed out. */
function handedOut({ isExported, handedBy }: Asking, t: PageTexts): string[] {
  if (!isExported) return [];
  const name = calm(handedBy ?? '');
  const who = name === '' ? t('privacy.handedOut') : t('privacy.handedOutBy', { name });
  return [`${who} ${t('privacy.handedOutConsequence')}`];
}

/** Returns the limits of the protection that apply, collapsed. */
function limits(
  { thresholds: { figures }, isLive }: Asking,
  t: PageTexts,
  html: (text: string) => string,
): string {
  const live = isLive ? [t('privacy.limits.live', { threshold: figures })] : [];
  const ofResults = [...limitsOfResults.map((one) => t(`privacy.limits.${one}`)), ...live];
  const all = [
    ...(figures <= 1 ? [] : [...ofResults, t('privacy.limits.operator')]),
    t('privacy.limits.link'),
    t('privacy.limits.cookie'),
  ];
  return `<details><summary>${html(t('privacy.limits.heading'))}</summary><ul>${all.map((text) => `<li>${html(text)}</li>`).join('')}</ul></details>`;
}

const limitsOfResults = ['unanimity', 'weeks', 'skip', 'colleagues', 'invented'] as const;

const dayFormat = onceForLanguage(
  (language: string) =>
    new Intl.DateTimeFormat(localeOf(language), {
      weekday: 'long',
      day: 'numeric',
      month: 'long',
      timeZone: 'UTC',
    }),
);

/** Returns the Sunday of the week, in the language of the page's own texts. */
const lastDayIn = ({ week }: Asking, language: string): string =>
  dayFormat(pageTexts.languageFor(language)).format(Date.parse(`${lastDay(week)}T00:00:00Z`));

/**
 * Returns the name of the account's time zone, such as Central European Time. UTC if Intl does not know the zone (Factory), as in
 * weeks.ts.
 */
function zoneIn({ timezone, week }: Asking, language: string): string {
  const nameIn = (timeZone: string) =>
    new Intl.DateTimeFormat(localeOf(pageTexts.languageFor(language)), {
      timeZone,
      timeZoneName: 'longGeneric',
    })
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
 * Makes a name written by others safe within a sentence: removes characters that change the direction of the following text, and
 * isolates right-to-left names.
 */
function calm(name: string): string {
  const plain = name.replaceAll(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Cc}]/gu, ' ').trim();
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(plain) ? `\u2068${plain}\u2069` : plain;
}
