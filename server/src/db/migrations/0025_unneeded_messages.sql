alter table messages drop constraint messages_state_check,
  add constraint messages_state_check check (state in ('waiting', 'sending', 'sent', 'refused', 'unknown', 'unneeded'));
comment on column messages.state is
  'sending: given to the mail server, which has not answered; unknown: and never will. Such a one is not sent again. unneeded: a reminder to somebody who had answered.';
