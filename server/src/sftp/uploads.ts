// Uploads of an SFTP session: files that clients open, write, close and rename. Every refusal is logged, with its reason as the
// status text.
import { beginTrace, type Span, asPartOf } from '../base/tracing/spans.ts';
import { visible } from '../base/visible-text.ts';
import { openUpload, parkedUpload, recordRefusal, type Upload } from '../files/store.ts';
import { chunkBytes, chunksInMemory } from '../files/upload-chunks.ts';
import { fileAttributesOf } from './listing.ts';
import { openFlags } from './packets.ts';
import { checkName, isMeantFor, isTemporary, placeOf } from './paths.ts';
import {
  denied,
  failure,
  clientMessageOf,
  newHandle,
  noHandle,
  noSuchFile,
  ok,
  remember,
  type Reply,
  type SftpSession,
  type Writing,
} from './session.ts';

/**
 * The maximum number of bytes of waiting requests: 128 KB at which reading stops, the 64 KB that were read with them, and the SSH packet
 * (RFC 4253 §6.1: 35,000 bytes) whose end was among these.
 */
const maxQueueBytes = 192 * 1024 + 35_000;

/** Starts the upload of a file. Files can't be read. */
export async function startUpload(
  session: SftpSession,
  { path, flags }: { path: string | undefined; flags: number },
): Promise<Reply> {
  const place = placeOf(path);
  if (place.kind === 'nowhere') return noSuchFile;
  if (place.kind === 'root') return failure('This is a folder.');
  const { name } = place;
  const has = (flag: keyof typeof openFlags) => (flags & openFlags[flag]) !== 0;
  if (!has('write')) return (await fileAttributesOf(session, name)) ? denied : noSuchFile;
  if (has('read') || has('append')) {
    return { status: 'denied', text: "Files can't be read or appended to. Upload the whole file." };
  }
  if (session.isStopping()) return failure('The service is stopping. Try again in a moment.');
  if (session.handles.size >= session.limits.handles) {
    return failure(`Too many open files (maximum ${session.limits.handles}). Close some first.`);
  }
  return orRefused(session, name, async () => {
    checkName(name);
    const isPlain = has('create') && has('truncate') && !has('exclusive');
    const isThere = !isPlain && (await fileAttributesOf(session, name)) !== undefined;
    if (isThere && has('exclusive')) return failure('The file already exists.');
    if (isThere && !has('truncate')) {
      return {
        status: 'denied',
        text: "A stored file can't be changed. Upload the whole file again.",
      };
    }
    if (!isThere && !has('create')) return noSuchFile;
    const trace = beginTrace({ name: 'SFTP upload', kind: 'server' });
    const upload = await asPartOf(trace, () =>
      openUpload(session.pool, { ...session.caller, via: 'sftp' }, name),
    );
    session.uploads.add(upload);
    session.own.set(name, upload);
    session.refused.delete(name);
    return newHandle(session, { name, upload, broken: undefined, trace });
  });
}

/** Does work on an upload. If it fails, logs the reason and remembers it by name. */
async function orRefused(session: SftpSession, name: string, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    const reason = clientMessageOf(session, error);
    remember(session.refused, name, reason);
    session.log.info({ reason }, 'SFTP upload refused');
    session.print(`${visible(name, 200)}: ${reason}`);
    // Uploads under a temporary name are not listed, so their refusals are not recorded.
    if (!isTemporary(name))
      await recordRefusal(session.pool, { ...session.caller, via: 'sftp' }, name, error);
    return failure(reason);
  }
}

function writingOf(session: SftpSession, id: number | undefined): Writing | undefined {
  const handle = session.handles.get(id ?? -1);
  return handle && 'upload' in handle ? handle : undefined;
}

/** Writes bytes to an open file. After an error, the upload is deleted. */
export async function writeFile(
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
      await upload.write(at, chunk);
      at += chunk.length;
    }
    return ok;
  });
  if (written !== ok) {
    writing.broken = session.refused.get(name) ?? 'The upload failed.';
    fail(writing.trace);
    await giveUp(session, name, upload);
  }
  return written;
}

/** Keeps the connection within its memory limit, even when the client writes many files at the same time. */
async function makeRoom({ uploads, limits }: SftpSession, upload: Upload): Promise<void> {
  const room = limits.unwrittenBytes - chunksInMemory * chunkBytes - maxQueueBytes;
  for (;;) {
    const others = [...uploads].filter((one) => one !== upload);
    if (others.reduce((sum, one) => sum + one.unwritten, 0) <= room) return;
    const largest = others.reduce((one, other) => (other.unwritten > one.unwritten ? other : one));
    await largest.shrink();
  }
}

/** Ends the trace of an upload that failed, if it has not ended. */
const fail = (trace: Span | undefined) => trace?.end({ attributes: { 'error.type': 'refused' } });

/** Deletes an upload. If that fails, it is deleted within the hour. */
async function giveUp(session: SftpSession, name: string, upload: Upload): Promise<void> {
  session.uploads.delete(upload);
  if (session.own.get(name) === upload) session.own.delete(name);
  await upload.abort().catch((error: unknown) => clientMessageOf(session, error));
}

/** Closes a handle. A file is then processed, or waits for its final name if its name is temporary. */
export async function closeHandle(session: SftpSession, id: number | undefined): Promise<Reply> {
  const handle = session.handles.get(id ?? -1);
  if (!handle) return noHandle;
  session.handles.delete(id as number);
  if (!('upload' in handle)) return ok;
  const { name, upload, broken, trace } = handle;
  if (broken !== undefined) return failure(broken);
  const closed = await orRefused(session, name, () =>
    asPartOf(trace, async () => {
      if (isTemporary(name)) await upload.park(name);
      else await publish(session, upload, name);
      trace?.end();
      return ok;
    }),
  );
  fail(trace);
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

/** Gives an upload with a temporary name another name. With a final name, the file is processed. */
export async function renameFile(
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

/** Deletes an upload that waits under a temporary name. */
export async function removeFile(session: SftpSession, path: string | undefined): Promise<Reply> {
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
      .map(({ name, upload, trace }) => {
        fail(trace);
        return giveUp(session, name, upload);
      }),
  );
}
