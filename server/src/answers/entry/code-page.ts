// Renders the page at /go, where people enter the code of their card, as HTML. Pure. It works without its script.
import { escaped } from '../../base/html.ts';
import { type PageAssets, whole } from '../page.ts';
import { pageTexts } from '../page-texts.ts';

/** Why a code opens nothing. Whether a wrong code belongs to anyone is never said. */
export type CodeFault = 'typo' | 'unknown' | 'notAsked' | 'wait' | 'away';

/** Returns the page, with what is wrong with the code that was entered, if anything. */
export function codePage(pageAssets: PageAssets, language: string, fault?: CodeFault): string {
  const t = pageTexts.in(language);
  const note =
    fault === undefined
      ? ''
      : `<p id="code-state" class="faults" role="alert">${escaped(t(`entry.${fault}`))}</p>\n`;
  const body = `<h1>${escaped(t('entry.heading'))}</h1>
<p class="lead">${escaped(t('entry.lead'))}</p>
<form id="entry" method="post" action="/go?language=${escaped(language)}" autocomplete="off">
${note}<label for="code">${escaped(t('entry.code'))}</label>
${codeField(fault === undefined ? '' : ' aria-describedby="code-state"')}
<button type="submit">${escaped(t('entry.continue'))}</button>
<template id="typo">${escaped(t('entry.typo'))}</template>
</form>
<script>${pageAssets.script}</script>`;
  return whole(pageAssets, {
    language,
    company: 'Soundings',
    title: t('entry.heading'),
    body,
    languages: pageTexts.languages,
  });
}

/** Returns the field for a code. `marks`: further attributes. */
export const codeField = (marks: string): string =>
  `<input id="code" name="code" maxlength="200" autocomplete="off" autocapitalize="characters" autocorrect="off" spellcheck="false" required${marks}>`;
