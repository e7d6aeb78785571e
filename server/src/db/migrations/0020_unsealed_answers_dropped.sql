-- breaking
-- The answers of weeks that were open before migration 0016 have been sealed by now. Their unsealed form is removed from
-- the disk.

do $$
begin
  if exists (select from unsealed_answers) or exists (select from unsealed_assignments) then
    raise exception 'Answers of open weeks have not been sealed. Start the service or run "npx soundings migrate".';
  end if;
end $$;

drop table unsealed_answers;
drop table unsealed_assignments;
alter table weeks drop column respondent_key;
drop function respondent_of;
drop function person_of;
