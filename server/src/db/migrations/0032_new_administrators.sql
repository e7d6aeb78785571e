-- When a person becomes an administrator, every way to sign in that others may know stops working: a link that was shown, or a
-- password that was set with it.
create function end_sign_in() returns trigger language plpgsql as $$
begin
  delete from sign_in_links where account_id = new.account_id and user_id = new.user_id;
  delete from passwords     where account_id = new.account_id and user_id = new.user_id;
  delete from sessions      where account_id = new.account_id and user_id = new.user_id;
  return null;
end $$;
comment on function end_sign_in is
  'Anyone who becomes an Administrator sets a new password: links, the password and sessions from before end.';
create trigger administrators_sign_in_anew after update of role on users
  for each row when (new.role = 'Administrator' and old.role <> 'Administrator') execute function end_sign_in();

-- The previous address of a person is notified of changes to the person's sign-in. For a week, it also gets the links of an
-- administrator.
alter table users add column email_before text;
alter table users add column email_changed_at timestamptz;
comment on column users.email_before is
  'The address before the first change of the last 30 days. Null: there was none, or it is forgotten again.';
comment on column users.email_changed_at is 'When the address was changed last. Null: not within the last 30 days.';

create function note_email() returns trigger language plpgsql as $$
begin
  if old.email_changed_at is null or old.email_changed_at < now() - interval '30 days' then
    new.email_before := old.email;
  end if;
  new.email_changed_at := now();
  return new;
end $$;
comment on function note_email is 'Of several changes the first counts, so that the address before them is not forgotten.';
create trigger users_change_address before update of email_key on users
  for each row when (new.email_key is distinct from old.email_key) execute function note_email();
