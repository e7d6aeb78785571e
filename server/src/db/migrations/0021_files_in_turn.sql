-- breaking: older code starts to process files that another process is already processing
alter table files drop column attempts;
alter table files add column turn uuid;
alter table files add column begun_at timestamptz;
alter table files add column failures smallint not null default 0;
alter table files add column interruptions smallint not null default 0;
alter table files add column is_refused boolean not null default false;
comment on column files.turn is 'Who processes it: the id of a job. Null: no one does. Stays when the process of the job is killed.';
comment on column files.begun_at is 'When its processing began last.';
comment on column files.failures is 'How often its processing failed while the service went on: after three times it is given up.';
comment on column files.interruptions is 'How often the service ended while it processed the file. Three kills do not make a good file a bad one.';
comment on column files.is_refused is 'The upload was refused: nothing of it is kept but its report.';
create index files_waiting on files (account_id, arrival) where arrival is not null and processed_at is null;

alter table runs drop constraint runs_outcome_check;
alter table runs add constraint runs_outcome_check
  check (outcome in ('processing', 'validated', 'applied', 'refused', 'held', 'failed'));
comment on column runs.outcome is
  'processing: it has not ended yet. failed: it ended without an answer, or its process was killed; nothing was applied.';

alter table messages add column late_since timestamptz;
comment on column messages.late_since is
  'When it should have been sent, of one that has been tried: due_at moves with each attempt. Null: not tried, or put off to an hour of the person.';
