// Validates questions and KPIs entered manually, and reports each fault at its field. Pure.
import { maxCommentLength, maxNameLength } from '@soundings/contract/limits.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { fieldNameAt, type FieldFault, languageFault, nameFault } from '../base/field-faults.ts';
import type { Kpi, NewQuestion, AnswerOption } from './questions.sql.ts';
import { isChoice, isQuestionType } from './types.ts';

const wrong = (path: string, type: DetailType, message: string): Detail => ({ type, message, path });
const at = (path: string, fault: FieldFault | undefined): Detail[] => (fault ? [{ ...fault, path }] : []);

/** Returns everything that is wrong with a question. Paths are JSON pointers into it. */
export function questionFaults(question: NewQuestion): Detail[] {
  const { key, type, text, language, translations, options } = question;
  return [
    ...keyFaults('/key', key),
    ...(isQuestionType(type)
      ? []
      : [wrong('/type', 'out of range', 'The type must be a number from 1 to 7.')]),
    ...at('/language', languageFault(language)),
    ...textFaults('/text', text, maxCommentLength),
    ...translationFaults('', translations, language),
    ...optionFaults(type, options, language),
  ];
}

/** A key is used by other programs, so spaces at its ends, which no one would notice, are not allowed. */
function keyFaults(path: string, key: string): Detail[] {
  if (key.trim() !== key)
    return [wrong(path, 'space at an end', 'Remove the spaces at the beginning and the end.')];
  return textFaults(path, key, maxNameLength);
}

const textFaults = (path: string, text: string, maxLength: number): Detail[] =>
  at(path, nameFault(fieldNameAt(path), text, maxLength));

/** `own`: the language of the text itself, if known. */
function translationFaults(
  place: string,
  translations: Record<string, string>,
  own: string | undefined,
  maxLength = maxCommentLength,
): Detail[] {
  return Object.entries(translations).flatMap(([language, text]) => {
    const path = `${place}/translations/${language}`;
    const fault = languageFault(language);
    if (fault) return at(path, fault);
    if (language === own)
      return [
        wrong(
          path,
          'language taken',
          'The original text is already in this language. Remove this translation.',
        ),
      ];
    return textFaults(path, text, maxLength);
  });
}

function optionFaults(type: number, options: AnswerOption[], language: string): Detail[] {
  if (!isChoice(type as 5)) {
    return options.length === 0
      ? []
      : [wrong('/options', 'invalid options', 'Only questions of types 5 and 6 can have options.')];
  }
  if (options.length < 2)
    return [wrong('/options', 'invalid options', 'Add at least two options to choose from.')];
  return options.flatMap((option, i) => {
    const isTwice = options.findIndex(({ id }) => id === option.id) < i;
    const place = `/options/${i}`;
    return [
      ...(isTwice
        ? [wrong(`${place}/id`, 'option taken', 'Another option already has this ID.')]
        : keyFaults(`${place}/id`, option.id)),
      ...textFaults(`${place}/text`, option.text, maxCommentLength),
      ...translationFaults(place, option.translations ?? {}, language),
    ];
  });
}

/** Returns everything that is wrong with a KPI, except for its questions. */
export function kpiFaults({ id, name, translations, imageUrl }: Kpi): Detail[] {
  // Pages display this image, so no scheme that a browser could execute is accepted.
  const isAddress = imageUrl === null || (/^https?:\/\//i.test(imageUrl) && URL.canParse(imageUrl));
  return [
    ...keyFaults('/id', id),
    ...textFaults('/name', name, maxNameLength),
    ...translationFaults('', translations, undefined, maxNameLength),
    ...(isAddress
      ? []
      : [wrong('/imageUrl', 'invalid address', 'Enter a URL that starts with https:// or http://.')]),
  ];
}
