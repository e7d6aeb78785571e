alter table accounts add column start_dismissed_at timestamptz;
comment on column accounts.start_dismissed_at is
  'When an administrator dismissed the page with the first steps. Null: it is shown. The steps themselves are not stored.';
-- Accounts that have asked anything don't need it.
update accounts a set start_dismissed_at = now()
where  exists (select from weeks w where w.account_id = a.account_id);
