// Validates names of uploaded files and derives the file type from the extension (decisions C2, C4). Pure.
import { uploadRefusal } from '../base/errors.ts';
import { quote } from '../base/text.ts';

export type FileKind = 'csv' | 'xls' | 'xlsx';

/** The longest name, in bytes of UTF-8. */
const maxNameBytes = 200;

/** Invisible characters, such as U+3164. Emoji have variation selectors. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?![\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}/u;

/**
 * Returns the name to store a file under: the last segment of the path that the client sent, in NFC. Throws a Fault (`file
 * validation`) if the name is invalid or has an unsupported extension.
 */
export function fileNameOf(sent: string): string {
  const name = plainNameOf(sent);
  if (name.startsWith('.')) throw uploadRefusal('The file name must not begin with a dot.');
  if (kindOf(name) === undefined) {
    throw uploadRefusal(
      `${quote(name)} has an unsupported file type. The name must end in .csv, .xls or .xlsx.`,
    );
  }
  return name;
}

/** Like `fileNameOf`, but accepts any extension: for files that are renamed after the upload. */
export function plainNameOf(sent: string): string {
  const name = sent.slice(Math.max(sent.lastIndexOf('/'), sent.lastIndexOf('\\')) + 1).normalize('NFC');
  if (name === '' || name === '.' || name === '..') throw uploadRefusal('The file has no name.');
  if (Buffer.byteLength(name) > maxNameBytes) {
    throw uploadRefusal(`The file name is longer than ${maxNameBytes} bytes. Use a shorter name.`);
  }
  if (!name.isWellFormed() || invisible.test(name)) {
    throw uploadRefusal('The file name contains invisible characters. Rename the file.');
  }
  if (/[:*?"<>|]/.test(name))
    throw uploadRefusal('The file name must not contain any of these characters: \\ / : * ? " < > |');
  if (/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name)) {
    throw uploadRefusal(`${quote(name)} is a reserved name on Windows. Rename the file.`);
  }
  if (/^\s|\s$/.test(name)) throw uploadRefusal('The file name must not begin or end with a space.');
  return name;
}

/** Returns the file type by the extension, in any letter case. */
export function kindOf(name: string): FileKind | undefined {
  return /\.(csv|xlsx?)$/i.exec(name)?.[1]?.toLowerCase() as FileKind | undefined;
}
