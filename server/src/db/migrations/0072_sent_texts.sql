-- With an index of the texts that were applied last, a push does not have to parse people who have not changed.
create table sent_texts (
  account_id  integer not null references accounts,
  part        integer not null,
  people      bytea   not null,
  primary key (account_id, part)
);
alter table sent_texts alter column people set storage external;
comment on table sent_texts is
  'An index of the people in the list that was applied last: of a whole request (part 0), or of each part of a push. With it, the next list is read without parsing the people whose texts are the same. Deleted when a person is removed, and replaced by the next list.';
comment on column sent_texts.people is
  'For each person a digest of the text that was sent, a fingerprint, and where the person is in the JSON, as in push_parts.people.';
comment on column push_parts.people is
  'For each user that the part lists a digest of the text that was sent, a fingerprint, and where the user is in the JSON. Null: the part lists no users, or an older version has stored it.';

-- A request that was applied is remembered, too. If it is sent again, it changes nothing, so its summary is another one than that of its run.
alter table repeated_pushes add column summary json;
comment on table repeated_pushes is
  'The last organization request of an account that had no warnings and was applied or changed nothing, as a dry run and as not one. If the same bytes are sent again within a day, and the state is as it left it, nothing changes.';
comment on column repeated_pushes.plan is 'The digest of a plan that changes nothing.';
comment on column repeated_pushes.summary is 'What is reported if the request is sent again. Null: the summary of the run.';
