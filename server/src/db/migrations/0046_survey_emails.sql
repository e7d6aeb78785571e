-- People can turn off all survey emails, not only reminders.
alter table reminder_opt_outs add column all_emails boolean not null default false;
comment on table reminder_opt_outs is 'The people who opted out of reminders, or of all survey emails.';
comment on column reminder_opt_outs.all_emails is 'Whether the person gets no invitations either.';
