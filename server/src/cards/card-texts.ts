// Texts of printed cards. Pure. They are plain text: the console prints them.
import type { CardTexts } from '@soundings/contract/console/cards.ts';
import { writingDirectionOf } from '@soundings/contract/texts.ts';
import { catalogue } from '../base/texts.ts';
import type { Arguments } from './text/arguments.ts';
import de from './text/de/card.json' with { type: 'json' };
import en from './text/en/card.json' with { type: 'json' };
import sv from './text/sv/card.json' with { type: 'json' };

export const cardTexts = catalogue<typeof en, Arguments['card']>({ en, sv, de });

/** Returns the texts of a company's cards in a language. `publicUrl`: the address of the installation. */
export function cardTextsIn(
  language: string,
  { company, publicUrl }: { company: string; publicUrl: string },
): CardTexts {
  const t = cardTexts.in(language);
  return {
    direction: writingDirectionOf(language),
    title: t('title', { company }),
    scan: t('scan', { address: `${publicUrl.replace(/^https?:\/\//, '')}/go` }),
    enter: t('enter'),
    again: t('again'),
    keep: t('keep'),
    privacy: t('privacy'),
  };
}
