// The floor of reading a file, as a separate process: the library alone reads the bytes from stdin and keeps the result.
// Argument: csv, xls or xlsx.
import { buffer } from 'node:stream/consumers';

const bytes = await buffer(process.stdin);
const read: { kept?: unknown } = {};
if (process.argv[2] === 'csv') {
  const { parse } = await import('csv-parse/sync');
  read.kept = parse(bytes);
} else {
  const xlsx = await import('@e965/xlsx');
  read.kept = xlsx.read(bytes);
}
