-- People without an email address can get invitations and reminders as text messages.
alter table accounts add column sms boolean not null default false;
comment on column accounts.sms is
  'Whether people who have a phone number and no email address get invitations and reminders as text messages, if a gateway is configured.';
comment on table messages is
  'The invitations and reminders to the people who are asked in an open week, by email or text message. Each is sent once. Deleted when the week closes.';
comment on column messages.state is
  'sending: passed to the mail server or gateway, which has not confirmed it yet. unknown: it was never confirmed; not sent again. unneeded: a reminder to a person who had already answered.';
comment on column links.sent_to is
  'The email address or phone number that the link was sent to. Null: handed out by the employer.';
comment on table mail_refusals is
  'The people whose last invitation was rejected by the mail server or the gateway for text messages, and the reason. Deleted when a later invitation is accepted. Not stored for reminders, because only people who have not answered get one.';
comment on column mail_refusals.address is 'The email address or phone number.';
comment on table reminder_opt_outs is 'The people who opted out of reminders, or of all survey messages.';
