// The faults of files that can't be read, each with its place and what to do about it.
import { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';

/** A place in a file, with rows and columns counted from 1. The single sheet of a CSV file has no name. */
export type Place = { sheet: string; row?: number; column?: number };

/** Returns the Fault for a file that can't be read. The message is for the sender, the cause for the log. */
export function unreadable(message: string, place?: Place, cause?: unknown): Fault {
  const { sheet, row } = place ?? {};
  const detail = { type: 'unreadable file', message, ...(sheet && { sheet }), ...(row && { row }) };
  return new Fault('invalid', 'unreadable file', message, { details: [detail], cause });
}

/** Runs `read`. Any error other than a Fault means that the workbook is damaged. */
export function orDamaged<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Fault ? error : damaged(error);
  }
}

/** The file can't be read for an unknown reason: a bug in our code or in a library. */
export const unread = (cause: unknown): Fault =>
  unreadable(
    "The file can't be read. Open it in Excel, save it as a new Excel workbook (.xlsx) or as CSV, and send the new file.",
    undefined,
    cause,
  );

/** Turns any error of a reader into a Fault, so that the sender learns what to do and sees no details of our code. */
export const faultOf = (error: unknown): Fault => (error instanceof Fault ? error : unread(error));

export const damaged = (cause?: unknown): Fault =>
  unreadable(
    'The workbook is damaged. The upload may have been cut off. Open it in Excel, save it as a new .xlsx file and send the new file.',
    undefined,
    cause,
  );

export const lockedMessage =
  'The workbook is protected with a password. Remove the password and send the file again.';
export const locked = (): Fault => unreadable(lockedMessage);

/** Returns a text such as: Cell C7 of the sheet "Users". */
export function placeText({ sheet, row, column }: Place): string {
  const cell = column === undefined ? `Row ${row}` : `Cell ${lettersOf(column)}${row}`;
  return sheet === '' ? cell : `${cell} of the sheet ${quote(sheet)}`;
}

function lettersOf(column: number): string {
  const rest = (column - 1) % 26;
  const before = (column - 1 - rest) / 26;
  return (before > 0 ? lettersOf(before) : '') + String.fromCharCode(65 + rest);
}
