-- How certain published figures are: a few parameters per question, KPI and week, computed from published figures after a week closes.
create table question_variances (
  account_id   integer          not null,
  question_id  integer          not null,
  week         date             not null,
  squares      double precision not null,
  freedom      integer          not null,
  answers      integer          not null,
  cells        integer          not null,
  primary key (account_id, question_id, week)
);
comment on table question_variances is
  'How much the answers to a question differ within groups in a week: one figure for the whole account, computed from the published distributions of two or more groups without common people.';
comment on column question_variances.squares is
  'The sum of squared deviations of answers, from 0 to 1, from the mean of their cell.';
comment on column question_variances.freedom is 'The number of answers minus the number of cells.';
comment on column question_variances.cells is 'The number of groups, or parts of groups without subgroups.';

create table question_statistics (
  account_id       integer          not null,
  week             date             not null,
  question_id      integer          not null,
  variance         double precision not null,
  steady_share     double precision not null,
  present_share    double precision not null,
  shared_movement  double precision not null,
  group_variance   double precision,
  cutoffs          json             not null,
  primary key (account_id, week, question_id)
);
comment on table question_statistics is
  'The parameters from which the intervals and verdicts of a question in a week are computed when results are read. Nothing is stored per group.';
comment on column question_statistics.variance is
  'The variance of answers within groups: of this week if enough people answered, otherwise of the last week before it, or of all weeks.';
comment on column question_statistics.steady_share is
  'The share of the variance that stays the same until the question is asked again. 0: too few changes are known.';
comment on column question_statistics.present_share is
  'The same over the shortest time between two weeks that is known. For intervals.';
comment on column question_statistics.shared_movement is
  'The variance of changes that all groups share, such as those of a season, divided by the variance of answers.';
comment on column question_statistics.group_variance is
  'How much groups differ from the group above them. Null: too few groups can be compared.';
comment on column question_statistics.cutoffs is
  'When a change or a difference is clear, by kind of comparison: {kind: {"level", "answers"}}.';

create table kpi_statistics (
  account_id      integer          not null,
  week            date             not null,
  kpi_id          text             not null,
  factor          double precision not null,
  ratio           double precision,
  pairs           integer          not null,
  group_variance  double precision,
  cutoffs         json             not null,
  primary key (account_id, week, kpi_id)
);
comment on table kpi_statistics is
  'The parameters from which the intervals and verdicts of rolling KPI values in a week are computed when results are read.';
comment on column kpi_statistics.factor is
  'The variance of the KPI''s changes, divided by what the variances of its questions predict.';
comment on column kpi_statistics.ratio is 'The same for the changes of this week alone. Null: too few groups changed.';
comment on column kpi_statistics.pairs is 'The number of groups behind the ratio.';
comment on column kpi_statistics.group_variance is
  'How much groups differ from the group above them. Null: too few groups can be compared.';
comment on column kpi_statistics.cutoffs is 'As in question_statistics.';

alter table weeks add column statistics_at timestamptz;
alter table weeks add column kpi_weeks smallint check (kpi_weeks between 1 and 13);
comment on column weeks.statistics_at is
  'When the statistics of the week were computed from its figures. Null: they have to be computed.';
comment on column weeks.kpi_weeks is
  'How many weeks a rolling KPI value of this week covers, fixed when its statistics are computed. Null: not computed yet.';

alter table response_rates add column asked integer;
alter table response_rates add column answered integer;
comment on column response_rates.asked is
  'How many people the rate is based on. Null: the rate is withheld, or the week closed before this was stored.';
comment on column response_rates.answered is
  'How many of them answered or skipped anything. Null: as for asked.';

alter table accounts add column kpi_weeks smallint check (kpi_weeks between 1 and 13);
alter table accounts add column manager_comparisons text[] not null default '{company,parent,halfYear}'
  check (manager_comparisons <@ '{company,parent,halfYear}');
comment on column accounts.kpi_weeks is
  'How many weeks a rolling KPI value covers, in weeks that close from now on. Null: as many as the schedules need to ask all questions.';
comment on column accounts.manager_comparisons is 'What managers can compare the results of their groups with.';
