// Handles SFTP requests: upload and list only (decision C7). Requests that clients send around an upload get the replies they
// expect. All others are refused, with the reason as status text. Requests of a session are handled one at a time.
import { asFault, type Pool } from '../db/db.ts';
import { Fault } from '../base/errors.ts';
import { visible } from '../base/visible-text.ts';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { SftpLimits } from './limits.ts';
import { checkName, isMeantFor, isTemporary, placeOf, realPath } from './paths.ts';
import { type Operation, type Attributes, type Entry, openFlags, type Status } from './packets.ts';
import { partBytes, partsInMemory } from '../files/upload-parts.ts';
import {
  selectFile,
  selectFiles,
  recordRefusal,
  openUpload,
  parkedUpload,
  type Upload,
} from '../files/store.ts';

export type SftpSession = {
  pool: Pool;
  log: Log;
  caller: { accountId: number; tokenId: number; address: string };
  limits: SftpLimits;
  isStopping: () => boolean;
  now: () => number;
  /** The running uploads of the connection. */
  uploads: Set<Upload>;
  /** Prints a text at the client, for clients that do not show the text of a status. */
  print: (text: string) => void;
  handles: Map<number, Handle>;
  lastHandle: number;
  /** The session's uploads that are not files yet, by name. Other sessions do not see them. */
  own: Map<string, Upload>;
  /** Why the last upload with a name was refused. */
  refused: Map<string, string>;
  /** File times that the client has set, in seconds since 1970. */
  times: Map<string, number>;
};

/** An open file or folder. `broken` says why the upload of the file failed. */
type Writing = { name: string; upload: Upload; broken: string | undefined };
type Handle = Writing | { entries: Entry[] };

export type Reply =
  { status: Status; text: string } | { handle: number } | { attributes: Attributes } | { entries: Entry[] };

/** The most names to remember as refused, or with their times. */
const maxNames = 1000;
/** The names per reply. With the longest names, a reply has 25 KB. */
const entriesPerReply = 50;
/** The most bytes of waiting requests: four of 32 KB, and what was read with them. */
const maxQueueBytes = 192 * 1024;
/** The longest path, as on Linux. */
const maxPathLength = 4096;

const folder: Attributes = { mode: 0o040_700 };
const fileMode = 0o100_200; // Write-only.

const ok: Reply = { status: 'ok', text: 'Success' };
const denied: Reply = { status: 'denied', text: 'Files can only be uploaded and listed' };
const noSuchFile: Reply = { status: 'noSuchFile', text: 'No such file' };
const failure = (text: string): Reply => ({ status: 'failure', text });

export function newSession(
  shared: Pick<
    SftpSession,
    'pool' | 'log' | 'caller' | 'limits' | 'isStopping' | 'now' | 'uploads' | 'print'
  >,
): SftpSession {
  return {
    ...shared,
    handles: new Map(),
    lastHandle: 0,
    own: new Map(),
    refused: new Map(),
    times: new Map(),
  };
}

/** Returns the reply to a request. Never throws: errors become replies. A bug gives a reply with an id and no details. */
export async function replyTo(session: SftpSession, ask: Operation): Promise<Reply> {
  try {
    return await reply(session, ask);
  } catch (error) {
    return failure(messageOf(session, error));
  }
}

function messageOf({ log }: SftpSession, thrown: unknown): string {
  const error = asFault(thrown);
  if (error instanceof Fault) {
    if (error.kind === 'unavailable') log.warn({ cause: error.cause }, error.message);
    return error.message;
  }
  const requestId = newId();
  log.error({ requestId, err: error }, 'Unexpected error in an SFTP request');
  return `Unexpected error. If it happens again, report it with the ID ${requestId}.`;
}

const pathsOf = (ask: Operation): (string | undefined)[] => [
  ...('path' in ask ? [ask.path] : []),
  ...('to' in ask ? [ask.to] : []),
];

