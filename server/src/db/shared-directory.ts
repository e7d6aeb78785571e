// Opens files in a directory that may belong to another user. Root writes to that directory too, and the other user could place
// links in it. So links are never followed, existing files are checked, and ownership is changed by file handle, never by name.
import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import type { Fault } from '../base/errors.ts';
import { failed } from './embedded-programs.ts';

const { O_NOFOLLOW, O_NONBLOCK, O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_WRONLY, O_DIRECTORY } =
  constants;

const modes = {
  read: O_RDONLY,
  /** The file can also be read, and is created if it doesn't exist. */
  append: O_RDWR | O_APPEND | O_CREAT,
  /** The file must not exist. */
  create: O_WRONLY | O_CREAT | O_EXCL,
};

/**
 * Opens a file in a directory. If we are root, the owner of the directory becomes the owner of the file. Throws a Fault if the file
 * is not a regular file or belongs to another user, and the system's error (ENOENT) if it doesn't exist.
 */
export async function openSharedFile(
  directory: string,
  name: string,
  mode: keyof typeof modes,
): Promise<fs.FileHandle> {
  const path = join(directory, name);
  // Without O_NONBLOCK, opening a pipe would wait forever.
  const file = await fs.open(path, modes[mode] | O_NOFOLLOW | O_NONBLOCK, 0o600).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ELOOP' || code === 'EISDIR' || code === 'ENXIO' ? inTheWay(path) : error;
  });
  try {
    const [found, { uid, gid }] = [await file.stat(), await fs.stat(directory)];
    // A file that belongs to root and has a second name (hard link) could be a file from another directory.
    const isOurs = found.uid === uid || (found.uid === process.geteuid?.() && found.nlink === 1);
    if (!found.isFile() || (process.getuid?.() === 0 && !isOurs)) throw inTheWay(path);
    if (process.getuid?.() === 0 && found.uid !== uid) await file.chown(uid, gid);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Creates a directory with one file for a user, in such a way that the file can't be created in any other place. */
export async function createFor(
  owner: { uid: number; gid: number } | undefined,
  path: string,
  name: string,
  text: string,
): Promise<void> {
  await fs.mkdir(path, { mode: 0o700 });
  const directory = await fs.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    if ((await directory.stat()).uid !== process.geteuid?.()) throw inTheWay(path);
    // The directory is addressed by its handle, because its name could refer to another directory by now.
    const within = process.platform === 'linux' ? `/proc/self/fd/${directory.fd}` : path;
    const file = await fs.open(join(within, name), modes.create | O_NOFOLLOW, 0o600);
    try {
      await file.writeFile(text);
      if (owner) await file.chown(owner.uid, owner.gid);
    } finally {
      await file.close();
    }
    if (owner) await directory.chown(owner.uid, owner.gid);
  } finally {
    await directory.close();
  }
}

function inTheWay(path: string): Fault {
  const message = `${path} is not a regular file owned by the owner of its directory. It may be a link. Check it, remove it and start again.`;
  return failed(message);
}
