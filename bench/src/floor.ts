// The least that any service must do to find out what a push changes, as a process of its own: to read the body by
// JSON.parse, and the rows that it must be compared with. Neither receiving the bytes nor comparing, checking or keeping
// anything is counted.
// Arguments: the address of the database. It sends its own address when it listens, and ends with whoever started it.
import { inTransaction, openPool } from '@soundings/server/src/db/db.ts';
import fastify from 'fastify';
import { timed } from './measure.ts';

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