async function reply(session: SftpSession, ask: Operation): Promise<Reply> {
  for (const path of pathsOf(ask)) {
    if (path === undefined) return failure('The file name is not valid UTF-8.');
    if (path.includes('\0')) return failure('The file name contains a NUL character.');
    if (path.length > maxPathLength) return noSuchFile;
  }
  switch (ask.verb) {
    case 'open':
      return open(session, ask);
    case 'write':
      return write(session, ask);
    case 'close':
      return close(session, ask.handle);
    case 'stat':
      return stat(session, ask.path);
    case 'fstat':
    case 'fsetstat':
      return onHandle(session, ask);
    case 'setstat':
      return setAttributes(session, ask);
    case 'opendir':
      return openFolder(session, ask.path);
    case 'readdir':
      return readFolder(session, ask.handle);
    case 'realpath':
      return {
        entries: [{ name: realPath(ask.path ?? ''), longName: realPath(ask.path ?? ''), attributes: {} }],
      };
    case 'rename':
      return rename(session, ask);
    case 'remove':
      return remove(session, ask.path);
    case 'read':
    case 'refused':
      return denied;
    case 'unsupported':
      return { status: 'unsupported', text: 'Operation unsupported' };
    case 'init':
    case 'malformed':
      return { status: 'badMessage', text: 'Bad message' };
  }
}

async function open(
  session: SftpSession,
  { path, flags }: { path: string | undefined; flags: number },
): Promise<Reply> {
  const place = placeOf(path);
  if (place.kind === 'nowhere') return noSuchFile;
  if (place.kind === 'root') return failure('This is a folder.');
  const { name } = place;
  const asks = (flag: keyof typeof openFlags) => (flags & openFlags[flag]) !== 0;
  if (!asks('write')) return (await attributesOf(session, name)) ? denied : noSuchFile;
  if (asks('read') || asks('append')) {
    return { status: 'denied', text: "Files can't be read or appended to. Upload the whole file." };
  }
  if (session.isStopping()) return failure('The service is stopping. Try again in a moment.');
  if (session.handles.size >= session.limits.handles) {
    return failure(`Too many open files (maximum ${session.limits.handles}). Close some first.`);
  }
  return orRefused(session, name, async () => {
    checkName(name);
    const isPlain = asks('create') && asks('truncate') && !asks('exclusive');
    const isThere = !isPlain && (await attributesOf(session, name)) !== undefined;
    if (isThere && asks('exclusive')) return failure('The file already exists.');
    if (isThere && !asks('truncate')) {
      return {
        status: 'denied',
        text: "A stored file can't be changed. Upload the whole file again.",
      };
    }
    if (!isThere && !asks('create')) return noSuchFile;
    const upload = await openUpload(session.pool, { ...session.caller, via: 'sftp' }, name);
    session.uploads.add(upload);
    session.own.set(name, upload);
    session.refused.delete(name);
    return newHandle(session, { name, upload, broken: undefined });
  });
}

function newHandle(session: SftpSession, handle: Handle): Reply {
  session.lastHandle = (session.lastHandle + 1) >>> 0;
  session.handles.set(session.lastHandle, handle);
  return { handle: session.lastHandle };
}

/** Does work on an upload. If it fails, logs the reason and remembers it by name. */
async function orRefused(session: SftpSession, name: string, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    const reason = messageOf(session, error);
    remember(session.refused, name, reason);
    session.log.info({ reason }, 'SFTP upload refused');
    session.print(`${visible(name, 200)}: ${reason}`);
    // Uploads under a temporary name are not listed, so their refusals are not recorded.
    if (!isTemporary(name))
      await recordRefusal(session.pool, { ...session.caller, via: 'sftp' }, name, error);
    return failure(reason);
  }
}

function remember<T>(map: Map<string, T>, name: string, value: T): void {
  if (map.size >= maxNames) map.delete(map.keys().next().value as string);
  map.set(name, value);
}

function writingOf(session: SftpSession, id: number | undefined): Writing | undefined {
  const handle = session.handles.get(id ?? -1);
  return handle && 'upload' in handle ? handle : undefined;
}

const noHandle = failure('Unknown file handle.');

