alter table response_rates add column handed_out boolean not null default false;
comment on column response_rates.handed_out is
  'Whether in one of its cells too few of the people asked have no link that the employer handed out. Of weeks that closed before it was noted: false.';
