// The route of the organization interface: POST /v1/organization/organization, also available at /v1/organization.
import { maxOrganizationBodyBytes } from '@soundings/contract/limits.ts';
import { postOrganization, postOrganizationShort } from '@soundings/contract/organization.ts';
import { goneWith } from '../http/concurrency.ts';
import type { RequestContext } from '../http/operations.ts';
import type { Server } from '../http/server.ts';
import type { Pushes } from './pushes.ts';

export function serveOrganization(server: Server, pushes: Promise<Pushes>): void {
  for (const operation of [postOrganization, postOrganizationShort]) {
    server.serve(operation, async (context) => push(context, await pushes), {
      bodyLimit: maxOrganizationBodyBytes,
      encodings: ['gzip'],
    });
  }
}

async function push({ caller, body, request, reply }: RequestContext, pushes: Pushes): Promise<Buffer> {
  const { tokenId } = caller;
  const run = { id: request.id, source: 'api' as const, tokenId, address: request.address, file: null };
  const gzip = request.headers['content-encoding'] !== undefined;
  const sent = { run, bytes: body ?? new Uint8Array(), gzip };
  const report = await pushes.push(caller.accountId, sent, goneWith(reply));
  reply.header('content-type', 'application/json; charset=utf-8');
  return Buffer.from(report.buffer, report.byteOffset, report.byteLength);
}
