// What the sender of a file reads when it can't be read.
import { expect, test } from 'vitest';
import { faultOf, unreadable } from './faults.ts';

test('an unexpected error becomes a text that says what to do, and is kept as the cause', () => {
  const error = new TypeError("Cannot read properties of undefined (reading 't')");
  const fault = faultOf(error);
  expect(fault).toMatchObject({ kind: 'invalid', code: 'unreadable file', cause: error });
  expect(fault.message).toBe(
    "The file can't be read. Open it in Excel, save it as a new Excel workbook (.xlsx) or as CSV, and send the new file.",
  );
  expect(fault.details).toEqual([{ type: 'unreadable file', message: fault.message }]);
});

test('a fault stays as it is', () => {
  const fault = unreadable('The file is empty.');
  expect(faultOf(fault)).toBe(fault);
});
