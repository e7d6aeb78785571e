// Reading workbooks, .xlsx and .xls: cells as a person sees them, of the sheets that a person sees. What can't be read whole
// is a fault, never an empty sheet.
import type { Sheet } from './sheet.ts';

/** The sheets that are not hidden. Throws a Fault for what is no workbook, is damaged, or exceeds a limit. */
export async function readWorkbook(bytes: Buffer, kind: 'xls' | 'xlsx'): Promise<Sheet[]> {
  // Each reader is loaded only for files of its own: it takes time and memory.
  return kind === 'xlsx'
    ? (await import('./xlsx.ts')).readXlsx(bytes)
    : (await import('./xls.ts')).readXls(bytes);
}
