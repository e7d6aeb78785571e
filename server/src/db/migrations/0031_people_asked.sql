alter table response_rates add column people integer;
comment on column response_rates.people is
  'How many people the week asked anything in the group. Null: the rate is withheld, or the week closed before this was stored.';
