// Renders a question of the answering page with its fields. Pure.
import { maxCommentLength } from '@soundings/contract/limits.ts';
import {
  type AnswerKind,
  answerKindOf,
  freeText,
  scaleOf,
  yesNo,
} from '@soundings/contract/question-types.ts';
import { onceForLanguage } from '@soundings/contract/texts.ts';
import { escaped } from '../base/html.ts';
import { libraryLanguage, scaleTexts } from '../questions/library-texts.ts';
import type { Question } from '../questions/questions.sql.ts';
import type { Refusal } from '../sealing/person-answers.ts';
import { isEmptiable, notApplicableIn, type SubmittedValue } from './form.ts';
import { foreign, marked, textInLanguage, textLanguage, textsFor } from './page-language.ts';
import type { PageTexts } from './page-texts.ts';

/** What is wrong with an answer. The page has a text for each. */
export type PageFault = 'choose' | 'wrong' | 'tooLong' | 'notAsked' | Refusal;

/** Returns the page's text for a fault. */
export const faultText = (t: PageTexts, fault: PageFault): string =>
  fault === 'tooLong' ? t('faults.tooLong', { characters: maxCommentLength }) : t(`faults.${fault}`);

export type Card = {
  question: Question;
  language: string;
  at: number;
  of: number;
  fields: SubmittedValue;
  fault: PageFault | undefined;
  /** Why the question can no longer be answered here; undefined: it can. */
  refusal: Refusal | undefined;
};

/** The fields of a question that has not been answered. */
export const noFields: SubmittedValue = { values: [], comment: '', skipped: false, wasKept: false };

/** How an answer is entered. */
const inputs: Record<AnswerKind, 'radio' | 'checkbox' | 'text'> = {
  number: 'radio',
  yesNo: 'radio',
  option: 'radio',
  options: 'checkbox',
  comment: 'text',
};

/** Returns the HTML of a question. */
export function card(one: Card): string {
  const { question, language, at, of, fields, fault, refusal } = one;
  const { id, type } = question;
  const [t, html] = textsFor(language);
  const count = `<small>${html(t('count', { at, of }))}</small>`;
  const text = `<span id="t${id}"${foreign(textLanguage(question, language), language)}>${escaped(textInLanguage(question, question, language))}</span>`;
  const heading = `<h2 tabindex="-1">${count} ${text}</h2>`;
  if (refusal) {
    return `<div class="card fixed" id="q${id}" data-fixed>${heading}<p class="done">${html(t('answered.heading'))}</p><p class="hint">${html(t(`answered.${refusal}`))}</p></div>`;
  }
  const answerKind = answerKindOf(type);
  const input = inputs[answerKind];
  const state = fault ? ` aria-invalid="true" aria-describedby="f${id}"` : '';
  const group = input === 'radio' ? ` role="radiogroup" aria-labelledby="t${id}"${state}` : '';
  const marker = fields.wasKept && isEmptiable(type) ? `<input type="hidden" name="q${id}" value="">` : '';
  const message = `<p class="fault" id="f${id}" role="alert">${fault ? html(faultText(t, fault)) : ''}</p>`;
  const answer =
    input === 'text'
      ? `${heading}${message}${commentField(one, fault !== undefined)}`
      : `<fieldset${group}><legend>${heading}</legend>${message}${choices(one, input, input === 'checkbox' ? state : '')}${notApplicable(one, input)}</fieldset>`;
  const extra =
    input === 'text'
      ? ''
      : `<details${fields.comment === '' && fault !== 'tooLong' ? '' : ' open'}><summary>${html(t('addComment'))}</summary>${commentField(one, fault === 'tooLong')}</details>`;
  const skip = `<label class="skip"><input type="checkbox" name="s${id}" value="1" aria-describedby="t${id} n${id}"${fields.skipped ? ' checked' : ''}>${html(t('skip'))}</label><p class="note" id="n${id}" role="status"></p>`;
  return `<div class="card${fault ? ' wrong' : ''}" id="q${id}" data-answer="${answerKind}"${fields.wasKept ? ' data-kept' : ''}>${marker}${answer}<div class="more">${extra}${skip}</div></div>`;
}

