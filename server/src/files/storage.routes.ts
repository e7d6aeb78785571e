// Interface C over HTTPS: reads the wire, hands to the store what comes, writes the wire.
import { type FileReport, getFileReport, listFiles, uploadFile } from '@soundings/contract/storage.ts';
import { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { filesIn, maxFormBytes } from '../http/multipart.ts';
import type { Ask, Server } from '../http/server.ts';
import { selectChanges, selectReportByName } from './files.sql.ts';
import { fileNameOf, refusal } from './names.ts';
import { filesOf, noteRefused, openUpload, type Receiving, tooLarge, type Upload } from './store.ts';

export function serveStorage(server: Server, pool: Promise<Pool>): void {
  server.serve(
    uploadFile,
    async (ask) => {
      const name = await receive(await pool, ask);
      ask.reply.header('content-type', 'text/plain; charset=utf-8');
      return name;
    },
    { bodyLimit: maxFormBytes },
  );

  server.serve(listFiles, async ({ caller }) =>
    (await filesOf(await pool, caller.accountId)).map(({ name }) => name),
  );

  refuseDownloads(server);

  server.serve(getFileReport, async ({ caller, params }) =>
    reportOf(await pool, caller.accountId, (params['name'] as string).normalize('NFC')),
  );
}

/** Refuses requests to the address of a file, before their bodies: it serves nothing, but integrators look for downloads there. */
function refuseDownloads({ app }: Server): void {
  const message =
    'Files cannot be downloaded, changed or deleted, only uploaded and listed. ' +
    'GET /v1/storage/files/{name}/report returns the report of a file.';
  app.all('/v1/storage/files/:name', {
    config: { face: 'upload' },
    onRequest: async () => {
      throw new Fault('not_found', 'not downloadable', message);
    },
    handler: async () => {},
  });
}

/** Takes the file of a request, and returns the name under which it is kept. Whatever is refused or breaks off leaves nothing. */
async function receive(pool: Pool, { caller, request }: Ask): Promise<string> {
  if (Number(request.headers['content-length']) > maxFormBytes) throw tooLarge();
  const { accountId, tokenId } = caller;
  const receiving: Receiving = { accountId, via: 'https', tokenId, address: request.address };
  let [upload, name, sent]: [Upload?, string?, string?] = [];
  try {
    for await (const file of filesIn(request.raw)) {
      if (upload) throw refusal('The form has more than one file. Send one at a time.');
      sent = file.name;
      name = fileNameOf(sent);
      upload = await openUpload(pool, receiving, name);
      for await (const bytes of file.content) await upload.write(upload.size, bytes);
    }
    if (!upload || !name) throw refusal('The form has no file. Send one, in a part with a file name.');
    await upload.finish(name);
    return name;
  } catch (error) {
    await upload?.abort().catch(() => {}); // then it is forgotten with those that were given up
    if (sent !== undefined) await noteRefused(pool, receiving, sent, error);
    throw error;
  }
}

async function reportOf(pool: Pool, accountId: AccountId, name: string): Promise<FileReport> {
  const found = await selectReportByName(pool, accountId, name);
  if (!found) throw new Fault('not_found', 'file not found', `There is no file ${quote(name)}.`);
  const { report, runId, arrivedAt, place } = found;
  if (!report) {
    const told = { file: name, receivedAt: arrivedAt.toISOString(), details: [], warnings: [] };
    if (place === null) return { ...told, outcome: 'processing', message: 'The file is being processed.' };
    const message = `The file waits to be processed. It is number ${place} in the queue.`;
    return { ...told, outcome: 'waiting', place, message };
  }
  if (runId === null || !report.summary) return report;
  return { ...report, changes: await selectChanges(pool, accountId, runId) };
}
