-- breaking: older code reads the digest of the figures shown for an open week.

alter table results    add column handed_out boolean not null default false;
alter table kpi_values add column handed_out boolean not null default false;
comment on column results.handed_out is
  'Whether fewer than the threshold of the people behind the figure answered through a link that was sent to them.';
comment on column kpi_values.handed_out is 'Whether a figure that it is made of is handed_out.';

alter table accounts add column noise smallint not null default 0 check (noise between 0 and 2);
alter table accounts add column noise_key bytea;
alter table weeks    add column noise smallint not null default 0;
alter table results  add column noise smallint not null default 0;
comment on column accounts.noise is
  'How many steps of the scale a published sum may be off, in weeks that open from now on. 0: none.';
comment on column accounts.noise_key is 'Decides the errors: the same for the same people. Created with the first noise.';
comment on column weeks.noise is 'That of the account when the week was opened.';
comment on column results.noise is 'With how much noise the figure was published.';

-- Weeks that are open now do not become live, because it is not known which of their answers are in the figures that are shown.
-- These figures stay as they are.
alter table weeks add column is_live boolean not null default false;
alter table weeks drop column shown_digest;
comment on column weeks.is_live is
  'Whether its figures are shown while it is open: the publication of the account when the week was opened.';
comment on column weeks.shown_at is 'When figures of the open week were shown last; only of live weeks.';
comment on column accounts.publication is
  'weekly: figures are shown when their week has closed; live: while it is open. Of weeks that open from now on.';
