-- A user or group of a directory is found by its id only through the primary key. Before a table has statistics, PostgreSQL also took another
-- index that begins with the account and read all its rows, for each request. Each of these indexes now has a condition that such a
-- statement does not have.
drop index scim_users_by_name;
drop index scim_users_by_person;
drop index scim_users_by_display_name;
drop index scim_users_by_email;
drop index scim_users_in_order;
drop index scim_users_by_manager;
drop index scim_users_to_apply;
create unique index scim_users_by_name on scim_users (account_id, user_name_key) where user_name_key is not null and deleted_at is null;
create unique index scim_users_by_person on scim_users (account_id, person_key) where person_key is not null;
create index scim_users_by_display_name on scim_users (account_id, display_name_key) where display_name_key is not null;
create index scim_users_by_email on scim_users using gin (email_keys) with (fastupdate = off);
create index scim_users_in_order on scim_users (account_id, position) where position > 0 and deleted_at is null;
create index scim_users_to_apply on scim_users (account_id) where changes <> applied;

drop index scim_groups_by_name;
drop index scim_groups_in_order;
create index scim_groups_by_name on scim_groups (account_id, display_name_key) where display_name_key is not null;
create index scim_groups_in_order on scim_groups (account_id, position) where position > 0 and removed_at is null;

drop index scim_members_by_member;
create index scim_members_by_member on scim_members (account_id, member_id) where member_id is not null;

-- A tree that is refused, without a user who is, is tried less and less often, until the directory changes one of these groups.
alter table scim_groups add column refused integer;
alter table scim_groups add column failures smallint not null default 0;
alter table scim_groups add column retry_at timestamptz;
comment on column scim_groups.refused is 'The value of changes with which the tree was last refused. Null: none.';
comment on column scim_groups.failures is 'How often the tree was refused with this value.';
comment on column scim_groups.retry_at is 'When the tree is tried again, unless the directory changes the group before.';
