// Texts of the pages where people enter the code of a card. Pure. They are plain text: the pages escape them.
import { catalogue } from '../../base/texts.ts';
import type { Arguments } from './text/arguments.ts';
import de from './text/de/entry.json' with { type: 'json' };
import en from './text/en/entry.json' with { type: 'json' };
import sv from './text/sv/entry.json' with { type: 'json' };

export const entryTexts = catalogue<typeof en, Arguments['entry']>({ en, sv, de });
