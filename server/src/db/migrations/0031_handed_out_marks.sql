alter table response_rates add column people integer;
comment on column response_rates.people is
  'How many people the week asked anything in the group. Null: the rate is withheld, or the week closed before this was stored.';

alter table comment_groups add column handed_out boolean not null default false;
comment on column comment_groups.handed_out is
  'Whether fewer than the threshold for comments of the people behind the comments answered through a link that was sent to them. False in weeks that closed before this was stored.';
