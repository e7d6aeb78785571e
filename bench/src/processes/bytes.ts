// The floor of a read, as a separate process: a bare Fastify server that identifies the caller by the token, as the service
// does, and sends the service's response from memory.
// Arguments: the database URL and the address of the service. It sends its own address when it listens.
import { callerOf } from '@soundings/server/src/accounts/callers.ts';
import { openPool } from '@soundings/server/src/db/db.ts';
import fastify from 'fastify';

type Kept = { url: string; type: string; bytes: Buffer };

const [databaseUrl = '', service = ''] = process.argv.slice(2);
const pool = openPool(databaseUrl, 10);
/** The response of the latest address only. All responses together would take gigabytes. */
let kept: { url: string; response: Promise<Kept> } | undefined;

const app = fastify();
app.addHook('onRequest', async ({ headers }) => {
  await callerOf(pool, headers.authorization, 'data');
});
app.get('/*', async ({ url, headers }, reply) => {
  if (kept?.url !== url) kept = { url, response: fetchOnce(url, headers.authorization ?? '') };
  const { type, bytes } = await kept.response;
  return reply.header('content-type', type).send(bytes);
});
process.once('disconnect', () => process.exit());
process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));

async function fetchOnce(url: string, authorization: string): Promise<Kept> {
  const response = await fetch(service + url, { headers: { authorization, 'accept-encoding': 'identity' } });
  const type = response.headers.get('content-type') ?? '';
  return { url, type, bytes: Buffer.from(await response.arrayBuffer()) };
}
