alter table tokens
  add column created_by      integer,
  add column last_used_from  text;
comment on column tokens.created_by is 'The user who made it in the console. Null: the soundings command did.';
comment on column tokens.last_used_from is 'The address of its last use, as of last_used_at.';
alter table tokens add column end_told_days smallint;
comment on column tokens.end_told_days is 'So many days before its end it was told of by mail, last. Null: not yet.';
