// Interprets paths from SFTP clients. There is a single folder. Some clients write a file under a temporary name and then rename
// it. Pure.
import { uploadRefusal } from '../base/errors.ts';
import { fileNameOf, plainNameOf } from '../sheets/file-names.ts';

/** The target of a path: the only folder, a file in it, or nothing. */
export type PathTarget = { kind: 'root' } | { kind: 'file'; name: string } | { kind: 'nowhere' };

/** Returns the absolute path for a REALPATH request, without `.`, `..` and repeated slashes. */
export function realPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** Returns the target of a path. Names are in NFC, so that clients find their files in any Unicode form. */
export function placeOf(path: string | undefined): PathTarget {
  if (path === undefined) return { kind: 'nowhere' };
  const parts = realPath(path).slice(1).normalize('NFC').split('/');
  if (parts.length > 1) return { kind: 'nowhere' };
  return parts[0] === '' ? { kind: 'root' } : { kind: 'file', name: parts[0] as string };
}

const uuid = '[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}';

/** The marks of temporary names. Without its mark, a name is the final one, if the client includes it. */
const temporaryMarks = [
  /^\.in\./i, // lftp: .in.users.csv
  /(?:\.[0-9a-z]{8})?\.partial$/i, // rclone: users.csv.1a2b3c4d.partial
  /\.(?:filepart|part|tmp)$/i, // WinSCP: users.csv.filepart
  new RegExp(`(?:^|-)${uuid}$`, 'i'), // Cyberduck: users.csv-123e4567-e89b-12d3-a456-426614174000
];

/** Whether a name is temporary, so that the client renames the file after the upload. */
export const isTemporary = (name: string): boolean => temporaryMarks.some((mark) => mark.test(name));

/** Whether a temporary name may belong to a final name. */
export function isMeantFor(temporary: string, final: string): boolean {
  const mark = temporaryMarks.find((one) => one.test(temporary));
  const unmarked = mark && temporary.replace(mark, '');
  return unmarked === final || unmarked === '';
}

/** Throws a Fault (`file validation`) if the name is invalid. */
export function checkName(name: string): void {
  if (name.includes('\\')) {
    throw uploadRefusal('The file name must not contain any of these characters: \\ / : * ? " < > |');
  }
  if (isTemporary(name)) plainNameOf(name);
  else fileNameOf(name);
}
