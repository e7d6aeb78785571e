// An SFTP session: what it remembers of its client, and the replies that it gives.
import { Fault } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Span } from '../base/tracing/spans.ts';
import { asFault, type Pool } from '../db/db.ts';
import type { Upload } from '../files/store.ts';
import type { SftpLimits } from './limits.ts';
import type { FileAttributes, ListingEntry, Status } from './packets.ts';

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

/** An open file or folder. `broken` says why the upload of the file failed. `trace` is that of the upload, if it is traced. */
export type Writing = { name: string; upload: Upload; broken: string | undefined; trace: Span | undefined };
export type Handle = Writing | { entries: ListingEntry[] };

export type Reply =
  | { status: Status; text: string }
  | { handle: number }
  | { attributes: FileAttributes }
  | { entries: ListingEntry[] };

/** The maximum number of names to remember as refused, or with their times. */
const maxNames = 1000;

export const ok: Reply = { status: 'ok', text: 'Success' };
export const denied: Reply = { status: 'denied', text: 'Files can only be uploaded and listed' };
export const noSuchFile: Reply = { status: 'noSuchFile', text: 'No such file' };
export const failure = (text: string): Reply => ({ status: 'failure', text });
export const noHandle = failure('Unknown file handle.');

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

/** Opens a handle, and returns the reply with its number. */
export function newHandle(session: SftpSession, handle: Handle): Reply {
  session.lastHandle = (session.lastHandle + 1) >>> 0;
  session.handles.set(session.lastHandle, handle);
  return { handle: session.lastHandle };
}

/** Remembers a value by name. Forgets the oldest one if there are too many. */
export function remember<T>(map: Map<string, T>, name: string, value: T): void {
  if (map.size >= maxNames) map.delete(map.keys().next().value as string);
  map.set(name, value);
}

/** Returns the text of an error for the client. A bug gives a text with an id and no details. */
export function clientMessageOf({ log }: SftpSession, thrown: unknown): string {
  const error = asFault(thrown);
  if (error instanceof Fault) {
    if (error.kind === 'unavailable') log.warn({ cause: error.cause }, error.message);
    return error.message;
  }
  const requestId = newId();
  log.error({ requestId, err: error }, 'Unexpected error in an SFTP request');
  return `Unexpected error. If it happens again, report it with the ID ${requestId}.`;
}
