create table runs (
  account_id     integer     not null references accounts,
  run_id         uuid        not null,
  at             timestamptz not null default now(),
  source         text        not null check (source in ('api', 'file')),
  token_id       integer,
  file           text,
  validate_only  boolean     not null,
  outcome        text        not null check (outcome in ('validated', 'applied', 'refused', 'held', 'failed')),
  message        text,
  settings       json,
  summary        json,
  warnings       json,
  details        json,
  primary key (account_id, run_id),
  foreign key (account_id, token_id) references tokens
);
comment on table runs is 'Every organization request and file: who asked, for what, and what came of it.';
comment on column runs.run_id is
  'The id of the request: in its answer, its x-request-id header and the log. UUIDv7, so it sorts by time.';
comment on column runs.outcome is 'failed: it ended without an answer, or has not ended yet; nothing was applied.';
comment on column runs.details is 'The faults of a refused run. Wrong e-mail addresses, phone numbers, time zones, languages and attribute values are not quoted; externalIds and keys are.';

create table run_changes (
  account_id   integer not null,
  run_id       uuid    not null,
  position     integer not null,
  entity       text    not null check (entity in ('user', 'group')),
  external_id  text    not null,
  action       text    not null check (action in ('create', 'update', 'delete')),
  fields       json,
  primary key (account_id, run_id, position),
  foreign key (account_id, run_id) references runs on delete cascade
);
create index run_changes_by_user on run_changes (account_id, external_id)
  where entity = 'user' and fields is not null;
comment on table run_changes is 'What a run changed, or would have changed, in the order of its report.';
comment on column run_changes.fields is
  'The fields of an update, before and after. Erased for a user who is removed.';