async function write(
  session: SftpSession,
  { handle, offset, chunks }: { handle: number | undefined; offset: number; chunks: Buffer[] },
): Promise<Reply> {
  const writing = writingOf(session, handle);
  if (!writing) return noHandle;
  const { upload, name } = writing;
  if (writing.broken !== undefined) return failure(writing.broken);
  const written = await orRefused(session, name, async () => {
    await makeRoom(session, upload);
    let at = offset;
    for (const chunk of chunks) {
      // oxlint-disable-next-line no-await-in-loop -- one after another
      await upload.write(at, chunk);
      at += chunk.length;
    }
    return ok;
  });
  if (written !== ok) {
    writing.broken = session.refused.get(name) ?? 'The upload failed.';
    await giveUp(session, name, upload);
  }
  return written;
}

/** Keeps the connection within its memory limit, even when the client writes many files at once. */
async function makeRoom({ uploads, limits }: SftpSession, upload: Upload): Promise<void> {
  const room = limits.unwrittenBytes - partsInMemory * partBytes - maxQueueBytes;
  for (;;) {
    const others = [...uploads].filter((one) => one !== upload);
    if (others.reduce((sum, one) => sum + one.unwritten, 0) <= room) return;
    const largest = others.reduce((one, other) => (other.unwritten > one.unwritten ? other : one));
    // oxlint-disable-next-line no-await-in-loop -- until there is room
    await largest.shrink();
  }
}

/** Deletes an upload. If that fails now, it is deleted within the hour. */
async function giveUp(session: SftpSession, name: string, upload: Upload): Promise<void> {
  session.uploads.delete(upload);
  if (session.own.get(name) === upload) session.own.delete(name);
  await upload.abort().catch((error: unknown) => messageOf(session, error));
}

async function close(session: SftpSession, id: number | undefined): Promise<Reply> {
  const handle = session.handles.get(id ?? -1);
  if (!handle) return noHandle;
  session.handles.delete(id as number);
  if (!('upload' in handle)) return ok;
  const { name, upload, broken } = handle;
  if (broken !== undefined) return failure(broken);
  const closed = await orRefused(session, name, async () => {
    if (isTemporary(name)) await upload.park(name);
    else await publish(session, upload, name);
    return ok;
  });
  session.uploads.delete(upload);
  if (closed !== ok) await giveUp(session, name, upload);
  else if (!isTemporary(name) && session.own.get(name) === upload) session.own.delete(name);
  return closed;
}

async function publish(session: SftpSession, upload: Upload, name: string): Promise<void> {
  await upload.finish(name);
  session.refused.delete(name);
  session.log.info({ fileId: upload.id, size: upload.size }, 'File received');
}

