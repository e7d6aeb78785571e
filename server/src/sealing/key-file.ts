// Reads and writes the file with the epoch key, which is kept outside the database. The key only moves forward, and the previous
// key is overwritten on the disk. The update survives interruptions: at any time, at least one of the two files is complete.
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Fault } from '../base/errors.ts';
import { type EpochKey, isSameChain } from './epoch-keys.ts';

const answersHead =
  'Soundings answer key, format 1. Never back this file up: see docs/operators/operations.md.';
/** The first line of the file of the key of secrets (secrets.ts). */
export const secretsHead =
  'Soundings secrets key, format 1. Keep a copy of this file separate from backups: see docs/operators/operations.md.';

/** Returns the text of a key file. It always has the same length. */
export function keyText({ chain, epoch, secret }: EpochKey, head = answersHead): string {
  const body = [
    head,
    `chain ${chain.toString('hex')}`,
    `epoch ${String(epoch).padStart(10, '0')}`,
    `key ${secret.toString('hex')}`,
  ].join('\n');
  return `${body}\nchecksum ${checksumOf(body)}\n`;
}

const checksumOf = (body: string) => createHash('sha256').update(body).digest('hex').slice(0, 16);

/** Returns the key in the text of a key file; undefined if the text is incomplete or something else. */
export function keyIn(text: string): EpochKey | undefined {
  const match =
    /^([^]*\nchain ([0-9a-f]{16})\nepoch (\d{10})\nkey ([0-9a-f]{64}))\nchecksum ([0-9a-f]{16})\n?$/.exec(
      text,
    );
  if (!match || checksumOf(match[1] as string) !== match[5]) return undefined;
  const [, , chain = '', epoch, secret = ''] = match;
  return { chain: Buffer.from(chain, 'hex'), epoch: Number(epoch), secret: Buffer.from(secret, 'hex') };
}

const nextTo = (path: string) => `${path}.next`;

/** Returns the stored key; undefined if there is none. An interrupted update counts as done. */
export function readKeyFile(path: string): EpochKey | undefined {
  const [now, next] = [keyFrom(path), keyFrom(nextTo(path))];
  if (!now || !next) return now ?? next;
  return isSameChain(now, next) && next.epoch < now.epoch ? now : next;
}

function keyFrom(path: string): EpochKey | undefined {
  try {
    return keyIn(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR'].includes(code)) return undefined;
    throw new Fault(
      'unavailable',
      'answer key missing',
      `The key file ${path} can’t be read (${code}). Run the command as the user that runs the service, with the same DATA_DIR, ` +
        'or give your user read and write access to the file.',
      { cause: error },
    );
  }
}

/**
 * Replaces the stored key: writes and syncs the new file, overwrites the old one on the disk, then renames the new one. Only the
 * owner can read the file (mode 0600). Callers make sure that only one process writes at a time (epoch-chain.ts).
 */
export function writeKeyFile(path: string, key: EpochKey, head = answersHead): void {
  const directory = dirname(path);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  refuseForeignLink(directory);
  finishKeyFile(path);
  eraseKeyFile(nextTo(path)); // an incomplete key left by an interrupted update
  writeWhole(nextTo(path), keyText(key, head));
  syncDirectory(directory);
  takePlace(path);
}

/** Returns the name of the process whose key is at `path`; undefined before `keepName`. */
export function readName(path: string): string | undefined {
  try {
    return readFileSync(nameBeside(path), 'utf8').trim() || undefined;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** Stores a process name next to the key if there is none. A restarted container has a new host name, but the same file. */
export function keepName(path: string, name: string): void {
  if (readName(path) === undefined) writeFileSync(nameBeside(path), `${name}\n`, { mode: 0o600 });
}

const nameBeside = (path: string) => join(dirname(path), 'name');

/** Returns whether an update was interrupted. The previous key may then still exist, until finishKeyFile. */
export const isKeyFileUnfinished = (path: string): boolean => existsSync(nextTo(path));

/** Finishes an update that was interrupted after the new key had been written completely. */
export function finishKeyFile(path: string): void {
  const next = keyFrom(nextTo(path));
  if (next && readKeyFile(path)?.secret.equals(next.secret)) takePlace(path);
}

/** Overwrites the previous key and renames the new file, which must be complete and synced. */
function takePlace(path: string): void {
  eraseKeyFile(path);
  renameSync(nextTo(path), path);
  syncDirectory(dirname(path));
}

/** Overwrites the key and deletes the file, if it exists. */
export function removeKeyFile(path: string): void {
  for (const one of [nextTo(path), path]) {
    eraseKeyFile(one);
    rmSync(one, { force: true });
  }
}

function eraseKeyFile(path: string): void {
  let length: number;
  try {
    ({ length } = readFileSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  writeWhole(path, '0'.repeat(length));
}

/** Overwrites a file and syncs it. Does not follow links, because root may be writing in another user's directory. */
function writeWhole(path: string, text: string): void {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  try {
    const isForeign = process.getuid?.() === 0 && statSync(dirname(path)).uid !== 0;
    if (isForeign && fstatSync(file).nlink !== 1)
      throw new Error(`${path} has more than one hard link. Delete it and start again.`);
    writeSync(file, text, 0);
    ftruncateSync(file, Buffer.byteLength(text));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Refuses a symbolic link in place of the directory if we are root and another user created it. Other links are fine, for example to a volume. */
function refuseForeignLink(directory: string): void {
  const found = lstatSync(directory);
  if (found.isSymbolicLink() && process.getuid?.() === 0 && found.uid !== 0)
    throw new Error(
      `${directory} is a symbolic link that does not belong to root. Delete it and start again.`,
    );
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
