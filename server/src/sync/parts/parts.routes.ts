// The routes of pushes in parts: /v1/organization/pushes.
import { maxPartBytes, maxPartNumber } from '@soundings/contract/limits.ts';
import { partedPush, type Push } from '@soundings/contract/people/push-parts.ts';
import { Fault, invalidParameter } from '../../base/errors.ts';
import { parseJson } from '../../base/json/json.ts';
import type { Log } from '../../base/log.ts';
import { quote } from '../../base/text.ts';
import { type AccountId, asFault, type Pool } from '../../db/db.ts';
import type { RequestContext } from '../../http/operations.ts';
import type { Server } from '../../http/server.ts';
import type { Pushes } from '../pushes.ts';
import { updateFailed } from '../runs.sql.ts';
import {
  beginCommit,
  deletePush,
  openPush,
  pushNotFound,
  readPush,
  readPushChanges,
  refuseUsedPush,
} from './parts.ts';

type Dependencies = { pool: Promise<Pool>; pushes: Promise<Pushes>; log: Log };

export function servePushParts(server: Server, dependencies: Dependencies): void {
  const { pool, pushes } = dependencies;
  server.serve(partedPush.open, async ({ caller, request, reply }) => {
    const push = await openPush(await pool, caller.accountId, request.id);
    reply.code(201);
    return push;
  });
  server.serve(partedPush.read, async (context) =>
    readPush(await pool, context.caller.accountId, idOf(context)),
  );
  server.serve(partedPush.put, async (context) => store(await pool, await pushes, context), {
    bodyLimit: maxPartBytes,
    encodings: ['gzip'],
  });
  server.serve(partedPush.commit, async (context) => commit(await pool, dependencies, context));
  server.serve(partedPush.remove, async (context) => {
    await deletePush(await pool, context.caller.accountId, idOf(context));
    context.reply.code(204);
    return undefined;
  });
  server.serve(partedPush.changes, async (context) => {
    const after = wholeNumber('after', context.query['after'] ?? '0', 0, 2 ** 31 - 1);
    return readPushChanges(await pool, context.caller.accountId, { id: idOf(context), from: after });
  });
}

const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the ID of the push. Throws a Fault (not_found) if no push can have it. */
function idOf({ params }: RequestContext): string {
  const id = params['pushId'] as string;
  if (!isId.test(id)) throw pushNotFound(quote(id));
  return id;
}

function wholeNumber(name: string, text: string, first: number, last: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
  if (value >= first && value <= last) return value;
  throw invalidParameter(name, `"${name}" must be a whole number from ${first} to ${last}.`);
}

async function store(pool: Pool, pushes: Pushes, context: RequestContext): Promise<Buffer> {
  const { caller, body, request, reply, params } = context;
  const pushId = idOf(context);
  const part = wholeNumber('part', params['part'] as string, 1, maxPartNumber);
  await refuseUsedPush(pool, caller.accountId, pushId);
  const sent = {
    run: runOf(context),
    bytes: body ?? new Uint8Array(),
    gzip: request.headers['content-encoding'] !== undefined,
    partOf: { pushId, part },
  };
  const receipt = await pushes.push(caller.accountId, sent, never);
  reply.header('content-type', 'application/json; charset=utf-8');
  return Buffer.from(receipt.buffer, receipt.byteOffset, receipt.byteLength);
}

const runOf = ({ caller: { tokenId }, request: { id, address } }: RequestContext) =>
  ({ id, source: 'api', tokenId, address, file: null }) as const;

/** A part is stored and a commit goes on although the client disconnects: both can be looked up. */
const never = new AbortController().signal;

/** Begins a commit and lets it run on a thread. Its result is in the state of the push. */
async function commit(pool: Pool, { pushes, log }: Dependencies, context: RequestContext): Promise<Push> {
  const { accountId } = context.caller;
  const [id, run] = [idOf(context), runOf(context)];
  const parsed = parseJson(context.body ?? new Uint8Array());
  if ('fault' in parsed)
    throw new Fault('invalid', parsed.fault.type, parsed.fault.message, { details: [parsed.fault] });
  const begun = await beginCommit(pool, accountId, { id, run, body: parsed.value });
  const push = await readPush(pool, accountId, id);
  void runCommit(pool, await pushes, { accountId, run, begun }).catch((error: unknown) =>
    log.error({ err: error, requestId: run.id }, 'The commit of a push in parts failed'),
  );
  context.reply.code(202);
  return push;
}

async function runCommit(
  pool: Pool,
  pushes: Pushes,
  { accountId, run, begun }: { accountId: AccountId; run: ReturnType<typeof runOf>; begun: object },
): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(begun));
  try {
    await pushes.push(accountId, { run, bytes, gzip: false, partOf: 'commit' }, never);
  } catch (thrown) {
    const error = asFault(thrown);
    const message = error instanceof Fault ? error.message : null;
    await updateFailed(pool, accountId, run.id, message).catch(() => {}); // if this fails, `updateLostRuns` marks the run
    throw error;
  }
}
