// Finding an option by typing: every typed word must be the start of a word of the option.
import { expect, test } from 'vitest';
import { isFound, type ComboboxOption } from './find-options.ts';

const swedish: ComboboxOption = { value: 'sv', label: 'Swedish', searchTerms: () => 'Svenska sueco' };
const portuguese: ComboboxOption = {
  value: 'pt-BR',
  label: 'Portuguese (Brazil)',
  searchTerms: () => 'Português',
};

test('without a word every option is found', () => {
  expect([isFound(swedish, ''), isFound(swedish, '   ')]).toEqual([true, true]);
});

test('finds words by their start, in any order, ignoring accents and letter case', () => {
  expect(isFound(swedish, 'SWE')).toBe(true);
  expect(isFound(swedish, 'edish')).toBe(false);
  expect(isFound(portuguese, 'braz port')).toBe(true);
  expect(isFound(portuguese, 'portugues')).toBe(true);
  expect(isFound(portuguese, 'portugal')).toBe(false);
});

test('requires all words', () => {
  expect(isFound(portuguese, 'port brazil')).toBe(true);
  expect(isFound(portuguese, 'port sweden')).toBe(false);
});

test('further search terms are computed once, and only when the user types', () => {
  let calls = 0;
  const option: ComboboxOption = {
    value: 'de',
    label: 'German',
    searchTerms: () => {
      calls++;
      return 'Deutsch';
    },
  };
  expect(calls).toBe(0);
  expect([isFound(option, 'deu'), isFound(option, 'alem'), isFound(option, 'ger')]).toEqual([
    true,
    false,
    true,
  ]);
  expect(calls).toBe(1);
});
