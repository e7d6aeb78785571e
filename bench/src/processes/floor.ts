// The floor of a push, as a separate process: parses the body with JSON.parse and reads the rows that it must be compared
// with. Receiving, comparing, validating and storing are not counted.
// Argument: the database URL. It sends its own address when it listens, and ends with its parent process.
import { inTransaction, openPool } from '@soundings/server/src/db/db.ts';
import fastify from 'fastify';
import { timed } from '../measuring/measure.ts';

const pool = openPool(process.argv[2] ?? '', 4);
const app = fastify({ bodyLimit: 64 * 1024 * 1024 });
app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
  done(null, body);
});
app.post<{ Params: { account: string }; Body: string }>('/:account', async ({ params, body }) => {
  const [parsing] = await timed(() => JSON.parse(body) as unknown);
  const [reading] = await timed(() => readRows(Number(params.account)));
  return { ms: parsing + reading };
});
process.once('disconnect', () => process.exit());
process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));

async function readRows(account: number) {
  return inTransaction(pool, async (tx) => [
    await tx`
      select group_id, external_id, managed, name, description, parent_id from groups where account_id = ${account}`,
    await tx`
      select user_id, external_id, managed, first_name, last_name, email, phone, active, timezone, language, role,
             attributes
      from   users
      where  account_id = ${account}`,
    await tx`select user_id, kind, group_id from memberships where account_id = ${account}`,
  ]);
}
