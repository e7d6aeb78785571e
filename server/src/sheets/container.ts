// Reads OLE containers with SheetJS. Old workbooks and encrypted Office documents are such containers of named streams.
import * as xlsx from '@e965/xlsx';
import { decryptPackage } from './decrypt.ts';
import { damaged, locked, orDamaged, unreadable } from './faults.ts';

/** SheetJS exports its reader of containers without types. */
const CFB: {
  read(bytes: Buffer, options: { type: 'buffer' }): object;
  find(container: object, name: string): { size: number; content?: Uint8Array } | null;
} = xlsx.CFB;

/** Returns a stream of a container by name, or undefined if there is none. Throws a Fault if the stream is incomplete. */
export type Container = (name: string) => Buffer | undefined;

export const isContainer = (bytes: Buffer): boolean => bytes.toString('hex', 0, 8) === 'd0cf11e0a1b11ae1';

/** Opens a container. Throws a Fault if it is damaged. */
export function openContainer(bytes: Buffer): Container {
  const container = orDamaged(() => CFB.read(bytes, { type: 'buffer' }));
  return (name) => {
    const found = CFB.find(container, name);
    if (!found) return undefined;
    const { content, size } = found;
    if (!content || content.length < size) throw damaged('The stream is cut off');
    return Buffer.from(content.buffer, content.byteOffset, content.length);
  };
}

/** Returns the archive of an encrypted .xlsx. Throws a Fault if it is protected with a password of the owner. */
export function unlocked(bytes: Buffer): Buffer {
  const open = openContainer(bytes);
  const [info, content] = [open('/EncryptionInfo'), open('/EncryptedPackage')];
  if (!info || !content) {
    throw unreadable(
      'The name ends in .xlsx, but the file is an old Office document. Open it in Excel, save it as a new .xlsx file and send the new file.',
    );
  }
  const archive = orDamaged(() => decryptPackage(info, content));
  if (!archive) throw locked();
  return archive;
}
