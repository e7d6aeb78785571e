-- breaking

create table secrets_keys (
  only_one    boolean     primary key default true check (only_one),
  name        bytea       not null,
  secret      bytea,
  created_at  timestamptz not null default now()
);
comment on table secrets_keys is
  'Which key seals the secrets that the service must read again (second_steps, sftp_host_keys). The key itself is in a file outside the database. One row, of no account.';
comment on column secrets_keys.secret is 'The key itself, with ANSWER_KEYS=database alone.';

comment on table second_steps is
  'Secrets of the codes (TOTP, RFC 6238) by which people prove at signing in that they hold their phone. Sealed, not digested: each code is computed from the secret anew.';
comment on column sftp_host_keys.private_key is 'Sealed, as base64.';
