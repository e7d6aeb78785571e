// The texts of file reports and their emails, and what to do about errors and warnings. Pure. File names, values and other texts
// that users wrote are passed in already sanitized.
import { catalogue } from '../base/texts.ts';
import type { Arguments } from './text/arguments.ts';
import { formatTexts } from '@soundings/contract/formats.ts';
import remediesEn from './text/en/remedies.json' with { type: 'json' };
import en from './text/en/report.json' with { type: 'json' };
import remediesSv from './text/sv/remedies.json' with { type: 'json' };
import sv from './text/sv/report.json' with { type: 'json' };

export const reportTexts = catalogue<typeof en, Arguments['report']>({ en, sv });
export type ReportTexts = ReturnType<typeof reportTexts.in>;

const remedies = catalogue<typeof remediesEn, Arguments['remedies']>({ en: remediesEn, sv: remediesSv });

/**
 * Returns what to do about an error or warning, for a reader who has the file open. Where the catalogue has no better text, an
 * English reader gets the message of the detail, and others get it after the text in their language.
 */
export function remedyOf(
  { type, message, row }: { type: string; message: string; row?: number },
  language: string,
): string {
  if (!Object.hasOwn(remediesEn, type)) return message;
  const place = row === undefined ? 'other' : 'cell';
  const format = formatIn(type, remedies.languageFor(language));
  return remedies.in(language)(type as keyof typeof remediesEn, { message, place, format });
}

/** Returns what a value of a format must be; empty for other errors. */
function formatIn(type: string, language: string): string {
  const texts: Record<string, Record<string, string>> = formatTexts;
  return texts[Object.hasOwn(texts, language) ? language : 'en']?.[type] ?? '';
}