/** Returns the attributes of a file as this session sees it, or undefined if there is none. */
async function attributesOf(session: SftpSession, name: string): Promise<Attributes | undefined> {
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

const fileAttributes = (size: number, modified: number): Attributes => ({
  size,
  mode: fileMode,
  modified: Math.floor(modified),
});

async function stat(session: SftpSession, path: string | undefined): Promise<Reply> {
  const place = placeOf(path);
  if (place.kind === 'root') return { attributes: folder };
  if (place.kind === 'nowhere') return noSuchFile;
  const reason = session.refused.get(place.name);
  if (reason !== undefined && !session.own.has(place.name)) return failure(reason);
  const attributes = await attributesOf(session, place.name);
  return attributes ? { attributes } : noSuchFile;
}

async function onHandle(
  session: SftpSession,
  ask: { handle: number | undefined; attributes?: Attributes },
): Promise<Reply> {
  const handle = session.handles.get(ask.handle ?? -1);
  if (!handle) return noHandle;
  if (!('upload' in handle)) return ask.attributes ? ok : { attributes: folder };
  const { name, upload, broken } = handle;
  if (broken !== undefined) return failure(broken);
  if (ask.attributes) return setOf(session, name, upload.size, ask.attributes);
  return { attributes: fileAttributes(upload.size, session.times.get(name) ?? session.now() / 1000) };
}

async function setAttributes(
  session: SftpSession,
  { path, attributes }: { path: string | undefined; attributes: Attributes },
): Promise<Reply> {
  const place = placeOf(path);
  if (place.kind === 'nowhere') return noSuchFile;
  if (place.kind === 'root') return attributes.size === undefined ? ok : failure('This is a folder.');
  const present = await attributesOf(session, place.name);
  return present ? setOf(session, place.name, present.size as number, attributes) : noSuchFile;
}

/** Sets the attributes of a file. Times are kept for the session, because clients compare them. Modes are ignored. */
function setOf(session: SftpSession, name: string, present: number, { size, modified }: Attributes): Reply {
  if (size !== undefined && size !== present) {
    return { status: 'denied', text: "The size of a file can't be set. Upload the whole file." };
  }
  if (modified !== undefined) remember(session.times, name, modified);
  return ok;
}

async function openFolder(session: SftpSession, path: string | undefined): Promise<Reply> {
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

async function readFolder(session: SftpSession, id: number | undefined): Promise<Reply> {
  const handle = session.handles.get(id ?? -1);
  if (!handle || 'upload' in handle) return noHandle;
  const entries = handle.entries.splice(0, entriesPerReply);
  return entries.length > 0 ? { entries } : { status: 'eof', text: 'End of file' };
}

/** Returns an entry with a line like that of `ls -l`, which some clients parse. */
function entryOf(name: string, attributes: Attributes, now: number): Entry {
  const modified = attributes.modified ?? now;
  const date = new Date(modified * 1000).toUTCString(); // Sat, 21 Nov 2026 17:06:50 GMT
  const [, day, month, year, time] = /, (\d+) (\w+) (\d+) (\d+:\d+)/.exec(date) ?? [];
  const isRecent = Math.abs(now - modified) < 182 * 86_400;
  const mode = attributes.size === undefined ? 'drwx------' : '--w-------';
  const size = String(attributes.size ?? 0).padStart(8);
  const shownDate = `${month} ${String(Number(day)).padStart(2)} ${isRecent ? time : ` ${year}`}`;
  return { name, attributes, longName: `${mode}    1 soundings soundings ${size} ${shownDate} ${name}` };
}

async function rename(
  session: SftpSession,
  { path, to }: { path: string | undefined; to: string | undefined },
): Promise<Reply> {
  const [from, target] = [placeOf(path), placeOf(to)];
  if (from.kind !== 'file' || target.kind !== 'file') return from.kind === 'root' ? denied : noSuchFile;
  if (!isTemporary(from.name)) return denied;
  const reason = session.refused.get(from.name);
  const mine = session.own.get(from.name);
  if (mine && session.uploads.has(mine)) return failure('The file is still being written.');
  const upload = mine ?? (await parkedUpload(session.pool, session.caller, from.name));
  if (!upload) return reason === undefined ? noSuchFile : failure(reason);
  const renamed = await orRefused(session, target.name, async () => {
    checkName(target.name);
    if (isTemporary(target.name)) await upload.park(target.name);
    else await publish(session, upload, target.name);
    return ok;
  });
  if (renamed !== ok) {
    // A file with wrong content has been deleted. A file with an invalid name can still be renamed.
    if (!(await parkedUpload(session.pool, session.caller, from.name))) session.own.delete(from.name);
    return renamed;
  }
  session.own.delete(from.name);
  if (isTemporary(target.name)) session.own.set(target.name, upload);
  const time = session.times.get(from.name);
  if (time !== undefined) remember(session.times, target.name, time);
  return ok;
}

async function remove(session: SftpSession, path: string | undefined): Promise<Reply> {
  const place = placeOf(path);
  if (place.kind !== 'file') return place.kind === 'root' ? denied : noSuchFile;
  const { name } = place;
  if (!isTemporary(name)) {
    // Some clients remove the old file just before they rename the new one to its name. This replaces the file.
    const isReplaced = [...session.own.keys()].some((one) => isTemporary(one) && isMeantFor(one, name));
    return isReplaced ? ok : denied;
  }
  const mine = session.own.get(name);
  if (mine && session.uploads.has(mine)) return failure('The file is still being written.');
  const upload = mine ?? (await parkedUpload(session.pool, session.caller, name));
  if (!upload) return noSuchFile;
  session.own.delete(name);
  await upload.abort();
  return ok;
}

/** Deletes the session's unfinished uploads. Complete uploads under a temporary name are kept for an hour. */
export async function endSession(session: SftpSession): Promise<void> {
  const unfinished = [...session.handles.values()].filter((one) => 'upload' in one);
  session.handles.clear();
  await Promise.all(
    unfinished
      .filter(({ broken }) => broken === undefined)
      .map(({ name, upload }) => giveUp(session, name, upload)),
  );
}
