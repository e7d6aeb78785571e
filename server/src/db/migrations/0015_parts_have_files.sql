-- A foreign key looks up the file for each row, 131 times for each MiB. This is a third of the work of PostgreSQL for an upload.
-- The rows of a part are written by one statement, so it is enough to look up the file for the first row.
alter table file_parts drop constraint file_parts_account_id_file_id_fkey;

create function refuse_part_without_file() returns trigger language plpgsql as $$
begin
  perform from files where account_id = new.account_id and file_id = new.file_id for key share;
  if not found then
    raise foreign_key_violation using message = 'There is no such file.';
  end if;
  return null;
end $$;
comment on function refuse_part_without_file is
  'Instead of a foreign key, which would ask for each row: the rows of a part, 32 at most, are written by one statement.';
create trigger parts_have_files after insert on file_parts
  for each row when (new.position % 32 = 0) execute function refuse_part_without_file();

create function remove_parts() returns trigger language plpgsql as $$
begin
  delete from file_parts where account_id = old.account_id and file_id = old.file_id;
  return null;
end $$;
comment on function remove_parts is 'What is in a file goes with it.';
create trigger parts_go_with_files after delete on files for each row execute function remove_parts();
