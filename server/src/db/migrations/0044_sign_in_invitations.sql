create table sign_in_invitations (
  account_id  integer     not null,
  user_id     integer     not null,
  email_key   text        not null,
  state       text        not null check (state in ('waiting', 'sending', 'sent', 'refused', 'unknown', 'handed out')),
  request_id  uuid        not null,
  reminder    boolean     not null default false,
  invited_at  timestamptz not null default now(),
  primary key (account_id, user_id),
  foreign key (account_id, user_id) references users on delete cascade
);
comment on table sign_in_invitations is
  'The people who were invited to sign in and have not set a password yet, with the latest invitation. Deleted once they set one.';
comment on column sign_in_invitations.email_key is
  'The normalized address when the person was invited. If the address changes, the person counts as not invited.';
comment on column sign_in_invitations.state is
  'waiting: not sent yet; sending: handed to the mail server, whose reply is not stored yet; sent; refused: by the mail server; unknown: the mail server may have accepted it; handed out: an administrator downloaded the link.';
comment on column sign_in_invitations.request_id is
  'The request that this invitation belongs to. A job of an earlier request sends nothing.';
comment on column sign_in_invitations.reminder is 'Whether the person had been invited before.';

create or replace function end_sign_in() returns trigger language plpgsql as $$
begin
  delete from sign_in_links       where account_id = new.account_id and user_id = new.user_id;
  delete from sign_in_invitations where account_id = new.account_id and user_id = new.user_id;
  delete from passwords           where account_id = new.account_id and user_id = new.user_id;
  delete from sessions            where account_id = new.account_id and user_id = new.user_id;
  return null;
end $$;
comment on function end_sign_in is
  'Makes people who become Administrators set a new password: their earlier links, invitations, password and sessions are deleted.';

-- People who were sent a link before this version, and have not set a password, are invited.
insert into sign_in_invitations (account_id, user_id, email_key, state, request_id, invited_at)
select u.account_id, u.user_id, u.email_key, case when e.by = 'mail' then 'sent' else 'handed out' end, gen_random_uuid(), e.at
from   (select distinct on (account_id, subject) account_id, subject, at, details ->> 'by' as by
        from   audit_entries
        where  action = 'sign-in link created' and details ->> 'kind' = 'given'
        order  by account_id, subject, entry_id desc) e
join   users u on u.account_id = e.account_id and u.user_id::text = e.subject
where  u.active and not u.role_pending and u.email_key is not null and e.at >= u.active_since
  and  (u.email_changed_at is null or u.email_changed_at < e.at)
  and  not exists (select from passwords p where p.account_id = u.account_id and p.user_id = u.user_id);
