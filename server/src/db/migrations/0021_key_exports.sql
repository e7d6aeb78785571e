-- What the privacy report says of copies of the answer key, and the time of day of each count of participation.

alter table answer_keys add column exported_at timestamptz;
alter table answer_keys add column in_database_until timestamptz;
comment on column answer_keys.exported_at is
  'When a key of this chain was exported last: whoever has it can compute all later ones. Null: never.';
comment on column answer_keys.in_database_until is
  'When the secret left the database last: its log and backups of that time have it. Null: it never did.';
comment on table key_processes is
  'Which processes keep a copy of the epoch key, and of which epoch: one that is behind keeps what the others have erased. Until "soundings keys forget". Of no account.';

alter table weeks add column participation_at timestamptz;
comment on column weeks.participation_at is 'When it was counted last: a day by the clock of one time zone is none by another''s.';
