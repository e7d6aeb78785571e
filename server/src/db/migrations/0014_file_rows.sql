-- breaking: older code writes rows that are larger than a page
create temporary table whole (account_id integer, file_id integer, bytes bytea) on commit drop;
alter table whole alter column bytes set storage external;
insert into whole
select account_id, file_id, string_agg(bytes, '' order by position) from file_parts group by account_id, file_id;

truncate file_parts;
alter table file_parts alter column bytes set storage plain;
insert into file_parts (account_id, file_id, position, bytes)
select account_id, file_id, i, substring(bytes from i * 8000 + 1 for 8000)
from   whole, generate_series(0, (octet_length(bytes) - 1) / 8000) i;
comment on table file_parts is 'What is in a file: 8,000 bytes in each row, save the last. Deleted 30 days after it was processed.';
