// Texts of printed cards. Pure. They are plain text: the console prints them.
import type { CardTexts } from '@soundings/contract/console/cards.ts';
import { writingDirectionOf } from '@soundings/contract/texts.ts';
import { answeringLanguages } from '../languages/languages.ts';

/** Returns the texts of a company's cards in a language. `publicUrl`: the address of the installation. */
export function cardTextsIn(
  language: string,
  { company, publicUrl }: { company: string; publicUrl: string },
): CardTexts {
  const t = answeringLanguages.texts.in(language);
  return {
    direction: writingDirectionOf(language),
    title: t('card.title', { company }),
    scan: t('card.scan', { address: `${publicUrl.replace(/^https?:\/\//, '')}/go` }),
    enter: t('card.enter'),
    again: t('card.again'),
    keep: t('card.keep'),
    privacy: t('card.privacy'),
  };
}
