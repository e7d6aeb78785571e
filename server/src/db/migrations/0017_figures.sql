alter table results    add column handed_out boolean not null default false;
alter table kpi_values add column handed_out boolean not null default false;
comment on column results.handed_out is
  'Whether fewer than the threshold of the people behind the figure answered through a link that was sent to them.';
comment on column kpi_values.handed_out is 'Whether a figure that it is made of is handed_out.';
