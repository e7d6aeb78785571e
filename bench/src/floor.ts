// The least that any service must do to find that a push changes nothing, as a process of its own: a bare Fastify route
// that takes the same bytes, reads them by JSON.parse, and reads the rows that they must be compared with. It compares
// and checks nothing, asks for no token, and keeps no run.
// Arguments: the address of the database. It sends its own address when it listens, and ends with whoever started it.
import { inTransaction, openPool } from '@soundings/server/src/db/db.ts';
import fastify from 'fastify';

const pool = openPool(process.argv[2] ?? '', 4);
const app = fastify({ bodyLimit: 64 * 1024 * 1024 });
app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
  done(null, JSON.parse(body as string));
});
app.post<{ Params: { account: string } }>('/:account', async (request) => {
  const account = Number(request.params.account);
  const rows = await inTransaction(pool, async (tx) => [
    await tx`
      select group_id, external_id, managed, name, description, parent_id from groups where account_id = ${account}`,
    await tx`
      select user_id, external_id, managed, first_name, last_name, email, phone, active, timezone, language, role,
             attributes
      from   users
      where  account_id = ${account}`,
    await tx`select user_id, kind, group_id from memberships where account_id = ${account}`,
  ]);
  return { read: rows.map(({ length }) => length) };
});
process.once('disconnect', () => process.exit());
process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
