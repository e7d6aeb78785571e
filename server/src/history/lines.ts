// Reads and validates one line of a history file (docs/integrators/history.md). Pure. history.ts checks that the groups, questions and
// people that a line refers to exist.
import { maxCommentLength, maxNameLength } from '@soundings/contract/limits.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { isChoice, isQuestionType, type QuestionType } from '@soundings/contract/question-types.ts';
import { type Week, weekNamed } from '@soundings/contract/weeks.ts';
import { lengthFault, missing } from '../base/field-faults.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts';
import { quote } from '../base/text.ts';
import { kpiFaults, questionFaults, unwantedOptions } from '../questions/question-faults.ts';
import type { AnswerOption, NewQuestion } from '../questions/questions.sql.ts';

/** A group, by its externalId or, if it has none, by its id. */
export type GroupName = string | { id: number };

export type QuestionLine = { kind: 'question'; question: NewQuestion };
export type KpiLine = {
  kind: 'kpi';
  kpi: {
    id: string;
    name: string;
    /** If left out, existing translations are kept. */
    translations?: Record<string, string>;
    imageUrl: string | null;
    questions: string[];
  };
};
export type RoundLine = {
  kind: 'round';
  week: Week;
  group: GroupName;
  questions: string[];
  asked: { person: string; memberOf: GroupName[] }[] | undefined;
};
export type AnswerLine = {
  kind: 'answer';
  week: Week;
  group: GroupName;
  person: string;
  question: string;
  value: JsonValue | undefined;
  comment: string | null;
  skipped: boolean;
  notApplicable: boolean;
};
export type HistoryLine = QuestionLine | KpiLine | RoundLine | AnswerLine;

/** A fault of a line. The message says what is expected. */
export class LineFault extends Error {}

const readers: Record<HistoryLine['kind'], (value: JsonObject) => HistoryLine> = {
  question: readQuestion,
  kpi: readKpi,
  round: readRound,
  answer: readAnswerLine,
};

/** Returns a parsed line in its type. Throws a LineFault if it does not follow the format. */
export function readLine(value: JsonValue): HistoryLine {
  const line = objectOf(value, 'A line');
  const [kind, ...others] = Object.keys(line);
  if (kind === undefined || others.length > 0 || !Object.hasOwn(readers, kind)) {
    throw new LineFault('A line must be an object with exactly one key: question, kpi, round or answer.');
  }
  return readers[kind as HistoryLine['kind']](objectOf(line[kind], kind));
}

function readQuestion(value: JsonObject): QuestionLine {
  refuseUnknown(value, ['key', 'type', 'text', 'language', 'translations', 'options', 'allowsNotApplicable']);
  const { allowsNotApplicable } = value;
  if (allowsNotApplicable !== undefined && typeof allowsNotApplicable !== 'boolean')
    throw new LineFault('allowsNotApplicable must be true or false.');
  const type = value['type'] as QuestionType;
  if (isQuestionType(type) && !isChoice(type) && value['options'] !== undefined) refuse([unwantedOptions]);
  const question = {
    key: textOf(value, 'key'),
    type,
    text: textOf(value, 'text'),
    language: textOf(value, 'language'),
    translations: translationsOf(value['translations']),
    options: isChoice(type) ? optionsOf(value['options']) : [],
    ...(allowsNotApplicable !== undefined && { allowsNotApplicable }),
  };
  refuse(questionFaults(question, { isPast: true }));
  return { kind: 'question', question };
}

function translationsOf(value: JsonValue | undefined): Record<string, string> {
  if (value === undefined) return {};
  const translations = objectOf(value, 'translations');
  for (const language of Object.keys(translations)) textOf(translations, language);
  return translations as Record<string, string>;
}

function optionsOf(value: JsonValue | undefined): AnswerOption[] {
  if (!Array.isArray(value)) throw new LineFault('options must be an array with at least one option.');
  return value.map((one): AnswerOption => {
    const option = objectOf(one, 'An option');
    refuseUnknown(option, ['id', 'text', 'translations']);
    const [id, text] = [textOf(option, 'id'), textOf(option, 'text')];
    const translations = translationsOf(option['translations']);
    return Object.keys(translations).length > 0 ? { id, text, translations } : { id, text };
  });
}

function readKpi(value: JsonObject): KpiLine {
  refuseUnknown(value, ['id', 'name', 'translations', 'imageURL', 'questions']);
  const translations = translationsOf(value['translations']);
  const kpi = {
    id: textOf(value, 'id'),
    name: textOf(value, 'name'),
    imageUrl: value['imageURL'] === undefined ? null : textOf(value, 'imageURL'),
  };
  refuse(kpiFaults({ ...kpi, translations }, { isPast: true }));
  return {
    kind: 'kpi',
    kpi: {
      ...kpi,
      ...(value['translations'] !== undefined && { translations }),
      questions: textsOf(value, 'questions'),
    },
  };
}

