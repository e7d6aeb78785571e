// Files in a directory that another user may own. Root writes there as well, and that user can put links in the way: they are not
// followed, what is found is checked, and ownership is given by handle, never by name.
import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../base/errors.ts';

const { O_NOFOLLOW, O_NONBLOCK, O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_WRONLY, O_DIRECTORY } =
  constants;

const ways = {
  read: O_RDONLY,
  /** To read as well, and created if it isn't there. */
  append: O_RDWR | O_APPEND | O_CREAT,
  /** It must not be there. */
  create: O_WRONLY | O_CREAT | O_EXCL,
};

/**
 * Opens a file of a directory, and gives it to the owner of the directory when we are root. Throws a Fault when it is not a plain
 * file, or one of another user. A file that isn't there is the system's error (ENOENT).
 */
export async function openFile(
  directory: string,
  name: string,
  way: keyof typeof ways,
): Promise<fs.FileHandle> {
  const path = join(directory, name);
  // Without O_NONBLOCK, opening a pipe would wait for ever.
  const file = await fs.open(path, ways[way] | O_NOFOLLOW | O_NONBLOCK, 0o600).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ELOOP' || code === 'EISDIR' || code === 'ENXIO' ? inTheWay(path) : error;
  });
  try {
    const [found, { uid, gid }] = [await file.stat(), await fs.stat(directory)];
    // A second name for a file of root's could be one outside of the directory.
    const isOurs = found.uid === uid || (found.uid === process.geteuid?.() && found.nlink === 1);
    if (!found.isFile() || (process.getuid?.() === 0 && !isOurs)) throw inTheWay(path);
    if (process.getuid?.() === 0 && found.uid !== uid) await file.chown(uid, gid);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Creates a directory with one file in it, for a user: the file can't come to lie anywhere else. */
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
    // By its handle: by its name, it could be another directory by now.
    const within = process.platform === 'linux' ? `/proc/self/fd/${directory.fd}` : path;
    const file = await fs.open(join(within, name), ways.create | O_NOFOLLOW, 0o600);
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
  const message = `${path} is not a plain file of the owner of its directory: perhaps a link. Look at what it is, remove it, and start again.`;
  return new Fault('unavailable', 'embedded database', message);
}
