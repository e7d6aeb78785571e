// The folder in which the database tests of a run create their files. Databases wait for the disk each time they write, so it is in
// memory if this machine has enough.
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';
/** More than all tests need at any time, in bytes. */
const needed = 2 * 1024 ** 3;

/** Each project of a run loads this file separately. */
const ofThisRun = globalThis as { soundingsTestFolder?: string };

/** Returns the folder. Call this only in the process that starts the tests, which deletes the folder when it ends. */
export const folderOfRun = (): string => (ofThisRun.soundingsTestFolder ??= createFolder());

function createFolder(): string {
  const created = mkdtempSync(join(isMemoryLarge() ? memory : tmpdir(), 'soundings-tests-'));
  chmodSync(created, 0o755); // PostgreSQL may run as another user
  process.once('exit', () => rmSync(created, { recursive: true, force: true }));
  return created;
}

/** Returns whether the folder in memory has enough space, and programs can run from it, which some tests do. */
function isMemoryLarge(): boolean {
  if (process.env['TMPDIR'] !== undefined) return false;
  try {
    const { bavail, bsize } = statfsSync(memory);
    const [, options = 'noexec'] =
      /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(readFileSync('/proc/mounts', 'utf8')) ?? [];
    return bavail * bsize >= needed && !options.split(',').includes('noexec');
  } catch {
    return false; // This system has no such folder.
  }
}
