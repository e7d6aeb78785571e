create unlogged table token_usage (
  account_id  integer     not null,
  token_id    integer     not null,
  minute      timestamptz not null,
  requests    integer     not null,
  primary key (account_id, token_id, minute),
  foreign key (account_id, token_id) references tokens on delete cascade
);
comment on table token_usage is
  'How many requests a token has made in a minute, in all processes together. Unlogged: after a crash it is empty, and counting begins anew.';
comment on column token_usage.requests is 'Of a process that still counts, the last few are not yet in it.';
