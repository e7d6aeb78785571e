-- The result of an applied push in parts can be read as long as its run is kept, although the account has another push by then.
alter table runs add column push_id uuid;
update runs r
set    push_id = p.push_id
from   pushes p
where  p.account_id = r.account_id and p.run_id = r.run_id;
create index runs_by_push on runs (account_id, push_id) where push_id is not null;
comment on column runs.push_id is 'The push in parts that the run has committed. Null: the run is a whole request or a file.';
