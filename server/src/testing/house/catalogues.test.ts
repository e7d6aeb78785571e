// Faults in the texts of a catalogue are found before anyone sees them.
import { describe, expect, test } from 'vitest';
import { argumentsOf, faultsOf } from './catalogues.ts';

describe('the arguments of a text', () => {
  test('are found at every depth, with their kinds', () => {
    const text =
      '{count, plural, one {{name} has # of {all, number}} other {{name} has #}} {place, select, cell {a} other {b}}';
    expect(argumentsOf(text, 'en')).toEqual({
      count: 'number',
      name: 'string',
      all: 'number',
      place: "'cell' | 'other'",
    });
  });

  test.each([
    ['a brace is open', 'Hello {name', 'en', 'EXPECT_ARGUMENT_CLOSING_BRACE'],
    ['a plural has no other', '{count, plural, one {x}}', 'en', 'MISSING_OTHER_CLAUSE'],
    [
      'a plural lacks a category of its language',
      '{count, plural, one {x} other {y}}',
      'pl',
      '{count} lacks few, many',
    ],
    [
      'an argument is a number in one place and a text in another',
      '{count} of {count, number}',
      'en',
      '{count} is string and number',
    ],
    ['it formats a date itself', '{day, date}', 'en', 'only arguments'],
    ['it has a tag', 'Hello <b>you</b>', 'en', 'only arguments'],
  ])('are refused if %s', (_, text, language, message) => {
    expect(() => argumentsOf(text, language)).toThrow(message);
  });
});

describe('a translation', () => {
  const faults = (text: string, english: string) => faultsOf('sv', { key: text }, { key: english });

  test('has the arguments of the English text, of the same kinds, and is not empty', () => {
    expect(faults('{name} har {count, number}', '{count, number} for {name}')).toEqual([]);
    expect(faults('Hej', 'Hi {name}')).toHaveLength(1);
    expect(faults('Hej {namn}', 'Hi {name}')).toHaveLength(1);
    expect(faults('{count}', '{count, number}')).toHaveLength(1);
    expect(faults('{place, select, other {x}}', '{place, select, cell {x} other {y}}')).toHaveLength(1);
    expect(faults(' ', 'Hi')).toEqual(['key: is empty']);
  });

  test('may leave out the message of the service, and nothing else', () => {
    expect(faults('Filen går inte att läsa.', '{message}')).toEqual([]);
    expect(faults('Filen går inte att läsa: {message}', '{message}')).toEqual([]);
    expect(faults('Filen {name} går inte att läsa.', '{message}')).toHaveLength(1);
  });

  test('may use a plural for a number for which English has only one form', () => {
    expect(faults('{count, plural, one {# svar} other {# svar}}', '{count, number} answers')).toEqual([]);
  });
});
