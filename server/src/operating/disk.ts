// Facts about a directory for operators: its free space, whether this process can write to it, and whether it outlives the machine.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { absent } from '../base/files.ts';

export type DiskFacts = {
  path: string;
  /** The directory that was examined: `path`, or the closest one above it if `path` doesn't exist yet. */
  examined: string;
  freeBytes: number;
  totalBytes: number;
  /** Files that can still be created; null if the file system has no limit. */
  freeFiles: number | null;
  /** Whether the file system is in memory, or is the root of a container, which is deleted with the container. */
  isTemporary: boolean;
  /** The error code of writing a small file, such as ENOSPC, EACCES or EROFS; null if it worked. */
  writeFault: string | null;
};

/** The types of tmpfs, ramfs and overlayfs in Linux. */
const temporaryTypes = [0x01021994, 0x858458f6, 0x794c7630];

/** Returns facts about a directory. Writes a small file to it, and removes the file. Throws if its parent can't be examined either. */
export async function diskFacts(given: string): Promise<DiskFacts> {
  const path = resolve(given);
  const examined = await closest(path);
  const { bavail, blocks, bsize, ffree, files, type } = await statfs(examined);
  return {
    path,
    examined,
    freeBytes: bavail * bsize,
    totalBytes: blocks * bsize,
    freeFiles: files === 0 ? null : ffree,
    isTemporary: process.platform === 'linux' && temporaryTypes.includes(type),
    writeFault: await writeFault(examined),
  };
}

/** Returns the directory, or the closest one above it that exists. */
async function closest(path: string): Promise<string> {
  const found = await stat(path).catch(absent);
  return found || dirname(path) === path ? path : closest(dirname(path));
}

/** Returns why a small file can't be written. The file is new, so no other file and no link is ever written to. */
async function writeFault(directory: string): Promise<string | null> {
  const file = join(directory, `.soundings-doctor-${randomUUID()}`);
  try {
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
    const handle = await open(file, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
    try {
      await handle.writeFile(Buffer.alloc(64 * 1024)); // all of it, or an error
      await handle.sync();
    } finally {
      await handle.close();
      await rm(file, { force: true });
    }
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'UNKNOWN';
  }
}
