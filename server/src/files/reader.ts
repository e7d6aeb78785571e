// Reads a file of any kind, in this process: whatever it holds, only in one that may be ended (sheet.child.ts).
import { contentFault } from './content.ts';
import type { FileKind } from './names.ts';
import { unreadable } from './rows.ts';
import type { Sheet } from './sheet.ts';

/** As readSheets does, but for what exceeds memory or time. What is thrown beside Faults is a defect. */
export async function readHere(bytes: Buffer, kind: FileKind): Promise<Sheet[]> {
  const fault = contentFault(kind, bytes);
  if (fault !== undefined) throw unreadable(fault);
  // Each reader is loaded only for files of its own: it takes time and memory.
  if (kind === 'csv') return [(await import('./csv.ts')).readCsv(bytes)];
  return (await import('./workbook.ts')).readWorkbook(bytes, kind);
}
