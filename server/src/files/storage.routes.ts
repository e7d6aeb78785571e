// The routes of the upload interface over HTTPS: upload, list and report of files.
import { type FileReport, getFileReport, listFiles, uploadFile } from '@soundings/contract/storage.ts';
import { Fault, uploadRefusal } from '../base/errors.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { filesIn, maxFormBytes } from '../http/multipart.ts';
import type { RequestContext } from '../http/operations.ts';
import type { Server } from '../http/server.ts';
import { selectChanges, selectReportByName } from './files.sql.ts';
import { fileNameOf } from '../sheets/file-names.ts';
import { selectFiles } from './store.sql.ts';
import { fileNotFound, openUpload, type Receiving, recordRefusal, tooLarge, type Upload } from './store.ts';

export function serveStorage(server: Server, pool: Promise<Pool>): void {
  server.serve(
    uploadFile,
    async (context) => {
      const name = await receive(await pool, context);
      context.reply.header('content-type', 'text/plain; charset=utf-8');
      return name;
    },
    { bodyLimit: maxFormBytes },
  );

  server.serve(listFiles, async ({ caller }) =>
    (await selectFiles(await pool, caller.accountId)).map(({ name }) => name),
  );

  refuseDownloads(server);

  server.serve(getFileReport, async ({ caller, params }) =>
    reportOf(await pool, caller.accountId, (params['name'] as string).normalize('NFC')),
  );
}

/** Refuses requests to the address of a file before reading their bodies. Integrators look for downloads there. */
function refuseDownloads({ app }: Server): void {
  const message =
    'Files can be uploaded and listed, but not downloaded, changed or deleted. ' +
    'To get the report of a file, use GET /v1/storage/files/{name}/report.';
  app.all('/v1/storage/files/:name', {
    config: { face: 'upload' },
    onRequest: async () => {
      throw new Fault('not_found', 'not downloadable', message);
    },
    handler: async () => {},
  });
}

/** Stores the file of a request, and returns its stored name. Refused or interrupted uploads leave nothing behind. */
async function receive(pool: Pool, { caller, request }: RequestContext): Promise<string> {
  if (Number(request.headers['content-length']) > maxFormBytes) throw tooLarge();
  const { accountId, tokenId } = caller;
  const receiving: Receiving = { accountId, via: 'https', tokenId, address: request.address };
  let [upload, name, sent]: [Upload?, string?, string?] = [];
  try {
    for await (const file of filesIn(request.raw)) {
      if (upload) throw uploadRefusal('The form contains more than one file. Send one file per request.');
      sent = file.name;
      name = fileNameOf(sent);
      upload = await openUpload(pool, receiving, name);
      for await (const bytes of file.content) await upload.write(upload.size, bytes);
    }
    if (!upload || !name) throw uploadRefusal('The form contains no file. Send a part with a file name.');
    await upload.finish(name);
    return name;
  } catch (error) {
    await upload?.abort().catch(() => {}); // Otherwise it is deleted with other unfinished uploads.
    if (sent !== undefined) await recordRefusal(pool, receiving, sent, error);
    throw error;
  }
}

async function reportOf(pool: Pool, accountId: AccountId, name: string): Promise<FileReport> {
  const found = await selectReportByName(pool, accountId, name);
  if (!found) throw fileNotFound(name);
  const { report, runId, arrivedAt, place } = found;
  if (!report) {
    const common = { file: name, receivedAt: arrivedAt.toISOString(), details: [], warnings: [] };
    if (place === null) return { ...common, outcome: 'processing', message: 'The file is being processed.' };
    const message = `The file is waiting to be processed. It is number ${place} in the queue.`;
    return { ...common, outcome: 'waiting', place, message };
  }
  if (runId === null || !report.summary) return report;
  return { ...report, changes: await selectChanges(pool, accountId, runId) };
}
