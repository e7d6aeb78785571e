-- The weekly digest: an email to managers and administrators after a week has closed.

alter table accounts
  add column digest           boolean  not null default true,
  add column digest_days      smallint not null default 0 check (digest_days between 0 and 6),
  add column digest_hour      smallint not null default 8 check (digest_hour between 8 and 19),
  add column digest_comments  boolean  not null default true;
comment on column accounts.digest is 'Whether managers and administrators get a digest after a week has closed.';
comment on column accounts.digest_days is 'How many days after the day on which a week closes its digest is sent.';
comment on column accounts.digest_hour is 'The hour at which it is sent, in the recipient''s time zone.';
comment on column accounts.digest_comments is 'Whether it contains comments.';

create table digest_weeks (
  account_id  integer     not null,
  week        date        not null,
  closed_at   timestamptz not null,
  primary key (account_id, week),
  foreign key (account_id, week) references weeks on delete cascade
);
comment on table digest_weeks is
  'Weeks that have closed and whose digests are not in the queue yet. Written when the week closes, in the same transaction.';

create table digests (
  account_id  integer     not null,
  user_id     integer     not null,
  week        date        not null,
  state       text        not null default 'waiting'
                          check (state in ('waiting', 'sending', 'sent', 'refused', 'unknown', 'unneeded', 'covered')),
  planned_at  timestamptz not null,
  due_at      timestamptz not null,
  attempts    smallint    not null default 0,
  begun_at    timestamptz,
  sent_week   date,
  primary key (account_id, user_id, week),
  foreign key (account_id, user_id) references users on delete cascade,
  check ((sent_week is not null) = (state in ('sending', 'sent', 'unknown')))
);
create unique index digests_once_a_week on digests (account_id, user_id, sent_week) where sent_week is not null;
create index digests_due on digests (due_at) where state = 'waiting';
comment on table digests is
  'The digests of closed weeks: one per person and week. Contains no results: they are read when the email is sent.';
comment on column digests.state is
  'sending: given to the mail server, which has not replied yet; unknown: the process stopped or the connection ended before it replied; unneeded: the person had no results to see; covered: the digest of a later week replaced it.';
comment on column digests.planned_at is 'When it is to be sent.';
comment on column digests.due_at is 'When it is tried next.';
comment on column digests.begun_at is 'When it was given to the mail server.';
comment on column digests.sent_week is
  'The Monday of the week, in the recipient''s time zone, in which it was given to the mail server. A person gets one digest per week.';

create table digest_opt_outs (
  account_id  integer not null,
  user_id     integer not null,
  primary key (account_id, user_id),
  foreign key (account_id, user_id) references users on delete cascade
);
comment on table digest_opt_outs is 'The people who turned off the digest.';
