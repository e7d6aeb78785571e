-- With an index of the people in each part, a commit does not have to parse people who have not changed.
alter table push_parts add column people bytea;
alter table push_parts alter column people set storage external;
comment on column push_parts.people is
  'A fingerprint of each user that the part lists, and where the user is in its JSON. Null: the part lists no users, or an older version has stored it.';
