// The folder of an account and the attributes of its files, as an SFTP session sees them.
import { parkedUpload } from '../files/store.ts';
import { selectFile, selectFiles } from '../files/store.sql.ts';
import type { FileAttributes, ListingEntry } from './packets.ts';
import { isTemporary, placeOf } from './paths.ts';
import {
  failure,
  newHandle,
  noHandle,
  noSuchFile,
  ok,
  remember,
  type Reply,
  type SftpSession,
} from './session.ts';

/** The names per reply. With the longest names, a reply has 25 KB. */
const entriesPerReply = 50;

const folder: FileAttributes = { mode: 0o040_700 };
const fileMode = 0o100_200; // Write-only.

/** Returns the attributes of a file as this session sees it, or undefined if there is none. */
export async function fileAttributesOf(
  session: SftpSession,
  name: string,
): Promise<FileAttributes | undefined> {
  const { pool, caller, own, times, now } = session;
  const mine = own.get(name);
  if (mine) return fileAttributes(mine.size, times.get(name) ?? now() / 1000);
  if (isTemporary(name)) {
    const parked = await parkedUpload(pool, caller, name);
    return parked && fileAttributes(parked.size, times.get(name) ?? now() / 1000);
  }
  const file = await selectFile(pool, caller.accountId, name);
  return file && fileAttributes(file.size, times.get(name) ?? file.arrivedAt.getTime() / 1000);
}

const fileAttributes = (size: number, modified: number): FileAttributes => ({
  size,
  mode: fileMode,
  modified: Math.floor(modified),
});

/** Returns the attributes of the file or folder at a path. If its last upload was refused, returns the reason. */
export async function attributesAt(session: SftpSession, path: string | undefined): Promise<Reply> {
  const place = placeOf(path);
  if (place.kind === 'root') return { attributes: folder };
  if (place.kind === 'nowhere') return noSuchFile;
  const reason = session.refused.get(place.name);
  if (reason !== undefined && !session.own.has(place.name)) return failure(reason);
  const attributes = await fileAttributesOf(session, place.name);
  return attributes ? { attributes } : noSuchFile;
}

/** Returns the attributes of an open file or folder, or sets those of an open file. */
export async function attributesOfHandle(
  session: SftpSession,
  operation: { handle: number | undefined; attributes?: FileAttributes },
): Promise<Reply> {
  const handle = session.handles.get(operation.handle ?? -1);
  if (!handle) return noHandle;
  if (!('upload' in handle)) return operation.attributes ? ok : { attributes: folder };
  const { name, upload, broken } = handle;
  if (broken !== undefined) return failure(broken);
  if (operation.attributes) return setOf(session, name, upload.size, operation.attributes);
  return { attributes: fileAttributes(upload.size, session.times.get(name) ?? session.now() / 1000) };
}

/** Sets the attributes of the file at a path. */
export async function setAttributes(
  session: SftpSession,
  { path, attributes }: { path: string | undefined; attributes: FileAttributes },
): Promise<Reply> {
  const place = placeOf(path);
  if (place.kind === 'nowhere') return noSuchFile;
  if (place.kind === 'root') return attributes.size === undefined ? ok : failure('This is a folder.');
  const present = await fileAttributesOf(session, place.name);
  return present ? setOf(session, place.name, present.size as number, attributes) : noSuchFile;
}

/** Sets the attributes of a file. Times are kept for the session, because clients compare them. Modes are ignored. */
function setOf(
  session: SftpSession,
  name: string,
  present: number,
  { size, modified }: FileAttributes,
): Reply {
  if (size !== undefined && size !== present) {
    return { status: 'denied', text: "The size of a file can't be set. Upload the whole file." };
  }
  if (modified !== undefined) remember(session.times, name, modified);
  return ok;
}

/** Opens the folder, whose entries are listed at this moment. */
export async function openFolder(session: SftpSession, path: string | undefined): Promise<Reply> {
  if (placeOf(path).kind !== 'root') return noSuchFile;
  if (session.handles.size >= session.limits.handles) {
    return failure(`Too many open files (maximum ${session.limits.handles}). Close some first.`);
  }
  const { pool, caller, own, times, now } = session;
  const files = await selectFiles(pool, caller.accountId);
  const seconds = now() / 1000;
  const listed = new Map(
    files.map(({ name, size, arrivedAt }) => [
      name,
      fileAttributes(size, times.get(name) ?? arrivedAt.getTime() / 1000),
    ]),
  );
  for (const [name, { size }] of own) listed.set(name, fileAttributes(size, times.get(name) ?? seconds));
  const entries = [
    ...['.', '..'].map((name) => entryOf(name, { ...folder, modified: Math.floor(seconds) }, seconds)),
    ...[...listed].map(([name, attributes]) => entryOf(name, attributes, seconds)),
  ];
  return newHandle(session, { entries });
}

/** Returns the next entries of an open folder. */
export async function readFolder(session: SftpSession, id: number | undefined): Promise<Reply> {
  const handle = session.handles.get(id ?? -1);
  if (!handle || 'upload' in handle) return noHandle;
  const entries = handle.entries.splice(0, entriesPerReply);
  return entries.length > 0 ? { entries } : { status: 'eof', text: 'End of file' };
}

/** Returns an entry with a line like that of `ls -l`, which some clients parse. */
function entryOf(name: string, attributes: FileAttributes, now: number): ListingEntry {
  const modified = attributes.modified ?? now;
  const date = new Date(modified * 1000).toUTCString(); // Sat, 21 Nov 2026 17:06:50 GMT
  const [, day, month, year, time] = /, (\d+) (\w+) (\d+) (\d+:\d+)/.exec(date) ?? [];
  const isRecent = Math.abs(now - modified) < 182 * 86_400;
  const mode = attributes.size === undefined ? 'drwx------' : '--w-------';
  const size = String(attributes.size ?? 0).padStart(8);
  const shownDate = `${month} ${String(Number(day)).padStart(2)} ${isRecent ? time : ` ${year}`}`;
  return { name, attributes, longName: `${mode}    1 soundings soundings ${size} ${shownDate} ${name}` };
}
