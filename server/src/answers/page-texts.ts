// Texts of the answering page. Pure. They are plain text: the page escapes them.
import { answeringLanguages } from '../languages/languages.ts';

/**
 * Whether the page asks about stopping emails of a kind, or the person has just stopped or resumed them. `stopped`: for reminders, the
 * person has stopped all survey messages.
 */
export type OptOutState = 'asked' | 'optedOut' | 'resumed';
export type OptOutPageKind =
  { kind: 'reminders'; state: OptOutState | 'stopped' } | { kind: 'digests'; state: OptOutState };

/** The pages without questions, which have only a heading and a sentence or two. */
export type PlainKind = 'dead' | 'foreign' | 'away' | 'tooLarge' | 'defect';

export const { texts: pageTexts } = answeringLanguages;
export type PageTexts = ReturnType<typeof pageTexts.in>;
