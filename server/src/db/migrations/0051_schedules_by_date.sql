-- breaking: older code would ask everyone in the groups of such a schedule.
-- A schedule can choose people by a date, such as those who started 30 to 59 days ago (docs/decisions/0035-people-by-a-date.md).
alter table schedules
  add column date_attribute text,
  add column date_side      text,
  add column date_from      smallint,
  add column date_until     smallint,
  add column min_people     smallint,
  add constraint schedules_date_side_check check (date_side in ('after', 'before')),
  add constraint schedules_date_from_check check (date_from >= 0),
  add constraint schedules_date_until_check check (date_until between date_from and date_from + 364),
  add constraint schedules_min_people_check check (min_people >= 1),
  add constraint schedules_by_date_check check (num_nulls(date_attribute, date_side, date_from, date_until, min_people) in (0, 5));
comment on column schedules.date_attribute is
  'The attribute with the date by which people are chosen. Null: everyone in the groups is asked.';
comment on column schedules.date_side is
  'after: people are asked date_from to date_until days after their date; before: as many days before it.';
comment on column schedules.min_people is
  'A round by date opens only if it asks at least as many people, and at least as many as the threshold.';

-- New values of a constraint: replaced rather than changed.
alter table schedule_weeks drop constraint schedule_weeks_reason_check;
alter table schedule_weeks add constraint schedule_weeks_reason_check check (reason in
  ('late', 'noQuestion', 'noGroup', 'noPeople', 'closed', 'imported', 'lost', 'sameText', 'nearlySame', 'tooFewDue', 'other'));

create table asked_by_date (
  account_id   integer not null,
  schedule_id  integer not null,
  user_id      integer not null,
  week         date    not null,
  primary key (account_id, schedule_id, user_id),
  foreign key (account_id, schedule_id) references schedules on delete cascade,
  foreign key (account_id, user_id) references users on delete cascade
);
create index asked_by_date_by_user on asked_by_date (account_id, user_id);
comment on table asked_by_date is
  'The people that a schedule by date has asked within about a year, so that it asks no one twice for the same date.';
