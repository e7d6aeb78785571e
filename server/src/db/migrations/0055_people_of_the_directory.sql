-- People and groups that a directory (Entra ID, Okta) provisions over SCIM belong to it: pushes and files leave them alone, and the
-- other way round.
alter table users  add column by_scim boolean not null default false;
alter table groups add column by_scim boolean not null default false;
alter table users  add constraint users_by_scim_check  check (managed or not by_scim);
alter table groups add constraint groups_by_scim_check check (managed or not by_scim);
comment on column users.by_scim is
  'True: the directory that provisions the account over SCIM manages this person. Pushes and files can''t change or remove it.';
comment on column groups.by_scim is
  'True: the group comes from the directory that provisions the account over SCIM. Pushes and files can''t change or remove it.';

alter table tokens drop constraint tokens_scopes_check;
alter table tokens add constraint tokens_scopes_check
  check (scopes <@ '{data,organization,files,audit,scim}' and scopes <> '{}');

alter table runs drop constraint runs_source_check;
alter table runs add constraint runs_source_check check (source in ('api', 'file', 'scim'));
create index runs_by_source on runs (account_id, at) where source = 'scim';
