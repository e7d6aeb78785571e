-- Lists of a million people, sorted by name and searched, are read from an index: reading the table takes seconds.
alter table users add column sort_text text not null generated always as (
  left(folded(first_name || ' ' || last_name || chr(10) || coalesce(email, '') || chr(10) || coalesce(external_id, '')), 200)
) stored;
comment on column users.sort_text is
  'The beginning of search_text, short enough for an index that lists and searches can read instead of the table.';
create index users_in_order on users (account_id, sort_text, user_id) where sort_text <> '';
create index users_with_long_text on users (account_id) where char_length(search_text) > 200;
create index users_without_email on users (account_id, sort_text, user_id) where email_key is null;
create index users_inactive on users (account_id, user_id) where not active;
create index users_with_role on users (account_id, role, user_id) where role <> 'User';
