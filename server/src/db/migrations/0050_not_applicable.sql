-- breaking: older code counts "not applicable" as a value.

-- "Not applicable" as an answer. A round keeps which of its questions allow it, so that a change of a question changes no open week.
alter table questions add column allows_not_applicable boolean not null default false;
alter table questions add constraint questions_not_applicable_check check (not (allows_not_applicable and type = 7));
comment on column questions.allows_not_applicable is
  'Whether people can answer it with "not applicable", in rounds that open from now on.';

alter table rounds add column not_applicable_ids integer[] not null default '{}';
comment on column rounds.not_applicable_ids is
  'Those of its questions that people can answer with "not applicable". Never changed.';

alter table results add column not_applicable integer;
alter table results add column not_applicable_of integer;
comment on column results.not_applicable is
  'How many people answered with "not applicable". Null: withheld, or no one could.';
comment on column results.not_applicable_of is
  'Of how many people who answered, with a value or "not applicable".';
