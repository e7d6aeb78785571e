// Whether questions and KPIs that somebody writes by hand are as they should be: every fault, at its field. Pure.
import { isLanguage } from '@soundings/contract/formats.ts';
import { maxCommentLength, maxNameLength } from '@soundings/contract/limits.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { quote } from '../base/text.ts';
import type { KpiRow, NewQuestion, Option } from './questions.sql.ts';
import { isChoice, isQuestionType } from './types.ts';

const wrong = (path: string, type: DetailType, message: string): Detail => ({ type, message, path });

/** Everything that is wrong with a question. The places are JSON pointers into it. */
export function questionFaults(question: NewQuestion): Detail[] {
  const { key, type, text, language, translations, options } = question;
  return [
    ...keyFaults('/key', key),
    ...(isQuestionType(type) ? [] : [wrong('/type', 'out of range', 'The type is a number from 1 to 7.')]),
    ...(isLanguage(language)
      ? []
      : [wrong('/language', 'invalid language', `${quote(language)} is not an ISO 639-1 code.`)]),
    ...textFaults('/text', text, maxCommentLength),
    ...translationFaults('', translations, language),
    ...optionFaults(type, options, language),
  ];
}

/** The name of a thing for other programs: what stands at its ends would not be seen. */
function keyFaults(path: string, key: string): Detail[] {
  if (key.trim() !== key) return [wrong(path, 'space at an end', 'There is white space at one of its ends.')];
  return textFaults(path, key, maxNameLength);
}

function textFaults(path: string, text: string, most: number): Detail[] {
  if (text.trim() === '') return [{ type: 'missing field', message: 'This is needed.', path }];
  if (text.length <= most) return [];
  return [{ type: 'too long', message: `This may have ${most} characters.`, path }];
}

/** `own`: the language of the text itself, where that is known. */
function translationFaults(
  place: string,
  translations: Record<string, string>,
  own: string | undefined,
  most = maxCommentLength,
): Detail[] {
  return Object.entries(translations).flatMap(([language, text]) => {
    const path = `${place}/translations/${language}`;
    if (!isLanguage(language))
      return [wrong(path, 'invalid language', `${quote(language)} is not an ISO 639-1 code.`)];
    if (language === own) return [wrong(path, 'language taken', 'This is the language of the text itself.')];
    return textFaults(path, text, most);
  });
}

function optionFaults(type: number, options: Option[], language: string): Detail[] {
  if (!isChoice(type as 5)) {
    return options.length === 0
      ? []
      : [wrong('/options', 'invalid options', 'Only questions of types 5 and 6 have options.')];
  }
  if (options.length < 2)
    return [wrong('/options', 'invalid options', 'There must be at least two options to choose from.')];
  return options.flatMap((option, i) => {
    const isTwice = options.findIndex(({ id }) => id === option.id) < i;
    const place = `/options/${i}`;
    return [
      ...(isTwice
        ? [wrong(`${place}/id`, 'option taken', 'Another option has this id.')]
        : keyFaults(`${place}/id`, option.id)),
      ...textFaults(`${place}/text`, option.text, maxCommentLength),
      ...translationFaults(place, option.translations ?? {}, language),
    ];
  });
}

/** Everything that is wrong with a KPI, but for its questions. */
export function kpiFaults({ id, name, translations, imageUrl }: KpiRow): Detail[] {
  // Whoever reads the KPI shows the picture: nothing that a page would execute.
  const isAddress = imageUrl === null || (/^https?:\/\//i.test(imageUrl) && URL.canParse(imageUrl));
  return [
    ...keyFaults('/id', id),
    ...textFaults('/name', name, maxNameLength),
    ...translationFaults('', translations, undefined, maxNameLength),
    ...(isAddress
      ? []
      : [
          wrong(
            '/imageUrl',
            'invalid address',
            'This must be an address that begins with https:// or http://.',
          ),
        ]),
  ];
}
