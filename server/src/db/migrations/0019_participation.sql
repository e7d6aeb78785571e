-- The number of people who have answered is counted once a day, in coarse steps, and only among people who have been active for a
-- week (privacy.md P18).

alter table users add column active_since timestamptz not null default now();
update users set active_since = created_at;
comment on column users.active_since is 'Since when the person has been active without a break.';

create function note_activation() returns trigger language plpgsql as $$
begin
  new.active_since := now();
  return new;
end $$;
comment on function note_activation is 'Whoever becomes active is active from then on.';
create trigger users_become_active before update of active on users
  for each row when (new.active and not old.active) execute function note_activation();

alter table weeks add column participation integer;
alter table weeks add column participation_on date;
comment on column weeks.participation is
  'At least this many have answered, as of participation_on, in steps. Null: too few are asked, or it has not been counted yet.';
comment on column weeks.participation_on is 'The day, in the account''s time zone, on which it was counted last.';

alter table weeks add column participation_at timestamptz;
comment on column weeks.participation_at is 'When it was counted last: a day by the clock of one time zone is none by another''s.';
