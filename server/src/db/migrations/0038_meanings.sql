-- breaking: what a column or value means is its "meaning", the stored pieces of a file are "chunks", and imported answers come in "batches".
alter table value_mappings rename column means to meaning;
alter table value_mappings rename column word to value_key;
alter index value_mappings_by_word rename to value_mappings_by_value_key;
update column_mappings
set    columns = (
         select json_agg(json_build_object('header', c.mapped -> 'header', 'meaning', c.mapped -> 'means') order by c.place)
         from   json_array_elements(columns) with ordinality c(mapped, place));
comment on column column_mappings.columns is 'In the order of the confirmed file: [{"header", "meaning"}].';
alter table file_parts rename to file_chunks;
alter trigger parts_have_files on file_chunks rename to chunks_have_files;
alter function refuse_part_without_file rename to refuse_chunk_without_file;
comment on function refuse_chunk_without_file is
  'Replaces a foreign key, which would be checked for every row. The rows of a chunk, 32 at most, are written by one statement.';
alter trigger parts_go_with_files on files rename to chunks_go_with_files;
alter function remove_parts rename to remove_chunks;
create or replace function remove_chunks() returns trigger language plpgsql as $$
begin
  delete from file_chunks where account_id = old.account_id and file_id = old.file_id;
  return null;
end $$;
alter table answers rename column part to import_batch;
comment on column answers.import_batch is '0: answered with a link. Other numbers: imported with this batch of a history file.';
do $$
declare
  one record;
begin
  for one in
    select c.conrelid::regclass as place, c.conname as before, replace(c.conname, n.before, n.after) as after
    from   pg_constraint c
    join   (values ('value_mappings', '_means_', '_meaning_'), ('value_mappings', '_word_', '_value_key_'),
                   ('file_chunks', 'file_parts_', 'file_chunks_'), ('answers', '_part_', '_import_batch_')) n(place, before, after)
      on   c.conrelid = n.place::regclass
  loop
    if one.before <> one.after then
      execute format('alter table %s rename constraint %I to %I', one.place, one.before, one.after);
    end if;
  end loop;
end $$;
