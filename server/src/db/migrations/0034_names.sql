-- breaking: tables and columns get the names that the product uses.
alter table held_runs rename to pending_runs;
alter table reminder_stops rename to reminder_opt_outs;
alter table stop_keys rename to opt_out_keys;
alter table second_steps rename to two_factor;
alter table first_links rename to first_start_links;
alter table accounts rename column spread_threshold to distribution_threshold;
alter table weeks rename column spread_threshold to distribution_threshold;
alter table results rename column spread to distribution;
alter table tokens rename column end_told_days to expiry_notified_days;
alter table opt_out_keys rename column made_at to created_at;
alter table sign_in_links rename column made_at to created_at;
alter table two_factor rename column made_at to created_at;
alter table first_start_links rename column made_at to created_at;
alter table sessions rename column made_at to created_at;
do $$
declare
  one record;
begin
  for one in
    select c.conrelid::regclass as place, c.conname as before,
           replace(regexp_replace(replace(replace(c.conname, 'made_at', 'created_at'), 'end_told_days', 'expiry_notified_days'),
                   '^' || n.before, n.after), 'spread', 'distribution') as after
    from   pg_constraint c
    join   (values ('pending_runs', 'held_runs', 'pending_runs'), ('reminder_opt_outs', 'reminder_stops', 'reminder_opt_outs'),
                   ('opt_out_keys', 'stop_keys', 'opt_out_keys'), ('two_factor', 'second_steps', 'two_factor'),
                   ('first_start_links', 'first_links', 'first_start_links'), ('accounts', 'accounts', 'accounts'),
                   ('weeks', 'weeks', 'weeks'), ('results', 'results', 'results'), ('tokens', 'tokens', 'tokens'),
                   ('sign_in_links', 'sign_in_links', 'sign_in_links'), ('sessions', 'sessions', 'sessions')) n(place, before, after)
      on   c.conrelid = n.place::regclass
  loop
    if one.before <> one.after then
      execute format('alter table %s rename constraint %I to %I', one.place, one.before, one.after);
    end if;
  end loop;
end $$;
alter trigger administrators_sign_in_anew on users rename to administrators_sign_in_again;
comment on table secrets_keys is
  'Identifies the key that seals secrets which the service must read again (two_factor, sftp_host_keys, noise_keys). The key itself is in a file outside the database. One row for the whole installation.';
-- Entries of the audit log are never changed. This migration only renames some actions. The record of who did what to whom and when
-- stays.
alter table audit_entries disable trigger audit_entries_are_kept;
update audit_entries a
set    action = n.after
from   (values ('sign-in link made', 'sign-in link created'), ('recovery codes made', 'recovery codes created'),
               ('second step turned on', 'two-factor turned on'), ('second step turned off', 'two-factor turned off'),
               ('run held', 'run pending'), ('week close asked', 'week close requested'), ('file given up', 'file abandoned'),
               ('columns forgotten', 'columns removed'), ('value forgotten', 'value removed'),
               ('key process forgotten', 'key process removed')) n(before, after)
where  a.action = n.before;
alter table audit_entries enable trigger audit_entries_are_kept;
-- The types of errors in stored reports.
update runs set details = replace(details::text, '"made by hand"', '"manually created"')::json where details::text like '%"made by hand"%';
update files set report = replace(report::text, '"made by hand"', '"manually created"')::json where report::text like '%"made by hand"%';
-- Renames emails about such changes that are still waiting to be sent, and recurring jobs that have new names, so that waiting jobs
-- still run.
do $$
begin
  if to_regclass('graphile_worker._private_jobs') is not null then
    update graphile_worker._private_jobs
    set    payload = replace(replace(payload::text, '"second step turned ', '"two-factor turned '),
                             '"recovery codes made"', '"recovery codes created"')::json
    where  payload::text ~ '"(second step turned |recovery codes made")';
    create temporary table renamed_jobs on commit drop as
    select * from (values ('tell ending tokens', 'notify about expiring tokens'), ('forget old runs', 'delete old runs'),
                          ('forget ended sessions', 'delete expired sessions'),
                          ('forget previous addresses', 'delete previous addresses'),
                          ('forget failed sign-ins', 'delete failed sign-ins'), ('forget old files', 'delete old files')) n(before, after);
    update graphile_worker._private_tasks t set identifier = n.after from renamed_jobs n where t.identifier = n.before;
    update graphile_worker._private_known_crontabs c set identifier = n.after from renamed_jobs n where c.identifier = n.before;
  end if;
end $$;
-- Why a schedule missed a week is a code. Earlier versions stored a text, which at first contained the name of the week.
update schedule_weeks w
set    reason = coalesce((
         select n.code
         from   (values
           ('late', 'It was not opened while the week ran: the service did not run, it was paused, or nobody could be written to any more.'),
           ('noQuestion', 'No question was due.'),
           ('noGroup', 'None of its groups is there any more.'),
           ('noPeople', 'There was nobody to ask.'),
           ('closed', 'The week was closed.'),
           ('imported', 'A history file was imported into the week: whoever made it knows answers that would count together with others.'),
           ('lost', 'The key of the week was lost, and with it its answers.'),
           ('sameText', 'Another round of the week asks some of the same people a question with the same words.'),
           ('nearlySame', 'Another round of the week asks the same question, and only a few people are asked by just one of the two.')
         ) n(code, text)
         where  n.text = regexp_replace(w.reason, ' \d{4}-W\d{2}', '')), 'other')
where  w.reason is not null;
alter table schedule_weeks add constraint schedule_weeks_reason_check check (reason in
  ('late', 'noQuestion', 'noGroup', 'noPeople', 'closed', 'imported', 'lost', 'sameText', 'nearlySame', 'other'));
comment on column schedule_weeks.reason is 'Why the week was missed. other: an earlier version stored a text that is no longer known.';
create or replace function refuse_part_without_file() returns trigger language plpgsql as $$
begin
  perform from files where account_id = new.account_id and file_id = new.file_id for key share;
  if not found then
    raise foreign_key_violation using message = 'This file does not exist.';
  end if;
  return null;
end $$;
