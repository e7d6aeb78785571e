-- Comments in plain words; packs of quarters are described.

comment on table repeated_pushes is
  'The last organization request of an account that had no warnings and was applied or changed nothing: one that was a dry run, and one that was not. If the same bytes are sent again within a day, and the state is still the one that it left, nothing changes.';
comment on column results.handed_out is
  'Whether fewer people than the threshold answered with a link that was sent to them, rather than handed out by the employer. Counts only the people behind the figure.';
comment on column comment_groups.handed_out is
  'Whether fewer people than the threshold for comments answered with a link that was sent to them, rather than handed out by the employer. False for weeks that closed before this was stored.';
comment on column scim_users.retry_at is 'When a refused change is tried again, unless the directory changes the user before. Null: immediately.';
comment on table scim_directories is 'How the directory of an account is applied, and the state of its removals.';
comment on column sandboxes.retry_at is 'When the next attempt is due. Null: immediately.';
comment on column packs.kind is 'As in fragments for packs of a week, and 10 more for packs of a quarter. 10: the weeks of a quarter.';
