// The file in which the epoch key is kept, outside the database. It moves forward only, and the key before is overwritten on the
// disk, whatever interrupts it: at each moment one of the two files is whole.
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

const answersHead = 'Soundings answer key, format 1. Never back this file up: see docs/operations.md.';
/** The first line of the file of the key of secrets (secrets.ts). */
export const secretsHead =
  'Soundings secrets key, format 1. Keep a copy of this file apart from backups: see docs/operations.md.';

/** A key as the text of its file, which always has the same length. */
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

/** The key in a text; undefined when the text is not whole, or something else. */
export function keyIn(text: string): EpochKey | undefined {
  const parts =
    /^([^]*\nchain ([0-9a-f]{16})\nepoch (\d{10})\nkey ([0-9a-f]{64}))\nchecksum ([0-9a-f]{16})\n?$/.exec(
      text,
    );
  if (!parts || checksumOf(parts[1] as string) !== parts[5]) return undefined;
  const [, , chain = '', epoch, secret = ''] = parts;
  return { chain: Buffer.from(chain, 'hex'), epoch: Number(epoch), secret: Buffer.from(secret, 'hex') };
}

const nextTo = (path: string) => `${path}.next`;

/** The key that is kept; undefined when there is none. A step that was interrupted counts as done. */
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
      `The key file ${path} can’t be read (${code}). Run the command as the user who runs the service, with its DATA_DIR; or let ` +
        'that user read and write the file.',
      { cause: error },
    );
  }
}

/**
 * Keeps a key in place of the one before, which is overwritten where it lies on the disk: first the new one is written and
 * safe, then the old one is overwritten, then the new one takes its name. For the owner alone (mode 0600). Callers see to it
 * that one process at a time writes (answer-keys.ts).
 */
export function writeKeyFile(path: string, key: EpochKey, head = answersHead): void {
  const directory = dirname(path);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  refuseForeignLink(directory);
  finishKeyFile(path);
  eraseKeyFile(nextTo(path)); // part of a key, which an interrupted step has left
  writeWhole(nextTo(path), keyText(key, head));
  syncDirectory(directory);
  takePlace(path);
}

/** Returns the name of the process that keeps its key at `path`; undefined before `keepName`. */
export function readName(path: string): string | undefined {
  try {
    return readFileSync(nameBeside(path), 'utf8').trim() || undefined;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** Keeps a name beside the key, unless there is one: a container that starts again has another host name, but the same file. */
export function keepName(path: string, name: string): void {
  if (readName(path) === undefined) writeFileSync(nameBeside(path), `${name}\n`, { mode: 0o600 });
}

const nameBeside = (path: string) => join(dirname(path), 'name');

/** Whether a step was interrupted: then the key before may still be there, until finishKeyFile. */
export const isKeyFileUnfinished = (path: string): boolean => existsSync(nextTo(path));

/** Goes on with a step that was interrupted when the new key was whole. */
export function finishKeyFile(path: string): void {
  const next = keyFrom(nextTo(path));
  if (next && readKeyFile(path)?.secret.equals(next.secret)) takePlace(path);
}

/** Lets the new key, which is whole and safe, take the place of the one before. */
function takePlace(path: string): void {
  eraseKeyFile(path);
  renameSync(nextTo(path), path);
  syncDirectory(dirname(path));
}

/** Overwrites the key and removes the file; nothing where there is none. */
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

/** Not through links: root may write here, in a directory of another user. */
function writeWhole(path: string, text: string): void {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  try {
    const isForeign = process.getuid?.() === 0 && statSync(dirname(path)).uid !== 0;
    if (isForeign && fstatSync(file).nlink !== 1)
      throw new Error(`${path} has another name as well. Remove it, and start again.`);
    writeSync(file, text, 0);
    ftruncateSync(file, Buffer.byteLength(text));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A link in place of the directory is fine, to put it on a volume of its own; but not one that another user made for root. */
function refuseForeignLink(directory: string): void {
  const found = lstatSync(directory);
  if (found.isSymbolicLink() && process.getuid?.() === 0 && found.uid !== 0)
    throw new Error(`${directory} is a link that is not of root's. Remove it, and start again.`);
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
