// The error that the sender of a file gets when a reader fails.
import { expect, test } from 'vitest';
import { faultOf, unreadable } from './faults.ts';

test('a defect in a reader becomes a message about what to do, with the error as its cause', () => {
  const error = new TypeError("Cannot read properties of undefined (reading 't')");
  const fault = faultOf(error);
  expect(fault).toMatchObject({ kind: 'invalid', code: 'unreadable file', cause: error });
  expect(fault.message).toBe(
    "The file can't be read. Open it in Excel, save it as a new Excel workbook (.xlsx) or as CSV, and send the new file.",
  );
  expect(fault.details).toEqual([{ type: 'unreadable file', message: fault.message }]);
});

test('a fault is returned unchanged', () => {
  const fault = unreadable('The file is empty.');
  expect(faultOf(fault)).toBe(fault);
});
