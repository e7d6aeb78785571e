-- Failed sign-ins are counted in the database, so that a restart forgets nothing and all processes share the counts.
create table sign_in_failures (
  kind     text        not null check (kind in ('pair', 'email', 'network', 'known', 'code', 'mail')),
  key      bytea       not null,
  count    integer     not null,
  last_at  timestamptz not null,
  primary key (kind, key)
);
comment on table sign_in_failures is
  'Failed sign-ins by digests of e-mail addresses and networks, for a day at most. known: from where someone has signed in, for 90 days.';
create index sign_in_failures_by_age on sign_in_failures (last_at);
