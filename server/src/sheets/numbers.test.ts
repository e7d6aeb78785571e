// Which number formats of workbooks show numbers, dates or durations.
import { expect, test } from 'vitest';
import { shapeOf } from './numbers.ts';

test.each([
  'General',
  '0',
  '0.00E+00',
  '#,##0.00 "kr"',
  '#,##0\\ "days"',
  '_-* #,##0_-;-* #,##0_-',
  '[Red]-0;[Blue]0',
  '[>=100]0;[$SEK] 0',
  '@',
  '0\\d',
  'Standard',
])('%s shows numbers', (code) => {
  expect(shapeOf(code)).toBe('number');
});

test.each([
  'yyyy-mm-dd',
  'd/m/yy h:mm',
  '[$-41D]d mmmm yyyy;@',
  'mm:ss.0',
  '[Red]hh:mm',
  'mmm',
  '[$-F400]h:mm:ss AM/PM',
])('%s shows dates and times', (code) => {
  expect(shapeOf(code)).toBe('date');
});

test.each(['[h]:mm:ss', '[mm]:ss', '[SS]'])('%s shows a duration', (code) => {
  expect(shapeOf(code)).toBe('duration');
});

test('a format of zeros alone shows that number of digits', () => {
  expect(shapeOf('00000')).toEqual({ zeros: 5 });
});
