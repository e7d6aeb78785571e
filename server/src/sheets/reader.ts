// Reads a file of any type in the current process. Files from users must only be read in a child process (sheet.child.ts),
// which can be killed.
import { contentFault } from './content.ts';
import { unreadable } from './faults.ts';
import type { FileKind } from './file-names.ts';
import type { Sheet } from './sheet.ts';

/** Like `readSheets`, but without limits on memory and time. Any error other than a Fault is a bug. */
export async function readHere(bytes: Buffer, kind: FileKind): Promise<Sheet[]> {
  const fault = contentFault(kind, bytes);
  if (fault !== undefined) throw unreadable(fault);
  // Loads only the reader that the file needs, because each takes time and memory.
  if (kind === 'csv') return [(await import('./csv.ts')).readCsv(bytes)];
  return (await import('./workbook.ts')).readWorkbook(bytes, kind);
}
