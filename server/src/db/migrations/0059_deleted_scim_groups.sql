-- A group that the directory has deleted keeps its place and its members until its removal is decided.
alter table scim_groups add column group_key text;
comment on column scim_groups.group_key is
  'The externalId of the group that it is, because the directory deleted that one and created it again. Null: the id.';

alter table scim_members add column left_at timestamptz;
create index scim_members_left on scim_members (account_id) where left_at is not null;
comment on column scim_members.left_at is
  'When the directory deleted the group or the member. It no longer sees the membership, which stays in effect until the removal is decided.';
alter table scim_members
  drop constraint scim_members_account_id_group_id_fkey,
  add foreign key (account_id, group_id) references scim_groups on delete cascade on update cascade;
