alter table kpi_values add column asked_whole boolean not null default true;
comment on column kpi_values.asked_whole is
  'Whether one of the KPI''s questions was asked of the whole group: of itself, or of a group above it.';
-- It is no longer known which questions a KPI had in a past week. The questions that it has now are used in their place.
update kpi_values v
set    asked_whole = false
where  not exists (select 1
                   from   asked a
                   join   kpi_questions k on k.account_id = a.account_id and k.question_id = any (a.question_ids)
                   where  a.account_id = v.account_id and a.group_id = v.group_id and a.week = v.week
                     and  k.kpi_id = v.kpi_id);

alter table tokens add column numbers text not null default 'plain' check (numbers in ('plain', 'quoted'));
comment on column tokens.numbers is
  'How the data interface writes numbers of values for this token; quoted: as texts, for clients of the original service.';

alter table users add column role_pending boolean not null default false
  check (not role_pending or role = 'Administrator');
comment on column users.role_pending is
  'A push or file made this person an Administrator, or gave an Administrator another address, and none has confirmed it yet: has the rights of a User.';

alter table accounts add column roles_by_sync boolean not null default true;
comment on column accounts.roles_by_sync is 'Whether pushes and files set roles.';
