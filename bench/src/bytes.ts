// The least that any service must do to answer a read, as a process of its own: a bare Fastify that finds out by the token
// who asks, as the service does, and sends the bytes that the service has sent, from memory.
// Arguments: the addresses of the database and of the service. It sends its own address when it listens.
import { callerOf } from '@soundings/server/src/accounts/callers.ts';
import { openPool } from '@soundings/server/src/db/db.ts';
import fastify from 'fastify';

type Kept = { url: string; type: string; bytes: Buffer };

const [databaseUrl = '', service = ''] = process.argv.slice(2);
const pool = openPool(databaseUrl, 10);
/** Of the address that was asked for last: of all together there would be gigabytes. */
let kept: { url: string; answer: Promise<Kept> } | undefined;

const app = fastify();
app.addHook('onRequest', async ({ headers }) => {
  await callerOf(pool, headers.authorization, 'data');
});
app.get('/*', async ({ url, headers }, reply) => {
  if (kept?.url !== url) kept = { url, answer: fetchOnce(url, headers.authorization ?? '') };
  const { type, bytes } = await kept.answer;
  return reply.header('content-type', type).send(bytes);
});
process.once('disconnect', () => process.exit());
process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));

async function fetchOnce(url: string, authorization: string): Promise<Kept> {
  const answer = await fetch(service + url, { headers: { authorization, 'accept-encoding': 'identity' } });
  const type = answer.headers.get('content-type') ?? '';
  return { url, type, bytes: Buffer.from(await answer.arrayBuffer()) };
}
