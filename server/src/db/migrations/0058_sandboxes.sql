-- Sandboxes: accounts with a demo company in which administrators try the interfaces.
alter table accounts add column kind text not null default 'company' check (kind in ('company', 'sandbox', 'template'));
alter table accounts add column ended_at timestamptz check (ended_at is null or kind <> 'company');
comment on column accounts.kind is
  'company: an ordinary account. sandbox: demo data of one administrator, which sends no messages and lets no one sign in. template: what sandboxes are copied from. Never changed.';
comment on column accounts.ended_at is
  'When a sandbox was reset, deleted or replaced. Its rows are deleted a minute later. Null: it is in use, or the account is a company.';
create index accounts_besides_companies on accounts (account_id) where kind <> 'company';

create function refuse_kind() returns trigger language plpgsql as $$
begin
  raise exception 'The kind of an account is never changed.';
end $$;
comment on function refuse_kind is 'Keeps companies from becoming sandboxes, whose rows can be deleted.';
create trigger accounts_keep_kind before update of kind on accounts
  for each row when (new.kind is distinct from old.kind) execute function refuse_kind();

create table sandboxes (
  account_id    integer     not null,
  user_id       integer     not null,
  sandbox_id    integer,
  state         text        not null default 'creating' check (state in ('creating', 'ready', 'resetting')),
  token_hash    bytea       not null,
  scopes        text[]      not null check (scopes <> '{}'),
  created_at    timestamptz not null default now(),
  requested_at  timestamptz not null default clock_timestamp(),
  reset_at      timestamptz,
  ready_at      timestamptz,
  bytes         bigint,
  measured_at   timestamptz,
  failures      smallint    not null default 0,
  failure       text,
  retry_at      timestamptz,
  primary key (account_id, user_id),
  foreign key (account_id, user_id) references users on delete cascade,
  check ((state = 'creating') = (sandbox_id is null))
);
create unique index sandboxes_by_sandbox on sandboxes (sandbox_id, account_id) where sandbox_id is not null;
comment on table sandboxes is
  'The sandbox of each administrator. Without a row here, no token of a sandbox account works, and the account is deleted.';
comment on column sandboxes.sandbox_id is
  'The account with the data of the sandbox. A reset replaces it by another one. Null: it is still being created.';
comment on column sandboxes.token_hash is 'SHA-256 of its token, which the account gets as soon as it is there.';
comment on column sandboxes.scopes is 'The scopes of its token.';
comment on column sandboxes.requested_at is 'When it was last requested or reset. The oldest request is next.';
comment on column sandboxes.bytes is 'The size of its data when it was last measured. Null: not measured since it is ready.';
comment on column sandboxes.failures is 'How many attempts to create or reset it have failed since the last success.';
comment on column sandboxes.failure is 'Why the last attempt failed. Null: it did not.';
comment on column sandboxes.retry_at is 'When the next attempt is due. Null: at once.';

create table sandbox_templates (
  account_id  integer     primary key references accounts,
  program     text        not null,
  weeks       smallint    not null,
  weeks_done  smallint    not null default 0,
  ready_at    timestamptz
);
comment on table sandbox_templates is
  'The account that sandboxes are copied from. It is created when the first sandbox is requested, and again after an update of the program.';
comment on column sandbox_templates.program is 'The version of the program that created it.';
comment on column sandbox_templates.weeks_done is 'How many of its weeks have been simulated.';
comment on column sandbox_templates.ready_at is 'When it was finished. Null: it can''t be copied yet.';

-- The audit log of a sandbox is deleted with it. Those of companies are kept.
create function refuse_removal() returns trigger language plpgsql as $$
begin
  if exists (select from accounts where account_id = old.account_id and ended_at is not null) then
    return old;
  end if;
  raise exception 'Entries of the audit log are never changed or removed.';
end $$;
comment on function refuse_removal is 'Lets only entries of ended sandboxes be removed.';
drop trigger audit_entries_are_kept on audit_entries;
create trigger audit_entries_are_kept before delete on audit_entries
  for each row execute function refuse_removal();
create trigger audit_entries_are_not_truncated before truncate on audit_entries
  for each statement execute function refuse_change();
