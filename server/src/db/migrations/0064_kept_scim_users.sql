-- An administrator can decide that a person is not handed over to the directory. The user of the directory then goes on waiting, but is no
-- longer shown as undecided.
alter table scim_users add column kept_user_id integer;
comment on column scim_users.kept_user_id is
  'The person of another source who an administrator has decided is not handed over to this user. Null: none. Says nothing about other people.';
