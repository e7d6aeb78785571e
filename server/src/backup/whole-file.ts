// Writes a file so that it exists under its name only when it is complete and on the disk.
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { absent } from '../base/files.ts';
import { asFileFault, failedBackup } from './faults.ts';

/** The end of the name of a file that is being written, or whose process was killed. */
const incomplete = /\.incomplete-[0-9a-f]{12}$/;

/**
 * Writes a file with mode 0600. `work` gets a function that writes bytes. If it fails, nothing is left. If this process is killed, an
 * incomplete file with another name is left. An existing file is replaced at the end.
 */
export async function writeWholeFile<T>(
  path: string,
  work: (write: (bytes: Buffer) => Promise<void>) => Promise<T>,
): Promise<T> {
  const draft = `${path}.incomplete-${randomBytes(6).toString('hex')}`;
  try {
    const found = await fs.lstat(path).catch(absent);
    if (found && !found.isFile())
      throw failedBackup(`${path} is not a regular file. Give the name of a file.`);
    const file = await fs.open(draft, 'wx', 0o600);
    try {
      const result = await work((bytes) => file.writeFile(bytes));
      await file.sync();
      await file.close();
      await fs.rename(draft, path);
      await syncFolder(dirname(path));
      return result;
    } catch (error) {
      await file.close().catch(() => {});
      await fs.rm(draft, { force: true });
      throw error;
    }
  } catch (error) {
    throw asFileFault(error, path);
  }
}

/** Removes what killed processes have left of the files of a folder that begin with `name`. */
export async function removeIncomplete(folder: string, name: string): Promise<void> {
  const left = (await fs.readdir(folder)).filter((one) => one.startsWith(name) && incomplete.test(one));
  await Promise.all(left.map((one) => fs.rm(join(folder, basename(one)), { force: true })));
}

async function syncFolder(path: string): Promise<void> {
  const folder = await fs.open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
