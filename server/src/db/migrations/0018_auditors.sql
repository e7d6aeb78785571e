-- Works councils and data-protection officers read what the service promises, and nothing else.
alter table users drop constraint users_role_check;
alter table users add constraint users_role_check check (role in ('Administrator', 'Manager', 'Auditor', 'User'));
