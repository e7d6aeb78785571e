// The console: files that were received, uploads from the browser, and confirmed mappings of columns and values.
import type { FileDetails } from '@soundings/contract/console/runs.ts';
import { maxUploadBytes } from '@soundings/contract/limits.ts';
import type { IncomingMessage } from 'node:http';
import { accountById, changeAccount } from '../../accounts/accounts.ts';
import { isAllowed } from '../../accounts/allowlist.ts';
import { audit } from '../../accounts/audit.ts';
import { Fault } from '../../base/errors.ts';
import { type AccountId, inTransaction, type Pool } from '../../db/db.ts';
import { columnsOfFile } from '../../files/preview.ts';
import {
  confirmColumns,
  confirmValues,
  deleteColumnMapping,
  deleteValueMapping,
} from '../../files/mappings.ts';
import { selectValueMappings } from '../../files/mappings.sql.ts';
import { endedEarly } from '../../http/multipart.ts';
import { fileNameOf } from '../../sheets/file-names.ts';
import { fileNotFound, openUpload, recordRefusal, tooLarge, type Upload } from '../../files/store.ts';
import { actorOf, type Console, requireProof, type Who } from '../core/console.ts';
import { type FileFound, selectFilePage, selectFileRows, selectMappingList } from './files.sql.ts';
import { idIn } from '../core/ids.ts';
import { rowWindowOf, withRemedies } from './remedies.ts';
import { type Decider, repeatFile } from '../../files/approval.ts';

export function serveFiles(console: Console, pool: Promise<Pool>): void {
  console.serve('GET /files', async ({ accountId }, { query }) =>
    selectFileRows(await pool, accountId, query.search ?? null, rowWindowOf(query)),
  );

  console.serve('POST /files', async (who, { query, request }) =>
    receive(await pool, who, query.name, request.raw),
  );

  console.serve('GET /files/{fileId}', async ({ accountId }, { params, query }): Promise<FileDetails> => {
    const { details, notices, message, ...file } = await foundFile(await pool, accountId, params.fileId);
    return {
      ...file,
      message: message ?? '',
      details: withRemedies(details, query.language),
      notices: withRemedies(notices, query.language),
    };
  });

  console.serve('GET /files/{fileId}/columns', async ({ accountId }, { params }) =>
    columnsOfFile(await pool, accountId, await foundContent(await pool, accountId, params.fileId)),
  );

  console.serve('POST /files/{fileId}/columns', async (who, { params, body }) => {
    const { fileId } = await foundContent(await pool, who.accountId, params.fileId);
    const by = actorOf(who) as Decider & { userId: number };
    return inTransaction(await pool, async (tx) => {
      await confirmColumns(tx, who.accountId, by, body.sheets);
      await confirmValues(tx, who.accountId, by, body.values ?? []);
      const { country } = body;
      if (country !== undefined) await changeAccount(tx, who.accountId, { defaultCountry: country }, by);
      return { isRepeated: await repeatFile(tx, who.accountId, fileId, by) };
    });
  });

  console.serve('GET /mappings', async ({ accountId }) => ({
    columns: await selectMappingList(await pool, accountId),
    values: await selectValueMappings(await pool, accountId),
  }));

  console.serve('DELETE /mappings/{mappingId}', async (who, { params }) =>
    inTransaction(await pool, (tx) =>
      deleteColumnMapping(tx, who.accountId, actorOf(who), idIn(params.mappingId)),
    ),
  );

  console.serve('DELETE /value-mappings/{mappingId}', async (who, { params }) =>
    inTransaction(await pool, (tx) =>
      deleteValueMapping(tx, who.accountId, actorOf(who), idIn(params.mappingId)),
    ),
  );
}

async function foundFile(pool: Pool, accountId: AccountId, fileId: string): Promise<FileFound> {
  const file = await selectFilePage(pool, accountId, idIn(fileId));
  if (!file) throw fileNotFound();
  return file;
}

/** Returns a file whose content is kept. Throws a Fault if there is none. */
async function foundContent(pool: Pool, accountId: AccountId, fileId: string): Promise<FileFound> {
  const file = await foundFile(pool, accountId, fileId);
  if (!file.isKept)
    throw new Fault(
      'not_found',
      'file not kept',
      'This upload was refused, so its content is not kept. Upload the file again.',
    );
  return file;
}

/** Stores a file as it arrives. Refused and interrupted uploads leave nothing behind. */
async function receive(
  pool: Pool,
  who: Who,
  sent: string,
  body: IncomingMessage,
): Promise<{ fileId: number; name: string }> {
  const { accountId, userId, address } = who;
  const receiving = { accountId, via: 'console' as const, tokenId: null, userId, address };
  const { allow, applyFiles } = await accountById(pool, accountId);
  // The file is not listed as refused, because the browser sends it again once the password has been given.
  if (applyFiles && !who.isProved) drop(body);
  if (applyFiles) requireProof(who);
  let upload: Upload | undefined;
  try {
    if (!isAllowed(allow, address)) {
      const message = `This account does not accept files from the address ${address}. Add it to the allowed IP addresses.`;
      throw new Fault('forbidden', 'file validation', message);
    }
    if (Number(body.headers['content-length']) > maxUploadBytes) throw tooLarge();
    const name = fileNameOf(sent);
    upload = await openUpload(pool, receiving, name);
    const fileId = upload.id;
    for await (const bytes of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)
      await upload.write(upload.size, bytes);
    if (!body.complete) throw endedEarly();
    await upload.finish(name, (tx) =>
      audit(tx, accountId, actorOf(who), 'file uploaded', { subject: fileId, details: { file: name } }),
    );
    return { fileId, name };
  } catch (error) {
    drop(body);
    await upload?.abort().catch(() => {}); // if this fails, the upload is deleted later with the abandoned uploads
    await recordRefusal(pool, receiving, sent, error);
    throw error;
  }
}

/** How many bytes of a refused upload are still read, so that the response reaches a browser that keeps sending. */
const maxDropped = 64 * 1024 * 1024;

function drop(body: IncomingMessage): void {
  let left = maxDropped;
  body.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) body.destroy();
  });
  body.resume();
}
