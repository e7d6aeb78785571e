// The role of Soundings in its embedded PostgreSQL. initdb creates this role as the superuser, which can run programs and read
// files of the machine through SQL. Soundings doesn't need that, so the role is replaced by an ordinary role with the same name and
// password.
import type postgres from 'postgres';

const lock = 5_017_302; // any number other than that of migrate.ts
const superuser = 'soundings_superuser';

/**
 * If the role of a session is the superuser, replaces it with an ordinary role. The superuser gets another name and no password, so
 * that no one can sign in as it, and the new role becomes the owner of everything in this database. Runs in one transaction.
 * Returns whether it changed anything. If it did, the caller must connect again. `superuserPassword`: for tests.
 */
export async function dropSuperuser(sql: postgres.Sql, superuserPassword?: string): Promise<boolean> {
  const [before] = await sql<{ isSuperuser: boolean }[]>`
    select rolsuper as "isSuperuser" from pg_roles where rolname = session_user`;
  if (!before?.isSuperuser) return false;
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${lock})`;
    // If several processes start at the same time, only one of them does this. By then, the sessions of the other processes have
    // the new name of the superuser.
    const [own] = await tx<{ name: string; database: string; verifier: string }[]>`
      select rolname as "name", current_database() as "database", rolpassword as "verifier"
      from   pg_authid
      where  rolname = session_user and rolname <> ${superuser}`;
    if (!own) return;
    const role = `"${own.name}"`;
    // A session can't rename its own role.
    await tx.unsafe(`
      create role soundings_mover superuser;
      set local session authorization soundings_mover;
      alter role ${role} rename to ${superuser};
      alter role ${superuser} password ${superuserPassword === undefined ? 'null' : `'${superuserPassword}'`};
      create role ${role} login password '${own.verifier}';
      -- To see the connections of others, and to recycle PostgreSQL's log (docs/operators/operations.md).
      grant pg_monitor, pg_checkpoint to ${role};
      grant execute on function pg_switch_wal() to ${role};
      alter database "${own.database}" owner to ${role};`);
    const objects = await tx<{ statement: string }[]>`
      select format('alter schema %I owner to ', nspname) as statement
      from   pg_namespace where nspowner = ${superuser}::regrole and oid >= 16384
      union all
      -- Sequences that belong to a column follow their table.
      select format('alter %s %s owner to ', case relkind when 'c' then 'type' else 'table' end, c.oid::regclass)
      from   pg_class c
      where  relowner = ${superuser}::regrole and c.oid >= 16384 and relnamespace <> 'pg_toast'::regnamespace
        and  (relkind in ('r', 'p', 'v', 'm', 'f', 'c') or relkind = 'S' and not exists (
               select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')))
      union all
      select format('alter routine %s owner to ', oid::regprocedure)
      from   pg_proc where proowner = ${superuser}::regrole and oid >= 16384
      union all
      -- Row types follow their table, and array types their element type.
      select format('alter type %s owner to ', oid::regtype)
      from   pg_type where typowner = ${superuser}::regrole and oid >= 16384 and typtype in ('d', 'e', 'r')`;
    for (const { statement } of objects) {
      await tx.unsafe(`${statement}${role}`);
    }
    await tx.unsafe(`set local session authorization default; drop role soundings_mover;`);
  });
  return true;
}
