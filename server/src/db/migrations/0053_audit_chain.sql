-- Chains the entries of the audit log, so that a changed, removed or reordered entry shows, and lets API tokens read the log.
alter table tokens drop constraint tokens_scopes_check;
alter table tokens add constraint tokens_scopes_check
  check (scopes <@ '{data,organization,files,audit}' and scopes <> '{}');

alter table audit_entries add column position bigint;
alter table audit_entries add column hash     bytea;
create unique index audit_entries_in_order on audit_entries (account_id, position);
create index audit_entries_to_chain on audit_entries (account_id, entry_id) where position is null;
create index audit_entries_of_backups on audit_entries (at) where action = 'backup created';
comment on table audit_entries is
  'The audit log: who did what, when and from where. Entries are never changed or removed. Each gets its position and hash once, soon after it was committed.';
comment on column audit_entries.position is
  'The position in the chain of the account: 1, 2, 3 and so on, in the order in which entries were found committed. Null: not chained yet.';
comment on column audit_entries.hash is
  'SHA-256 over the hash of the entry before it and the content of this one. The format is in docs/integrators/audit.md.';

create table audit_heads (
  account_id  integer primary key,
  position    bigint  not null default 0,
  hash        bytea   not null default '\x0000000000000000000000000000000000000000000000000000000000000000'
);
comment on table audit_heads is
  'The last chained entry of each account. Locked while entries are chained. Has no foreign key, because its check would wait for imports, which lock the account.';
insert into audit_heads (account_id) select account_id from accounts;

create table audit_syslog_cursors (
  account_id  integer primary key,
  position    bigint  not null default 0
);
comment on table audit_syslog_cursors is
  'The last entry of each account that the syslog server has received. Locked while entries are sent. Has no foreign key, as audit_heads.';

create function refuse_rewriting() returns trigger language plpgsql as $$
begin
  if old.position is null and new.position is not null and new.hash is not null
     and to_jsonb(old) - '{position,hash}'::text[] = to_jsonb(new) - '{position,hash}'::text[] then
    return new;
  end if;
  raise exception 'Entries of the audit log are never changed or removed.';
end $$;
comment on function refuse_rewriting is 'Lets an entry of the audit log be chained once, and nothing else.';
drop trigger audit_entries_are_kept on audit_entries;
create trigger audit_entries_are_kept before delete or truncate on audit_entries
  for each statement execute function refuse_change();
create trigger audit_entries_are_chained_once before update on audit_entries
  for each row execute function refuse_rewriting();
