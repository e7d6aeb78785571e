// Converting stored answers to the fields of the form and back.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { questionTypes } from '@soundings/contract/question-types.ts';
import type { Question } from '../questions/questions.sql.ts';
import { readAnswer } from '../questions/types.ts';
import type { Asking } from './answering.ts';
import { answersIn, storedValuesIn, submittedIn } from './form.ts';

const options = ['a', 'b', '"<c>', 'skip'].map((id) => ({ id, text: id }));
const questions = questionTypes.map((type): Question => ({
  id: type,
  key: `k${type}`,
  type,
  text: '?',
  language: 'en',
  translations: {},
  options,
  allowsNotApplicable: false,
  retiredAt: null,
}));
const asking = (answers: Asking['answers'] = new Map()) => ({ questions, answers }) as unknown as Asking;
const read = (form: string, answers?: Asking['answers']) =>
  answersIn(submittedIn(new URLSearchParams(form)), asking(answers));
const nothing = { value: null, choices: null, comment: null, skipped: false };

/** Returns the fields that a browser sends for a page that shows these questions and answers. */
function fieldsOf(one: Asking): URLSearchParams {
  const form = new URLSearchParams();
  for (const [id, { values, comment, skipped, wasKept }] of storedValuesIn(one)) {
    if (wasKept && id >= 6) form.append(`q${id}`, '');
    for (const value of values) form.append(`q${id}`, value);
    form.append(`c${id}`, comment.replaceAll('\n', '\r\n'));
    if (skipped) form.append(`s${id}`, '1');
  }
  return form;
}

describe('a form', () => {
  test('sent back unchanged contains exactly the stored answers, whatever they are', () => {
    const comment = fc.option(
      fc.string({ minLength: 1 }).filter((text) => text.trim() !== '' && !/[\r\0]/.test(text)),
    );
    const id = fc.constantFrom(...options.map((one) => one.id));
    const number = (min: number, max: number) =>
      fc.record({ value: fc.integer({ min, max }), choices: fc.constant(null), comment });
    const kept: fc.Arbitrary<{ value: number | null; choices: string[] | null; comment: string | null }>[] = [
      number(1, 5),
      number(1, 10),
      number(0, 10),
      number(0, 1),
      fc.record({ value: fc.constant(null), choices: fc.tuple(id), comment }),
      fc.record({ value: fc.constant(null), choices: fc.uniqueArray(id), comment }),
      fc.record({
        value: fc.constant(null),
        choices: fc.constant(null),
        comment: comment.map((text) => text ?? 'x'),
      }),
    ];
    const answers = fc
      .tuple(...kept.map((one) => fc.option(one)))
      .map(
        (all) =>
          new Map(all.flatMap((one, i) => (one ? [[i + 1, { ...one, skipped: false }] as const] : []))),
      );
    fc.assert(
      fc.property(answers, (before) => {
        const given = answersIn(submittedIn(fieldsOf(asking(before))), asking(before));
        const after = given.map(({ questionId, value, comment: text }) => {
          const type = questions[questionId - 1]?.type as Question['type'];
          const one = readAnswer(type, new Set(options.map((option) => option.id)), value);
          if (typeof one === 'string') throw new Error(one);
          return [questionId, { ...one, comment: text ?? null, skipped: false }] as const;
        });
        expect(new Map(after)).toEqual(before);
      }),
    );
  });

  test('leaves out questions without an entry', () => {
    expect(read('c1=&c2=++&c6=&c7=&other=1&q=1&s=1&qx=2&q12345678901=1')).toEqual([]);
  });

  test('has numbers, yes and no, one option, several options, and free text', () => {
    expect(read('q1=5&c1=so&q2=10&q3=0&q4=no&q5=a&q6=a&q6=skip&c7=free')).toEqual([
      { questionId: 1, value: 5, comment: 'so' },
      { questionId: 2, value: 10, comment: null },
      { questionId: 3, value: 0, comment: null },
      { questionId: 4, value: false, comment: null },
      { questionId: 5, value: 'a', comment: null },
      { questionId: 6, value: ['a', 'skip'], comment: null },
      { questionId: 7, comment: 'free' },
    ]);
  });

  test('converts only exact values', () => {
    expect(read('q1=5.0&q2=1e1&q3=&q4=true&q5=a&q5=b')).toEqual([
      { questionId: 1, value: '5.0', comment: null },
      { questionId: 2, value: '1e1', comment: null },
      { questionId: 4, value: 'true', comment: null },
      { questionId: 5, value: ['a', 'b'], comment: null },
    ]);
  });

  test('counts a skip before an answer, unless the skip is older', () => {
    expect(read('q1=5&s1=1&c1=x')).toEqual([{ questionId: 1, skipped: true }]);
    expect(read('q1=5&s1=1', new Map([[1, { ...nothing, value: 3 }]]))).toEqual([
      { questionId: 1, skipped: true },
    ]);
    const skipped = new Map([[1, { ...nothing, skipped: true }]]);
    expect(read('q1=5&s1=1&c1=', skipped)).toEqual([{ questionId: 1, value: 5, comment: null }]);
    expect(read('s1=1&c1=', skipped)).toEqual([{ questionId: 1, skipped: true }]);
  });

  test('removes an answer that was cleared, but only if the page had shown it', () => {
    const answers = new Map([
      [6, { ...nothing, choices: ['a'] }],
      [7, { ...nothing, comment: 'free' }],
    ]);
    expect(read('q6=&c6=&q7=&c7=', answers)).toEqual([
      { questionId: 6, value: [], comment: null },
      { questionId: 7, skipped: true },
    ]);
    // The person has given these answers on another page in the meantime.
    expect(read('c6=&c7=', answers)).toEqual([]);
  });

  test('names questions that are not asked, so that they can be refused', () => {
    expect(read('q99=1&c98=hello&c97=')).toMatchObject([{ questionId: 99 }, { questionId: 98 }]);
  });

  test('has line breaks as they were typed', () => {
    expect(read('q1=1&c1=a%0D%0Ab%00')).toEqual([{ questionId: 1, value: 1, comment: 'a\nb' }]);
  });
});
