// Texts of the answering page. Pure. They are plain text: the page escapes them.
import { catalogue } from '../base/texts.ts';
import type { Arguments } from './text/arguments.ts';
import de from './text/de/page.json' with { type: 'json' };
import en from './text/en/page.json' with { type: 'json' };
import sv from './text/sv/page.json' with { type: 'json' };

/**
 * Whether the page asks about stopping emails of a kind, or the person has just stopped or resumed them. `stopped`: for reminders, the
 * person has stopped all survey emails.
 */
export type OptOutState = 'asked' | 'optedOut' | 'resumed';
export type OptOutPageKind =
  { kind: 'reminders'; state: OptOutState | 'stopped' } | { kind: 'digests'; state: OptOutState };

/** The pages without questions, which have only a heading and a sentence or two. */
export type PlainKind = 'dead' | 'foreign' | 'away' | 'tooLarge' | 'defect';

export const pageTexts = catalogue<typeof en, Arguments['page']>({ en, sv, de });
export type PageTexts = ReturnType<typeof pageTexts.in>;
