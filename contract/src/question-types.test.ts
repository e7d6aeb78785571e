// The table of question types, and that the database, the texts of the console and the documents know exactly these types.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Question } from './data.ts';
import {
  agreementScale,
  answerKindOf,
  choiceTypes,
  fourStepScale,
  freeText,
  isChoice,
  isDistributionOnly,
  isQuestionType,
  isScaled,
  multipleChoice,
  questionTypes,
  recommendation,
  scaledTypes,
  scaleOf,
  singleChoice,
  tenStepScale,
  typeNumbers,
  typesText,
  yesNo,
} from './question-types.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const { description } = Question.properties.type as unknown as Record<'description', string>;
/** The names of the types in the description of the data interface. */
const names = new Map(
  [...description.matchAll(/(\d+): ([^;]+?)[;.]/g)].map(([, type, name]) => [Number(type), name as string]),
);

describe('question types', () => {
  test('have the numbers of the interfaces', () => {
    expect([agreementScale, tenStepScale, recommendation, yesNo]).toEqual([1, 2, 3, 4]);
    expect([singleChoice, multipleChoice, freeText, fourStepScale]).toEqual([5, 6, 7, 8]);
    expect(questionTypes).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(typeNumbers).toEqual({ minimum: 1, maximum: 8 });
    expect([0, 9, 1.5, '1', null, undefined, Number.NaN].filter(isQuestionType)).toEqual([]);
  });

  test('are numbers on a scale, options, or only a comment', () => {
    const kinds = ['number', 'number', 'number', 'yesNo', 'option', 'options', 'comment', 'number'];
    expect(questionTypes.map(answerKindOf)).toEqual(kinds);
    expect(scaledTypes.map((type) => [scaleOf(type)?.low, scaleOf(type)?.high])).toEqual([
      [1, 5],
      [1, 10],
      [0, 10],
      [0, 1],
      [1, 4],
    ]);
    expect(questionTypes.filter(isScaled)).toEqual(scaledTypes);
    expect(questionTypes.filter(isChoice)).toEqual([5, 6]);
    expect(choiceTypes.map(scaleOf)).toEqual([null, null]);
    expect(scaleOf(freeText)).toBeNull();
  });

  test('need the distribution threshold for all figures if only the distribution is shown', () => {
    expect(questionTypes.filter(isDistributionOnly)).toEqual([4, 5, 6]);
  });
});

describe('every question type', () => {
  test('has a name in the description of the data interface', () => {
    expect([...names.keys()]).toEqual(questionTypes);
  });

  test('is allowed by the database, which allows no other type', () => {
    const table = /create table questions \((.*?)\n\);/s.exec(read('server/src/db/schema.sql'))?.[1];
    const [, minimum, maximum] = /check \(type between (\d+) and (\d+)\)/.exec(table ?? '') ?? [];
    expect({ minimum: Number(minimum), maximum: Number(maximum) }).toEqual(typeNumbers);
    const between = Array.from(
      { length: typeNumbers.maximum - typeNumbers.minimum + 1 },
      (_, i) => typeNumbers.minimum + i,
    );
    expect(between).toEqual(questionTypes);
  });

  test('has its texts in each language of the console, and no other type has texts', () => {
    const languages = readdirSync(new URL('console/src/text', root), { withFileTypes: true })
      .filter((one) => one.isDirectory())
      .map(({ name }) => name);
    expect(languages).toContain('en');
    for (const language of languages) {
      const typesIn = (file: string, place: string) =>
        Object.keys(JSON.parse(read(`console/src/text/${language}/${file}.json`)) as object)
          .filter((key) => key.startsWith(`${place}.`))
          .map((key) => Number(key.slice(place.length + 1)));
      expect([language, ...typesIn('common', 'questionType')]).toEqual([language, ...questionTypes]);
      expect([language, ...typesIn('asking', 'asking.typeText')]).toEqual([language, ...questionTypes]);
    }
  });

  test('is in the documents on the history format, the gaps in the specification, and the labels of scales', () => {
    const rowsOf = (document: string) => [...read(document).matchAll(/^\| (\d+) +\| (.+?) +\|/gm)];
    expect(rowsOf('docs/integrators/history.md').map(([, type, name]) => [Number(type), name])).toEqual([
      ...names,
    ]);
    const row = /^\| question types +\| (.+?) +\|/m.exec(read('docs/integrators/gaps.md'))?.[1];
    expect(row).toBe([...names].map(([type, name]) => `${type} ${name}`).join(', '));
    const labelled = rowsOf('docs/administrators/questions.md').map(([, type]) => Number(type));
    expect(labelled).toEqual(scaledTypes);
  });
});

test('numbers of types are written as a text', () => {
  expect(typesText([1, 2, 3, 4])).toBe('1 to 4');
  expect(typesText([5, 6])).toBe('5 and 6');
  expect(typesText([5, 6], 'or')).toBe('5 or 6');
  expect(typesText([freeText])).toBe('7');
  expect(typesText([1, 2, 3, 5])).toBe('1 to 3 and 5');
  expect(typesText([1, 3, 4, 7])).toBe('1, 3, 4 and 7');
});
