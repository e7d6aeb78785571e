// Renders the page of a kiosk as HTML: entering a code, and everything that it says before and after the questions, in all languages.
// Pure. The questions are fetched and shown by its script (kiosk.client.js), so the browser never leaves this page, and neither
// its history nor its cache contains anything about a person.
import { createHash } from 'node:crypto';
import { writingDirectionOf } from '@soundings/contract/texts.ts';
import { escaped } from '../../base/html.ts';
import { codeCharacters } from '../../cards/card-code.ts';
import type { Kiosk } from '../../cards/kiosks.sql.ts';
import type { PageAssets } from '../page.ts';
import { calm, nameOf } from '../page-language.ts';
import { pageTexts } from '../page-texts.ts';
import { codeField } from './code-page.ts';

/** The texts that the script shows, in the language of the person. */
const keys = [
  ...([
    'heading',
    'lead',
    'code',
    'continue',
    'typo',
    'unknown',
    'notAsked',
    'wait',
    'keys',
    'erase',
  ] as const),
  ...([
    'scan',
    'scanning',
    'noCamera',
    'cancel',
    'opening',
    'offline',
    'saving',
    'savingText',
    'unsaved',
  ] as const),
  ...([
    'unsavedText',
    'ended',
    'endedText',
    'thanks',
    'thanksText',
    'closes',
    'done',
    'idle',
    'idleText',
  ] as const),
  ...(['stay', 'finish', 'off', 'offText'] as const),
];

/** The place of the seconds in a text, until they are replaced by an element. It doesn't occur in any text. */
const place = '\u0001';

/** Returns a text as HTML. The seconds of a countdown are in an element of their own. */
function htmlOf(key: (typeof keys)[number], language: string): string {
  const t = pageTexts.in(language);
  const text =
    key === 'closes' || key === 'idleText' ? t(`entry.${key}`, { seconds: place }) : t(`entry.${key}`);
  return escaped(text).replace(place, '<b class="seconds"></b>');
}

/** Identifies the page, so that a kiosk notices that the service was updated, and reloads. */
export const pageVersionOf = ({ style, script }: PageAssets): string =>
  createHash('sha256').update(style).update(script).digest('hex').slice(0, 12);

/** Returns the page of a kiosk, in the language of the account until someone chooses another. */
export function kioskPage(pageAssets: PageAssets, kiosk: Kiosk): string {
  const language = pageTexts.languageFor(kiosk.language);
  const html = (key: (typeof keys)[number]) => htmlOf(key, language);
  /** Returns an element whose text the script replaces when the language changes. */
  const element = (tag: string, key: (typeof keys)[number], marks = '') =>
    `<${tag} data-t="${key}"${marks}>${html(key)}</${tag.split(' ')[0]}>`;
  const heading = (key: (typeof keys)[number]) => element('h1', key, ' tabindex="-1"');
  const button = (id: string, key: (typeof keys)[number], marks = '') =>
    element('button type="button"', key, ` id="${id}"${marks}`);
  const company = escaped(calm(kiosk.company));
  return `<!doctype html>
<html lang="${language}" dir="${writingDirectionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="format-detection" content="telephone=no">
<title>${company} – ${escaped(calm(kiosk.name))}</title>
<style>${pageAssets.style}</style>
</head>
<body data-version="${pageVersionOf(pageAssets)}">
<header><b>${company}</b>${languageMenu(language)}</header>
<main>
<section data-panel="entry">${heading('heading')}
${element('p', 'lead', ' class="lead"')}
<form id="entry" autocomplete="off">
<label for="code" data-t="code">${html('code')}</label>
${codeField(' inputmode="none" aria-describedby="code-state"')}
<p id="code-state" role="status"></p>
<div id="keys" dir="ltr" role="group" data-label="keys" aria-label="${html('keys')}">${keyboard(html('erase'))}</div>
<div class="foot">${button('scan', 'scan', ' class="plain" hidden')}${button('cancel', 'cancel', ' class="plain" hidden')}${element('button type="submit"', 'continue')}</div>
</form>
<div id="camera" hidden>${element('p', 'scanning')}<video muted playsinline></video>${button('scan-stop', 'cancel', ' class="plain"')}</div>
</section>
<section data-panel="session" id="session" hidden></section>
<section data-panel="saving" class="thanks" hidden>${heading('saving')}${element('p', 'savingText', ' class="lead"')}</section>
<section data-panel="unsaved" class="thanks" hidden>${heading('unsaved')}${element('p', 'unsavedText', ' class="lead"')}</section>
<section data-panel="thanks" class="thanks" hidden>${heading('thanks')}${element('p', 'thanksText')}${closing('thanks')}</section>
<section data-panel="ended" class="thanks" hidden>${heading('ended')}${element('p', 'endedText')}${closing('ended')}</section>
<section data-panel="off" class="thanks" hidden>${heading('off')}${element('p', 'offText', ' class="lead"')}</section>
</main>
<dialog id="idle" aria-labelledby="idle-title">${element('h2', 'idle', ' id="idle-title"')}${element('p', 'idleText')}
<div class="foot">${button('finish-now', 'finish', ' class="plain"')}${button('stay', 'stay', ' autofocus')}</div></dialog>
${pageTexts.languages.map(textsIn).join('\n')}
<script>${pageAssets.script}</script>
</body>
</html>
`;

  /** Returns the countdown and the button of a panel that closes by itself. */
  function closing(panel: string): string {
    return `${element('p', 'closes', ' class="lead"')}<p>${element('button type="button"', 'done', ` class="done-now" data-of="${panel}"`)}</p>`;
  }
}

const keyboard = (erase: string): string =>
  [...codeCharacters].map((one) => `<button type="button" class="plain">${one}</button>`).join('') +
  `<button type="button" class="plain" id="erase" data-label="erase" aria-label="${erase}"><svg viewBox="0 0 24 24" width="26" height="26" aria-hidden="true"><path d="M21 5H9l-6 7 6 7h12zM16 9.5l-5 5m0-5 5 5"/></svg></button>`;

/** Returns the menu of languages. It has buttons, because choosing a language must not open another page. */
function languageMenu(language: string): string {
  const buttons = pageTexts.languages.map(
    (one) =>
      `<li><button type="button" lang="${one}" data-language="${one}"${one === language ? ' aria-current="true"' : ''}>${escaped(nameOf(one))}</button></li>`,
  );
  return `<details id="languages"><summary>${escaped(nameOf(language))}</summary><ul>${buttons.join('')}</ul></details>`;
}

const textsIn = (language: string): string =>
  `<template data-texts="${language}" data-dir="${writingDirectionOf(language)}">${keys.map((key) => `<p data-text="${key}">${htmlOf(key, language)}</p>`).join('')}</template>`;
