-- breaking

create table noise_keys (
  account_id  integer primary key references accounts,
  secret      bytea   not null
);
comment on table noise_keys is
  'What decides the errors of an account''s figures: the same for the same people. Created with the first figures that have noise. Sealed.';
-- The service seals the keys when it starts.
insert into noise_keys (account_id, secret)
select account_id, noise_key from accounts where noise_key is not null;
alter table accounts drop column noise_key;
