-- A step of the epoch that is interrupted has written keys wrapped by the next epoch key. No later step may get to that key.

alter table answer_keys add column tried integer not null default 0;
comment on column answer_keys.tried is
  'The latest epoch that was tried. Keys wrapped by its key may have been written, also if it never began.';
