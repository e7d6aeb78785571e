-- Statements and triggers that Citus accepts as well (docs/decisions/0060).

create or replace function count_attribute_changes() returns trigger language plpgsql as $$
declare
  account  integer;
  counted  text[];
  changed  record;
begin
  for account in select distinct account_id from users_after loop
    select array_agg(distinct attribute) into counted from breakdowns where account_id = account and attribute is not null;
    continue when counted is null;
    for changed in
      select a.name, count(*)::integer as people from unnest(counted) as a(name), users_after n join users_before o using (account_id, user_id)
      where n.account_id = account and o.attributes ->> a.name is distinct from n.attributes ->> a.name
      group by a.name order by a.name
    loop
      insert into attribute_changes (account_id, attribute, day, changes)
      values (account, changed.name, (now() at time zone 'utc')::date, changed.people)
      on conflict (account_id, attribute, day) do update set changes = attribute_changes.changes + excluded.changes;
    end loop;
  end loop;
  return null;
end $$;
