-- The published figures in the form in which the data interface sends them. They are derived from the tables of figures.
create table fragments (
  account_id   integer  not null,
  kind         smallint not null,
  kpi_id       text     not null,
  question_id  integer  not null,
  group_id     integer  not null,
  period       integer  not null,
  frame        text     not null check (frame <> ''),
  primary key (account_id, kind, kpi_id, question_id, group_id, period)
);
alter table fragments alter column frame set storage external;
alter table fragments set (toast_tuple_target = 8160);
create index on fragments (account_id, group_id, kind);
comment on table fragments is
  'The figures of closed weeks as JSON, ready to be sent. Derived from asked, kpi_values, response_rates and results, and created again if it is deleted together with fragment_weeks.';
comment on column fragments.kind is '1: results, 2: KPI values, 3: response rates, 4: asked questions.';
comment on column fragments.kpi_id is 'Empty except for KPI values.';
comment on column fragments.question_id is '0 except for results.';
comment on column fragments.group_id is 'A group or a segment.';
comment on column fragments.period is 'The number of a period of 52 weeks.';
comment on column fragments.frame is 'A checksum, the weeks, and the JSON of the figures of each week (results/fragments/frames.ts).';

create table fragment_weeks (
  account_id  integer not null,
  week        date    not null,
  primary key (account_id, week)
);
comment on table fragment_weeks is 'The closed weeks whose figures are complete in fragments. Other weeks are read from the tables of figures.';
