-- Pushes in parts, for organizations that are too large for one request.
alter table accounts add column largest_push integer not null default 20000 check (largest_push between 20000 and 1000000);
comment on column accounts.largest_push is
  'How many changes of each kind a push in parts can be allowed to make. Only the operator raises it.';

create table pushes (
  account_id    integer     not null references accounts,
  push_id       uuid        not null,
  opened_at     timestamptz not null default now(),
  last_used_at  timestamptz not null default now(),
  run_id        uuid,
  report        json,
  primary key (account_id)
);
comment on table pushes is 'The push in parts of an account: open, or applied within the last day. A new one replaces an applied one.';
comment on column pushes.run_id is 'The run of the last commit.';
comment on column pushes.report is 'What the last commit reports: plan, summary, warnings, errors. Null while it runs, and if it was interrupted.';

create table push_parts (
  account_id  integer not null,
  part        integer not null,
  users       integer,
  groups      integer,
  bytes       integer not null,
  content     bytea   not null,
  primary key (account_id, part),
  foreign key (account_id) references pushes on delete cascade
);
alter table push_parts alter column content set storage external;
comment on table push_parts is 'The parts of a push that were received. Deleted when the push is applied or deleted, a day after the last request, and a week after it was opened.';
comment on column push_parts.users is 'How many users the part lists. Null: it has no list of users.';
comment on column push_parts.bytes is 'The size of the part as JSON.';
comment on column push_parts.content is 'The lists as JSON, compressed with Zstandard.';
