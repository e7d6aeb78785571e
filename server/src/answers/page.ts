// Renders the answering page as HTML. Pure. The page works without its script, loads no other resources, and is smaller than 30 KB
// as it is sent. All texts written by others are escaped, and texts in another language than the page's are marked with it.
import { writingDirectionOf } from '@soundings/contract/texts.ts';
import { escaped } from '../base/html.ts';
import type { Refusal } from '../sealing/person-answers.ts';
import type { Asking } from './answering.ts';
import type { SubmittedValue } from './form.ts';
import { calm, foreign, languagesOf, lastDayIn, nameOf, textsFor, zoneIn } from './page-language.ts';
import { afterwards, privacy } from './page-privacy.ts';
import { pageTexts, type PlainKind, type OptOutPageKind } from './page-texts.ts';
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
    const body = `${notes}${allAnswered(asking, language, refusals)}\n${privacy(asking, language, false)}${optOut(asking, language)}`;
    return whole(pageAssets, { language, company: asking.company, body, languages: languagesOf(asking) });
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
${optOut(asking, language)}<script>${pageAssets.script}</script>`;
  return whole(pageAssets, {
    language,
    company: asking.company,
    body,
    languages: languagesOf(asking),
    isFaulty: wrong.size > 0,
  });
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
</div>${optOut(asking, language)}`;
  return whole(pageAssets, { language, company: asking.company, body });
}

/** Returns the link to the page on which a person turns survey messages off. Text messages have no room for it. */
function optOut({ optOutToken }: Asking, language: string): string {
  if (optOutToken === undefined) return '';
  const [t, html] = textsFor(language);
  return `\n<p class="hint stop"><a href="../r/${escaped(optOutToken)}">${html(t('optOut.link'))}</a></p>\n`;
}

/** Returns the page on which people turn reminders, all survey messages or digests off or back on. */
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
  /** The languages that are offered. If left out, no language can be chosen. */
  languages?: readonly string[];
  isFaulty?: boolean;
};

/** Returns a whole page with its header. */
export function whole(
  pageAssets: PageAssets,
  { language, company, title, body, languages, isFaulty = false }: Frame,
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
${pageAssets.style === '' ? '' : `<style>${pageAssets.style}</style>\n`}</head>
<body>
<header><b>${escaped(calm(company))}</b>${languages ? languageMenu(languages, language) : ''}</header>
<main>
${body}
</main>
</body>
</html>
`;
}

/** Returns the language menu. Uses links instead of a select box that acts on selection (WCAG 3.2.2), so it works without the script. */
function languageMenu(languages: readonly string[], language: string): string {
  const [t, html] = textsFor(language);
  const links = languages.map((one) => {
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
