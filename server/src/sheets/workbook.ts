// Reads workbooks (.xlsx and .xls): the visible sheets, with cells as a person sees them. A sheet that can't be read completely
// is an error, never an empty sheet.
import type { Sheet } from './sheet.ts';

/** Returns the visible sheets. Throws a Fault if the file is not a workbook, is damaged or locked, or exceeds a limit. */
export async function readWorkbook(bytes: Buffer, kind: 'xls' | 'xlsx'): Promise<Sheet[]> {
  // Loads only the reader that the file needs, because each takes time and memory.
  if (kind === 'xls') return (await import('./xls.ts')).readXls(bytes);
  const { readXlsx } = await import('./xlsx.ts');
  if (bytes.subarray(0, 2).equals(archiveMark)) return readXlsx(bytes);
  return readXlsx((await import('./container.ts')).unlocked(bytes));
}

/** The first bytes of an archive. An encrypted workbook is a container instead. */
const archiveMark = Buffer.from('PK');
