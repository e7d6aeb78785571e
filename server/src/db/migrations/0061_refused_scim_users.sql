-- A user of a directory that is refused does not stop the others, and is tried less and less often.
alter table scim_users add column failures smallint not null default 0;
alter table scim_users add column retry_at timestamptz;
comment on column scim_users.failures is 'How often the last change of the user was refused.';
comment on column scim_users.retry_at is 'When a refused change is tried again, unless the directory changes the user before. Null: at once.';
