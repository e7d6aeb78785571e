// Texts of printed cards. Pure. They are plain text: the console prints them.
import { catalogue } from '../base/texts.ts';
import type { Arguments } from './text/arguments.ts';
import de from './text/de/card.json' with { type: 'json' };
import en from './text/en/card.json' with { type: 'json' };
import sv from './text/sv/card.json' with { type: 'json' };

export const cardTexts = catalogue<typeof en, Arguments['card']>({ en, sv, de });
