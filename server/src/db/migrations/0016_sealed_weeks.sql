-- breaking
-- The answers that people give in open weeks are sealed with a key. This key is never stored in the database in a form
-- with which the answers could be opened later (privacy.md P12, P15; decisions/0016). The service itself seals the answers of weeks
-- that are open now, right before migration 0020 drops the unsealed ones (answers/seal-open-weeks.ts).

create table answer_keys (
  only_one           boolean      primary key default true check (only_one),
  chain              bytea        not null,
  epoch              integer      not null,
  is_spent           boolean      not null default false,
  secret             bytea,
  exported_at        timestamptz,
  exported_until     timestamptz,
  in_database_until  timestamptz,
  tried              integer      not null default 0
);
comment on table answer_keys is
  'Which epoch key wraps the keys of open weeks. The key itself is in a file outside the database. One row, of no account.';
comment on column answer_keys.chain is 'The name of the chain of epoch keys: random.';
comment on column answer_keys.epoch is 'Moves forward after each closing: the keys of open weeks are then wrapped by the next epoch key.';
comment on column answer_keys.is_spent is 'A week has closed in this epoch: it is to end.';
comment on column answer_keys.secret is 'The epoch key, with ANSWER_KEYS=database alone.';
comment on column answer_keys.exported_at is
  'When a key was exported last: anyone who has it can compute all later ones of its chain. Null: never.';
comment on column answer_keys.exported_until is
  'When the last chain ended of which a key had been exported: later keys can''t be computed from it. Null: none has ended.';
comment on column answer_keys.tried is
  'The latest epoch that was tried. Keys wrapped by its key may have been written, also if it never began.';
comment on column answer_keys.in_database_until is
  'When the secret left the database last: its log and backups of that time have it. Null: it never did.';

create table key_processes (
  name     text        primary key,
  epoch    integer     not null,
  seen_at  timestamptz not null
);
comment on table key_processes is
  'Which processes keep a copy of the epoch key, and of which epoch: one that is behind keeps what the others have erased. Until "soundings keys forget". Of no account.';

create table week_keys (
  account_id  integer not null,
  week        date    not null,
  wrapped     bytea   not null,
  primary key (account_id, week),
  foreign key (account_id, week) references weeks
);
comment on table week_keys is 'The keys of open weeks, wrapped by the epoch key. Deleted at closing.';

alter table weeks add column is_lost boolean not null default false;
comment on column weeks.is_lost is 'It closed without results, because its key was lost.';

create table unsealed_answers as select * from answers;
drop table answers;
create table unsealed_assignments as select * from assignments;
drop table assignments;

create table assignments (
  account_id  integer   not null,
  week        date      not null,
  respondent  uuid      not null,
  round_id    integer   not null,
  group_ids   integer[] not null,
  primary key (account_id, week, respondent, round_id)
);
comment on table assignments is 'Who is asked by a round of an open week. Deleted at closing.';
comment on column assignments.respondent is
  'The number of a person in this week: made of the week''s key and the internal id of the user.';
comment on column assignments.group_ids is
  'The groups in which the person''s answers count: the person''s own within the asked group, and all above those.';

create table answers (
  account_id  integer  not null,
  week        date     not null,
  respondent  uuid     not null,
  part        integer  not null default 0,
  sealed      bytea    not null,
  primary key (account_id, week, respondent, part)
);
alter table answers alter column sealed set storage external;
comment on table answers is
  'What people answer in open weeks, sealed by the key of the week: no person, no time, no order. Deleted at closing.';
comment on column answers.part is '0: given by a link. Others come from a history file.';
comment on column answers.sealed is 'All that the person has answered, padded to one of a few lengths.';

alter table links add column sent_to text;
alter table links add column handed_by integer;
update links l set sent_to = u.email
from   users u
where  u.account_id = l.account_id and u.user_id = l.user_id and not l.is_exported;
comment on column links.sent_to is 'The e-mail address it was sent to. Null: handed out.';
comment on column links.is_exported is 'The employer has handed it out: it was not sent by Soundings.';
comment on column links.handed_by is 'The user who handed it out. Null: the soundings command, or it was sent.';