function readRound(value: JsonObject): RoundLine {
  refuseUnknown(value, ['week', 'group', 'questions', 'asked']);
  const asked = value['asked'];
  if (asked !== undefined && !Array.isArray(asked)) throw new LineFault('asked must be an array.');
  const group = groupOf(value['group'], 'group');
  const people = asked?.map((one) => readAsked(one, group));
  refuseDuplicates(people?.map(({ person }) => person) ?? [], 'asked');
  return { kind: 'round', week: weekIn(value), group, questions: textsOf(value, 'questions'), asked: people };
}

function readAsked(value: JsonValue, group: GroupName): { person: string; memberOf: GroupName[] } {
  const one = objectOf(value, 'asked: each');
  refuseUnknown(one, ['person', 'memberOf']);
  const { memberOf = [group as JsonValue] } = one;
  if (!Array.isArray(memberOf)) throw new LineFault('memberOf must be an array of groups.');
  return {
    person: limitedTextOf(one, 'person', maxNameLength),
    memberOf: memberOf.map((name) => groupOf(name, 'memberOf')),
  };
}

const answerFields = ['week', 'group', 'person', 'question', 'value', 'comment', 'skipped', 'notApplicable'];

function readAnswerLine(value: JsonObject): AnswerLine {
  refuseUnknown(value, answerFields);
  const { skipped = false, notApplicable = false } = value;
  if (typeof skipped !== 'boolean') throw new LineFault('skipped must be true or false.');
  if (typeof notApplicable !== 'boolean') throw new LineFault('notApplicable must be true or false.');
  if (notApplicable && (skipped || value['value'] !== undefined)) {
    throw new LineFault('An answer with "notApplicable": true must not have a value or be skipped.');
  }
  if (skipped && (value['value'] !== undefined || value['comment'] !== undefined)) {
    throw new LineFault('An answer with "skipped": true must not have a value or a comment.');
  }
  return {
    kind: 'answer',
    week: weekIn(value),
    group: groupOf(value['group'], 'group'),
    person: limitedTextOf(value, 'person', maxNameLength),
    question: limitedTextOf(value, 'question', maxNameLength),
    value: value['value'],
    comment: value['comment'] === undefined ? null : limitedTextOf(value, 'comment', maxCommentLength),
    skipped,
    notApplicable,
  };
}

const weeks = new Map<string, Week>();

function weekIn(value: JsonObject): Week {
  const name = value['week'];
  const known = typeof name === 'string' ? (weeks.get(name) ?? weekNamed(name)) : undefined;
  if (known === undefined) throw new LineFault('week must be an existing ISO week, such as 2024-W47.');
  weeks.set(name as string, known);
  return known;
}

function groupOf(value: JsonValue | undefined, field: string): GroupName {
  if (typeof value === 'string') return value;
  const id = isJsonObject(value) ? value['id'] : undefined;
  if (Number.isInteger(id) && Object.keys(value as JsonObject).length === 1) return { id: id as number };
  throw new LineFault(`${field} must be the externalId of a group, or {"id": 12} for a group without one.`);
}

/** Throws a LineFault for the first of these faults, with its place in the line. */
function refuse(details: Detail[]): void {
  const [first] = details;
  if (!first) return;
  const place = (first.path ?? '').slice(1).replace('imageUrl', 'imageURL');
  throw new LineFault(`${place}: ${first.message}`);
}

function objectOf(value: JsonValue | undefined, what: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw new LineFault(`${what} must be an object.`);
}

function textOf(value: JsonObject, field: string): string {
  const text = Object.hasOwn(value, field) ? value[field] : undefined;
  if (typeof text === 'string') return text;
  throw new LineFault(text === undefined ? missing(field).message : `${field} must be a string.`);
}

function limitedTextOf(value: JsonObject, field: string, maxLength: number): string {
  const text = textOf(value, field);
  const fault = text === '' ? missing(field) : lengthFault(field, text, maxLength);
  if (fault) throw new LineFault(fault.message);
  return text;
}

function textsOf(value: JsonObject, field: string): string[] {
  const texts = value[field];
  if (!Array.isArray(texts) || texts.length === 0 || !texts.every((text) => typeof text === 'string')) {
    throw new LineFault(`${field} must be an array with at least one string.`);
  }
  refuseDuplicates(texts, field);
  return texts;
}

function refuseDuplicates(texts: string[], field: string): void {
  const seen = new Set<string>();
  for (const text of texts) {
    if (seen.has(text)) throw new LineFault(`${field}: ${quote(text)} is listed twice.`);
    seen.add(text);
  }
}

function refuseUnknown(value: JsonObject, known: string[]): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) {
      throw new LineFault(`Unknown field ${quote(key)}. Known fields: ${known.join(', ')}.`);
    }
  }
}
