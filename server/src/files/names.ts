// What an uploaded file may be called, and what its ending says (decisions C2, C4). Pure.
import { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';

export type FileKind = 'csv' | 'xls' | 'xlsx';

/** The longest name, in bytes of UTF-8. */
const maxNameBytes = 200;

/**
 * The name under which a file is kept: the last segment of the path that was sent, in NFC. Throws a Fault (`file
 * validation`) when it cannot be the name of a file that is read.
 */
export function fileNameOf(sent: string): string {
  const name = plainNameOf(sent);
  if (name.startsWith('.')) throw refusal('The name may not begin with a dot.');
  if (kindOf(name) === undefined) {
    throw refusal(`${quote(name)} is not of a type that is taken: the name must end in .csv, .xls or .xlsx.`);
  }
  return name;
}

/** The same for a name under which a file is only written, whatever it ends in. */
export function plainNameOf(sent: string): string {
  const name = sent.slice(Math.max(sent.lastIndexOf('/'), sent.lastIndexOf('\\')) + 1).normalize('NFC');
  if (name === '' || name === '.' || name === '..') throw refusal('The file has no name.');
  if (Buffer.byteLength(name) > maxNameBytes) {
    throw refusal(`The name has more than ${maxNameBytes} bytes. Give the file a shorter one.`);
  }
  if (!name.isWellFormed() || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)) {
    throw refusal('The name holds characters that cannot be seen. Give the file another one.');
  }
  if (/[:*?"<>|]/.test(name)) throw refusal('The name may not hold any of \\ / : * ? " < > |');
  if (/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name)) {
    throw refusal('The name is one that Windows keeps for itself. Give the file another one.');
  }
  if (/^\s|\s$/.test(name)) throw refusal('The name may not begin or end with a space.');
  return name;
}

/** What the ending of a name says, in any letter case. */
export function kindOf(name: string): FileKind | undefined {
  return /\.(csv|xlsx?)$/i.exec(name)?.[1]?.toLowerCase() as FileKind | undefined;
}

export const refusal = (message: string): Fault =>
  new Fault('invalid', 'file validation', message, { details: [{ type: 'file validation', message }] });
