// The floor of submitting answers over HTTP, as a separate process: a bare Fastify server that inserts the answer of each request plainly,
// without links, checks or encryption.
// Argument: the database URL. It sends its own address when it listens, and replies to each message with its processor time so far, in
// milliseconds.
import { openPool } from '@soundings/server/src/db/db.ts';
import fastify from 'fastify';
import { insertPlainly } from '../measuring/plain-answers.ts';

/** As many connections as the service has for requests. */
const pool = openPool(process.argv[2] ?? '', 10);
let next = 1_000_000_000; // other rows than those of the floor without HTTP

const app = fastify();
app.post('/a/:link/answers', async (_request, reply) => reply.code(await insertPlainly(pool, next++)).send());
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.((user + system) / 1000);
});
process.once('disconnect', () => process.exit());
process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
