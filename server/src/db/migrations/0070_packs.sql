-- What is read of many groups, compressed, so that PostgreSQL, the connection to it and the driver handle fewer bytes.
create table packs (
  account_id   integer  not null,
  kind         smallint not null,
  kpi_id       text     not null,
  question_id  integer  not null,
  block        integer  not null,
  week         date     not null,
  pack         text     not null check (pack <> ''),
  primary key (account_id, kind, kpi_id, question_id, block, week)
);
alter table packs alter column pack set storage external;
alter table packs set (toast_tuple_target = 8160);
create index on packs (account_id, block);
comment on table packs is
  'The figures of closed weeks as compressed JSON, ready to be sent for many groups. Derived from asked, kpi_values, response_rates and results.';
comment on column packs.kind is 'As in fragments.';
comment on column packs.kpi_id is 'Empty except for KPI values.';
comment on column packs.question_id is '0 except for results.';
comment on column packs.block is 'The 256 groups and segments whose ids divided by 256 are this number.';
comment on column packs.pack is 'A checksum, and the JSON of the figure of each group (results/fragments/packs.ts).';

create table pack_weeks (
  account_id  integer not null,
  week        date    not null,
  primary key (account_id, week)
);
comment on table pack_weeks is 'The closed weeks whose figures are complete in packs, except for blocks whose packs were deleted.';

create table pack_blocks (
  account_id  integer   not null,
  block       integer   not null,
  group_ids   integer[] not null,
  removals    integer   not null default 0,
  built       integer   not null default 0,
  primary key (account_id, block)
);
comment on table pack_blocks is 'The blocks that have packs.';
comment on column pack_blocks.group_ids is 'The groups and segments with figures in these packs.';
comment on column pack_blocks.removals is 'How often the packs were deleted, because a group was deleted or they were damaged.';
comment on column pack_blocks.built is 'The removals after which the packs were created. If there were more since, they are not complete.';
