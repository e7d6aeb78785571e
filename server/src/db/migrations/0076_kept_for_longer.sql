-- What an open week asks stays until the week closes, even if its schedule is removed: counting who has answered, and reminders, need it.
alter table schedule_weeks drop constraint schedule_weeks_account_id_schedule_id_fkey;
alter table schedule_weeks add foreign key (account_id) references accounts;
comment on table schedule_weeks is
  'The weeks in which a schedule was due, and the outcome. Each week is opened only once. If the schedule is removed, those that it has opened and that are still open stay until they close.';

-- The result of an applied push in parts can be read as long as its run is kept, even if the account has another push by then.
alter table runs add column push_id uuid;
update runs r
set    push_id = p.push_id
from   pushes p
where  p.account_id = r.account_id and p.run_id = r.run_id;
comment on column runs.push_id is 'The push in parts that the run has committed. Null: the run is a whole request or a file.';
create index runs_by_push on runs (account_id, push_id) where push_id is not null;
