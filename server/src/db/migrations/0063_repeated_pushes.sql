-- A request that was sent before, byte for byte, and changed nothing needs no plan while nobody has changed what it is compared with.
create table repeated_pushes (
  account_id     integer     not null references accounts,
  validate_only  boolean     not null,
  body           bytea       not null,
  state          bytea       not null,
  run_id         uuid        not null,
  plan           text        not null,
  primary key (account_id, validate_only),
  foreign key (account_id, run_id) references runs on delete cascade
);
comment on table repeated_pushes is
  'The last organization request of an account that changed nothing and had no warnings, as a dry run and as not one. If the same bytes are sent again within a day, and the state is the same, the result is too.';
comment on column repeated_pushes.body is 'The SHA-256 of the bytes that were sent.';
comment on column repeated_pushes.state is 'A digest of everything that a request is compared with (server/src/sync/repeated/repeated.ts).';
comment on column repeated_pushes.run_id is 'The run that processed the whole request.';
comment on column repeated_pushes.plan is 'The digest of its plan.';
