import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { needs } from '../../testing/processes/programs.ts';
import { zipOf, type ArchivedFile } from './zip-writer.ts';

async function* entriesOf(entries: ArchivedFile[]) {
  yield* entries;
}
async function archive(entries: ArchivedFile[]): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of zipOf(entriesOf(entries))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const entries: ArchivedFile[] = [
  { name: 'Åsele – rapport.txt', bytes: Buffer.from('å ä ö') },
  { name: 'empty.txt', bytes: Buffer.alloc(0) },
  { name: 'large.bin', bytes: Buffer.alloc(300_000, 'abc') },
];

test('another program reads the files of an archive, with their names, and finds no fault', async (context) => {
  needs(context, 'python3', 'python3');
  const folder = await mkdtemp(join(tmpdir(), 'zip-'));
  try {
    await writeFile(join(folder, 'a.zip'), await archive(entries));
    const program =
      'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; z.extractall(sys.argv[2])';
    await promisify(execFile)('python3', ['-X', 'utf8', '-c', program, join(folder, 'a.zip'), folder]);
    for (const { name, bytes } of entries)
      expect([name, (await readFile(join(folder, name))).equals(bytes)]).toEqual([name, true]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the same files give the same bytes, and an archive without files is empty but valid', async () => {
  expect((await archive(entries)).equals(await archive(entries))).toBe(true);
  expect((await archive([])).length).toBe(22);
});
