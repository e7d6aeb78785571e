// Validates questions and KPIs entered manually or imported from past surveys, and reports each fault at its field. Pure.
import { maxCommentLength, maxNameLength } from '@soundings/contract/limits.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import {
  choiceTypes,
  freeText,
  isChoice,
  isQuestionType,
  type QuestionType,
  typeNumbers,
  typesText,
} from '@soundings/contract/question-types.ts';
import {
  type FieldFault,
  fieldNameAt,
  languageFault,
  lengthFault,
  missing,
  nameFault,
} from '../base/field-faults.ts';
import type { AnswerOption, Kpi, NewQuestion } from './questions.sql.ts';

/** Returns the detail of a fault. `path`: a JSON pointer. */
export const detailAt = (path: string, type: DetailType, message: string): Detail => ({
  type,
  message,
  path,
});
const at = (path: string, fault: FieldFault | undefined): Detail[] => (fault ? [{ ...fault, path }] : []);

/**
 * `isPast`: the question is from a past survey, which can't be corrected any more. So a choice question may have a single
 * option, keys may have spaces at their ends, texts may be blank, and a translation may be in the question's own language.
 */
type Origin = { isPast?: boolean };

/** Returns everything that is wrong with a question. Paths are JSON pointers into it. */
export function questionFaults(question: NewQuestion, origin: Origin = {}): Detail[] {
  const { key, type, text, language, translations, options, allowsNotApplicable } = question;
  const { minimum, maximum } = typeNumbers;
  return [
    ...keyFaults('/key', key, origin),
    ...(isQuestionType(type)
      ? []
      : [detailAt('/type', 'out of range', `The type must be a number from ${minimum} to ${maximum}.`)]),
    ...at('/language', languageFault(language)),
    ...textFaults('/text', text, maxCommentLength, origin),
    ...translationFaults('', translations, language, origin),
    ...optionFaults(type, options, language, origin),
    ...(allowsNotApplicable && type === freeText ? [nothingToChoose] : []),
  ];
}

/** A key is used by other programs, so spaces at its ends, which no one would notice, are not allowed. */
function keyFaults(path: string, key: string, origin: Origin): Detail[] {
  if (!origin.isPast && key.trim() !== key)
    return [detailAt(path, 'space at an end', 'Remove the spaces at the beginning and the end.')];
  return textFaults(path, key, maxNameLength, origin);
}

function textFaults(path: string, text: string, maxLength: number, { isPast }: Origin): Detail[] {
  const field = fieldNameAt(path);
  if (!isPast) return at(path, nameFault(field, text, maxLength));
  return at(path, text === '' ? missing(field) : lengthFault(field, text, maxLength));
}

/** `own`: the language of the text itself, if known. */
function translationFaults(
  place: string,
  translations: Record<string, string>,
  own: string | undefined,
  origin: Origin,
  maxLength = maxCommentLength,
): Detail[] {
  return Object.entries(translations).flatMap(([language, text]) => {
    const path = `${place}/translations/${language}`;
    const fault = languageFault(language);
    if (fault) return at(path, fault);
    if (language === own && !origin.isPast)
      return [
        detailAt(
          path,
          'language taken',
          'The original text is already in this language. Remove this translation.',
        ),
      ];
    return textFaults(path, text, maxLength, origin);
  });
}

/** The fault of a free-text question that allows "not applicable". */
const nothingToChoose = detailAt(
  '/allowsNotApplicable',
  'invalid value',
  'Questions for free text can’t allow “not applicable”. People can skip them.',
);

/** The fault of options of a question that is not a choice. */
export const unwantedOptions = detailAt(
  '/options',
  'invalid options',
  `Only questions of types ${typesText(choiceTypes)} can have options.`,
);

function optionFaults(
  type: QuestionType,
  options: AnswerOption[],
  language: string,
  origin: Origin,
): Detail[] {
  if (!isChoice(type)) {
    return options.length === 0 ? [] : [unwantedOptions];
  }
  if (options.length < (origin.isPast ? 1 : 2)) {
    const minimum = origin.isPast ? 'one option' : 'two options';
    return [detailAt('/options', 'invalid options', `Add at least ${minimum} to choose from.`)];
  }
  return options.flatMap((option, i) => {
    const isTwice = options.findIndex(({ id }) => id === option.id) < i;
    const place = `/options/${i}`;
    return [
      ...(isTwice
        ? [detailAt(`${place}/id`, 'option taken', 'Another option already has this ID.')]
        : keyFaults(`${place}/id`, option.id, origin)),
      ...textFaults(`${place}/text`, option.text, maxCommentLength, origin),
      ...translationFaults(place, option.translations ?? {}, language, origin),
    ];
  });
}

/** Returns everything that is wrong with a KPI, except for its questions. */
export function kpiFaults(
  { id, name, translations, imageUrl }: Omit<Kpi, 'questionIds'>,
  origin: Origin = {},
): Detail[] {
  // Pages display this image, so no scheme that a browser could execute is accepted.
  const isAddress = imageUrl === null || (/^https?:\/\//i.test(imageUrl) && URL.canParse(imageUrl));
  return [
    ...keyFaults('/id', id, origin),
    ...textFaults('/name', name, maxNameLength, origin),
    ...translationFaults('', translations, undefined, origin, maxNameLength),
    ...at('/imageUrl', imageUrl === null ? undefined : lengthFault('imageUrl', imageUrl, maxCommentLength)),
    ...(isAddress
      ? []
      : [detailAt('/imageUrl', 'invalid url', 'Enter a URL that starts with https:// or http://.')]),
  ];
}
