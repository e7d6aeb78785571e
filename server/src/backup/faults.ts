// What can go wrong with backups, for the person who runs the command.
import { Fault } from '../base/errors.ts';

/** Returns the Fault for a file that is not a whole backup. `where`: the table, or a part of the file. */
export const damagedBackup = (path: string, where: string, what: string, at: number): Fault =>
  new Fault(
    'invalid',
    'damaged backup',
    `${path} can't be used. ${what} (${where}, at byte ${at.toLocaleString('en')}). Nothing was restored from it. Use another backup.`,
  );

/** Returns the Fault for a backup that could not be created or read. `message`: why, and what to do. */
export const failedBackup = (message: string, cause?: unknown): Fault =>
  new Fault('unavailable', 'backup failed', message, { cause });

/** Returns the Fault for a backup that can't be restored here. */
export const notRestored = (message: string): Fault =>
  new Fault('conflict', 'restore refused', `Nothing was restored. ${message}`);

/** Returns the error of the file system as a Fault that says what to do. Returns any other error unchanged. */
export function asFileFault(error: unknown, path: string): unknown {
  const remedies: Record<string, string> = {
    ENOSPC: 'the disk is full. Free up space, or choose a folder on another disk',
    EDQUOT: 'the disk quota is used up. Free up space, or choose another folder',
    EACCES: 'you are not allowed to. Change the permissions, or choose another folder',
    EPERM: 'you are not allowed to. Change the permissions, or choose another folder',
    EROFS: 'the file system is read-only. Choose another folder',
    ENOENT: 'the file or its folder does not exist',
    ENOTDIR: 'a part of the path is not a folder',
    EISDIR: 'it is a folder. Give the name of a file',
    EFBIG: 'the file system does not allow files of this size. Choose another folder',
    EIO: 'the disk reports an error',
    EPIPE: 'the program that reads the output has ended',
  };
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  const remedy = remedies[code];
  if (syscall === undefined || remedy === undefined) return error;
  const verb = /^(read|open)$/.test(syscall) && code === 'ENOENT' ? 'read' : 'used';
  return failedBackup(`${path} can't be ${verb}: ${remedy}.`, error);
}
