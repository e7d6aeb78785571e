alter table runs add column sets_tree boolean;
comment on column runs.sets_tree is
  'Of an applied run that lists groups: whether it says where they stand, so that the next would undo moves by hand.';
