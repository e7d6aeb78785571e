// Reading workbooks, .xlsx and .xls: cells as a person sees them, of the sheets that a person sees. What can't be read whole
// is a fault, never an empty sheet.
import type { Sheet } from './sheet.ts';

/** The sheets that are not hidden. Throws a Fault for what is no workbook, is damaged or locked, or exceeds a limit. */
export async function readWorkbook(bytes: Buffer, kind: 'xls' | 'xlsx'): Promise<Sheet[]> {
  // Each reader is loaded only for files of its own: it takes time and memory.
  if (kind === 'xls') return (await import('./xls.ts')).readXls(bytes);
  const { readXlsx } = await import('./xlsx.ts');
  if (bytes.subarray(0, 2).equals(archiveMark)) return readXlsx(bytes);
  return readXlsx((await import('./container.ts')).unlocked(bytes));
}

/** How archives begin; one that is encrypted is in a container. */
const archiveMark = Buffer.from('PK');
