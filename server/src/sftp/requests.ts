// Handles SFTP requests: upload and list only (decision C7). Requests that clients send around an upload get the replies they
// expect. All others are refused, with the reason as status text. Requests of a session are handled one at a time.
import { attributesAt, attributesOfHandle, openFolder, readFolder, setAttributes } from './listing.ts';
import type { SftpOperation } from './packets.ts';
import { realPath } from './paths.ts';
import { denied, failure, clientMessageOf, noSuchFile, type Reply, type SftpSession } from './session.ts';
import { closeHandle, startUpload, removeFile, renameFile, writeFile } from './uploads.ts';

/** The longest path, as on Linux. */
const maxPathLength = 4096;

/** Returns the reply to a request. Never throws: errors become replies. A bug gives a reply with an id and no details. */
export async function replyTo(session: SftpSession, operation: SftpOperation): Promise<Reply> {
  try {
    return await reply(session, operation);
  } catch (error) {
    return failure(clientMessageOf(session, error));
  }
}

const pathsOf = (operation: SftpOperation): (string | undefined)[] => [
  ...('path' in operation ? [operation.path] : []),
  ...('to' in operation ? [operation.to] : []),
];

async function reply(session: SftpSession, operation: SftpOperation): Promise<Reply> {
  for (const path of pathsOf(operation)) {
    if (path === undefined) return failure('The file name is not valid UTF-8.');
    if (path.includes('\0')) return failure('The file name contains a NUL character.');
    if (path.length > maxPathLength) return noSuchFile;
  }
  switch (operation.verb) {
    case 'open':
      return startUpload(session, operation);
    case 'write':
      return writeFile(session, operation);
    case 'close':
      return closeHandle(session, operation.handle);
    case 'stat':
      return attributesAt(session, operation.path);
    case 'fstat':
    case 'fsetstat':
      return attributesOfHandle(session, operation);
    case 'setstat':
      return setAttributes(session, operation);
    case 'opendir':
      return openFolder(session, operation.path);
    case 'readdir':
      return readFolder(session, operation.handle);
    case 'realpath':
      return {
        entries: [
          { name: realPath(operation.path ?? ''), longName: realPath(operation.path ?? ''), attributes: {} },
        ],
      };
    case 'rename':
      return renameFile(session, operation);
    case 'remove':
      return removeFile(session, operation.path);
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
