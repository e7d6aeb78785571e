// The least that reading a file costs, as a process of its own: the library alone, as it comes, reads the bytes of stdin
// and keeps what it read. Argument: csv, xls or xlsx.
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
