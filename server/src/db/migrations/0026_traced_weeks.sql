alter table week_keys add column in_database boolean not null default false;
comment on column week_keys.in_database is
  'What unwraps the key was in the database while the week was open: until its log and older backups are gone, they tell who answered what.';
update week_keys k
set    in_database = true
from   answer_keys a
where  a.secret is not null or a.in_database_until > k.week;
