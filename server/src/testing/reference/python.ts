// Runs the programs in Python that recompute figures independently.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Returns what a program of this folder prints, as JSON. Its arguments are the paths of files with these texts. Undefined if python3 or a
 * library is missing.
 */
export async function recomputed<T>(program: string, texts: readonly string[]): Promise<T | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'soundings-reference-'));
  try {
    const paths = texts.map((_, i) => join(folder, String(i)));
    await Promise.all(texts.map((text, i) => writeFile(paths[i]!, text)));
    const path = fileURLToPath(new URL(program, import.meta.url));
    const { stdout } = await promisify(execFile)('python3', [path, ...paths], { maxBuffer: 1e9 });
    return JSON.parse(stdout) as T;
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT' || /^(numpy|scipy) is missing/m.test(stderr ?? '')) return undefined;
    throw error;
  } finally {
    await rm(folder, { recursive: true });
  }
}
