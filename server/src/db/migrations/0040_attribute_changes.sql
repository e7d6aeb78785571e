-- How many values of attributes change before a week opens, so that auditors see whether people are moved between segments just before it.
create table attribute_changes (
  account_id  integer not null references accounts,
  attribute   text    not null,
  day         date    not null,
  changes     integer not null,
  primary key (account_id, attribute, day)
);
comment on table attribute_changes is
  'How many people''s values of an attribute changed in a day, for attributes that a breakdown uses or used. Old days are deleted when a week opens. It contains no person and no value.';
comment on column attribute_changes.day is 'In UTC.';

create table week_breakdowns (
  account_id    integer not null,
  week          date    not null,
  breakdown_id  integer not null,
  changes       integer not null,
  primary key (account_id, week, breakdown_id),
  foreign key (account_id, week) references weeks,
  foreign key (account_id, breakdown_id) references breakdowns on delete cascade
);
comment on table week_breakdowns is 'The breakdowns with which the rounds of a week were opened.';
comment on column week_breakdowns.changes is
  'How many values of its attributes had changed since the seventh day before. Of several openings in a week, the most.';

-- For each statement, not each row: a push changes thousands of people at once.
create function count_attribute_changes() returns trigger language plpgsql as $$
begin
  insert into attribute_changes (account_id, attribute, day, changes)
  select n.account_id, b.attribute, (now() at time zone 'utc')::date, count(*)
  from   (select distinct account_id, attribute from breakdowns where attribute is not null) b
  join   users_after n on n.account_id = b.account_id
  join   users_before o on o.account_id = n.account_id and o.user_id = n.user_id
  where  o.attributes ->> b.attribute is distinct from n.attributes ->> b.attribute
  group  by n.account_id, b.attribute
  on conflict (account_id, attribute, day) do update set changes = attribute_changes.changes + excluded.changes;
  return null;
end $$;
create trigger attribute_changes_are_counted after update on users
  referencing old table as users_before new table as users_after
  for each statement execute function count_attribute_changes();
