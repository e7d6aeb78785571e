// The privacy section of the answering page: who sees what, what no one is shown, and the limits of this protection (P11, P20). Pure.
import type { Asking } from './answering.ts';
import type { AskedBreakdown } from './answering.sql.ts';
import { calm, lastDayIn, textsFor } from './page-language.ts';
import type { PageTexts } from './page-texts.ts';

/** Returns what happens to the answers when the week is over. */
export const afterwards = ({ thresholds, copies }: Asking, t: PageTexts): string =>
  t(thresholds.figures <= 1 ? 'privacy.deleted' : `privacy.afterwards.${copies}`);

/**
 * Returns the privacy section: who sees what, how many answers this takes, what no one is shown (P11), and the limits of this
 * protection (P20). `canChange`: whether the page has something to answer.
 */
export function privacy(asking: Asking, language: string, canChange = true): string {
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

/** Returns what is special about a link that the employer handed out, or a card that it printed. */
function handedOut({ isExported, isFromCard, handedBy }: Asking, t: PageTexts): string[] {
  if (!isExported) return [];
  const name = calm(handedBy ?? '');
  if (isFromCard) {
    const printed = name === '' ? t('privacy.card') : t('privacy.cardBy', { name });
    return [`${printed} ${t('privacy.cardConsequence')}`];
  }
  const who = name === '' ? t('privacy.handedOut') : t('privacy.handedOutBy', { name });
  return [`${who} ${t('privacy.handedOutConsequence')}`];
}

/** Returns the limits of the protection that apply, collapsed. */
function limits(
  { thresholds: { figures }, isLive, isFromCard, isAtKiosk = false }: Asking,
  t: PageTexts,
  html: (text: string) => string,
): string {
  const live = isLive ? [t('privacy.limits.live', { threshold: figures })] : [];
  const ofResults = [...limitsOfResults.map((one) => t(`privacy.limits.${one}`)), ...live];
  const all = [
    ...(figures <= 1 ? [] : [...ofResults, t('privacy.limits.operator')]),
    t(isFromCard ? 'privacy.limits.card' : 'privacy.limits.link'),
    ...(isAtKiosk ? [t('privacy.limits.kiosk')] : [t('privacy.limits.cookie')]),
  ];
  return `<details><summary>${html(t('privacy.limits.heading'))}</summary><ul>${all.map((text) => `<li>${html(text)}</li>`).join('')}</ul></details>`;
}

const limitsOfResults = ['unanimity', 'weeks', 'skip', 'colleagues', 'invented'] as const;
