// The container of old workbooks, and of whatever of Office is encrypted: streams by their names. Read by SheetJS.
import * as xlsx from '@e965/xlsx';
import { decryptPackage } from './decrypt.ts';
import { damaged, locked, orDamaged, unreadable } from './rows.ts';

/** What SheetJS offers beyond its types. */
const { CFB } = xlsx as unknown as {
  CFB: {
    read(bytes: Buffer, options: { type: 'buffer' }): object;
    find(container: object, name: string): { size: number; content?: Uint8Array } | null;
  };
};

/** A stream of a container by its name; undefined: there is none. Throws a Fault where it isn't whole. */
export type Container = (name: string) => Buffer | undefined;

export const isContainer = (bytes: Buffer): boolean => bytes.toString('hex', 0, 8) === 'd0cf11e0a1b11ae1';

/** Throws a Fault where it is damaged. */
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

/** The archive of an encrypted .xlsx. Throws a Fault where it has a password of its own. */
export function unlocked(bytes: Buffer): Buffer {
  const open = openContainer(bytes);
  const [info, content] = [open('/EncryptionInfo'), open('/EncryptedPackage')];
  if (!info || !content) {
    throw unreadable(
      'The name ends in .xlsx, but the file is an old Office document. Open it in Excel, save it as .xlsx, and send that.',
    );
  }
  const archive = orDamaged(() => decryptPackage(info, content));
  if (!archive) throw locked();
  return archive;
}
