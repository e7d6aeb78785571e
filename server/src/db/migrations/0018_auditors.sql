-- The Auditor role, for works councils and data-protection officers: they can read the privacy report, and nothing else.
alter table users drop constraint users_role_check;
alter table users add constraint users_role_check check (role in ('Administrator', 'Manager', 'Auditor', 'User'));
