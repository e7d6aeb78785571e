// Paths and names as SFTP clients send them: one folder, the names of files in it, and the temporary names under which
// some clients write a file before they rename it. Pure.
import { fileNameOf, plainNameOf, refusal } from './names.ts';

/** Where a path leads: to the only folder there is, to a name in it, or to where nothing is. */
export type Place = { kind: 'root' } | { kind: 'file'; name: string } | { kind: 'nowhere' };

/** A path as REALPATH answers it: from the root, without `.`, `..` and doubled slashes. */
export function realPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** Names are compared in NFC: what a client has put it finds again, in whatever form it writes the name. */
export function placeOf(path: string | undefined): Place {
  if (path === undefined) return { kind: 'nowhere' };
  const parts = realPath(path).slice(1).normalize('NFC').split('/');
  if (parts.length > 1) return { kind: 'nowhere' };
  return parts[0] === '' ? { kind: 'root' } : { kind: 'file', name: parts[0] as string };
}

const uuid = '[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}';

/** What is left without it is the final name, where that is told. */
const temporaryMarks = [
  /^\.in\./i, // lftp: .in.users.csv
  /(?:\.[0-9a-z]{8})?\.partial$/i, // rclone: users.csv.1a2b3c4d.partial
  /\.(?:filepart|part|tmp)$/i, // WinSCP: users.csv.filepart
  new RegExp(`(?:^|-)${uuid}$`, 'i'), // Cyberduck: users.csv-123e4567-e89b-12d3-a456-426614174000
];

/** Whether a file is only written under the name, to be renamed when it is whole. */
export const isTemporary = (name: string): boolean => temporaryMarks.some((mark) => mark.test(name));

/** Whether a file written under a temporary name may be meant to be given the final one. */
export function isMeantFor(temporary: string, final: string): boolean {
  const mark = temporaryMarks.find((one) => one.test(temporary));
  const left = mark && temporary.replace(mark, '');
  return left === final || left === '';
}

/** Throws a Fault (`file validation`) when nothing may be written under the name. */
export function checkName(name: string): void {
  if (name.includes('\\')) throw refusal('The name may not hold any of \\ / : * ? " < > |');
  if (isTemporary(name)) plainNameOf(name);
  else fileNameOf(name);
}
