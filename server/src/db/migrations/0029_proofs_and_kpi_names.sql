-- Dangerous acts in the console ask for the password again. Sessions from before have given none lately.
alter table sessions add column proved_at timestamptz;
alter table sessions alter column proved_at set default now();
comment on column sessions.proved_at is
  'When its person last gave the password in it: at the beginning, and again before a dangerous act. Null: before this was noted.';
