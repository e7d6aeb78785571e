create table second_steps (
  account_id  integer     not null,
  user_id     integer     not null,
  secret      bytea       not null,
  made_at     timestamptz not null default now(),
  on_since    timestamptz,
  last_step   bigint      not null default 0,
  primary key (account_id, user_id),
  foreign key (account_id, user_id) references users on delete cascade
);
comment on table second_steps is
  'Secrets of the codes (TOTP, RFC 6238) by which people prove at signing in that they hold their phone. Kept as they are, not digested: each code is computed from the secret anew.';
comment on column second_steps.on_since is 'Null: it was shown, and no code of it has come yet: signing in does not ask for one.';
comment on column second_steps.last_step is 'The step of 30 seconds whose code was used last: neither it nor one before it is taken again.';

create table recovery_codes (
  account_id  integer     not null,
  user_id     integer     not null,
  hash        bytea       not null,
  primary key (account_id, user_id, hash),
  foreign key (account_id, user_id) references users on delete cascade
);
comment on table recovery_codes is
  'SHA-256 of the codes that stand in for a phone that was lost. One that was used is deleted.';

create table sign_in_links (
  hash        bytea       primary key,
  account_id  integer     not null,
  user_id     integer     not null,
  email_key   text,
  kind        text        not null check (kind in ('forgotten', 'given')),
  made_at     timestamptz not null default now(),
  expires_at  timestamptz not null,
  foreign key (account_id, user_id) references users on delete cascade
);
create index sign_in_links_by_user on sign_in_links (account_id, user_id);
comment on table sign_in_links is
  'SHA-256 of the links by which people set a password. Unique in the whole service, so not keyed by account. All of a person are deleted when one is used.';
comment on column sign_in_links.email_key is
  'The address that the person had, in its compared form: with another one the link is dead.';
comment on column sign_in_links.kind is 'forgotten: the person asked for it; given: an administrator made it.';

create table first_links (
  hash     bytea       primary key,
  made_at  timestamptz not null default now()
);
comment on table first_links is
  'SHA-256 of the link by which the first account is made: the one that was printed last. Empty as soon as there is an account.';