/** Returns the radio buttons or check boxes. `state`: ARIA attributes for each check box, as their group can't have them. */
function choices({ question, language, fields }: Card, kind: 'radio' | 'checkbox', state: string): string {
  const { id, type, options } = question;
  const input = (value: string) =>
    `<input type="${kind}" name="q${id}" value="${escaped(value)}"${fields.values.includes(value) ? ' checked' : ''}${state}>`;
  if (scaleOf(type)?.labels === 'ends') return numberRow(question, language, input);
  const scale = scaleTexts(type, language).map(({ value, text }) => ({
    value: type === yesNo ? (['no', 'yes'][value] as string) : String(value),
    text,
    marks: foreign(libraryLanguage(language), language),
  }));
  const chosen = options.map((option) => ({
    value: option.id,
    text: textInLanguage(option, question, language),
    marks: foreign(option.translations?.[language] === undefined ? question.language : language, language),
  }));
  const labels = [...scale, ...chosen].map(
    ({ value, text, marks }) => `<label>${input(value)}${marked(text, marks)}</label>`,
  );
  return `<div class="${type === yesNo ? 'list two' : 'list'}">${labels.join('')}</div>`;
}

/** Returns the choice "not applicable", in the same group as the others, if the question allows it. */
function notApplicable({ question, language, fields }: Card, kind: 'radio' | 'checkbox'): string {
  if (!question.allowsNotApplicable) return '';
  const [t, html] = textsFor(language);
  const value = notApplicableIn(question);
  const checked = fields.values.includes(value) ? ' checked' : '';
  return `<div class="list none"><label><input type="${kind}" name="q${question.id}" value="${escaped(value)}" data-none${checked}>${html(t('notApplicable'))}</label></div>`;
}

/** Returns the function that writes a number with the digits of a language. */
const digitsOf = onceForLanguage((language: string) => new Intl.NumberFormat(language).format);

/** Returns the numbers of a scale, with labels at both ends. */
function numberRow({ type }: Question, language: string, input: (value: string) => string): string {
  const [low, high] = scaleTexts(type, language) as [
    { value: number; text: string },
    { value: number; text: string },
  ];
  const marks = foreign(libraryLanguage(language), language);
  const digits = digitsOf(libraryLanguage(language));
  const cells = Array.from({ length: high.value - low.value + 1 }, (_, i) => {
    const value = low.value + i;
    const end = [low, high].find((one) => one.value === value);
    const texts = end ? `<i class="unseen"${marks}> ${escaped(end.text)}</i>` : '';
    return `<label>${input(String(value))}<span>${digits(value)}${texts}</span></label>`;
  });
  const ends = [low, high].map(({ text }) => `<span${marks}>${escaped(text)}</span>`).join('');
  return `<div class="numbers from${low.value}">${cells.join('')}</div><div class="ends" aria-hidden="true">${ends}</div>`;
}

function commentField({ question: { id, type }, language, fields }: Card, isWrong: boolean): string {
  const [t, html] = textsFor(language);
  const state = isWrong ? ' aria-invalid="true"' : '';
  const described = `h${id}${isWrong ? ` f${id}` : ''}`;
  const label = type === freeText ? '' : `<span class="unseen" id="l${id}">${html(t('comment'))}</span>`;
  const name = type === freeText ? `t${id}` : `l${id} t${id}`;
  // HTML drops a line break right after <textarea>, so one is added to preserve the comment's first line.
  return `${label}<textarea name="c${id}" maxlength="${maxCommentLength}" aria-labelledby="${name}" aria-describedby="${described}"${state}>
${escaped(fields.comment)}</textarea><p class="hint" id="h${id}">${html(t('commentHint'))}</p>`;
}
