-- breaking: the outcome of runs and files that await approval is called "pending", as everywhere else.
alter table runs drop constraint runs_outcome_check;
update runs set outcome = 'pending' where outcome = 'held';
alter table runs add constraint runs_outcome_check
  check (outcome in ('processing', 'validated', 'applied', 'refused', 'pending', 'failed'));
comment on column runs.outcome is
  'processing: not finished yet. pending: awaiting approval. failed: ended without a response, or its process was killed; nothing was applied.';
update files
set    report = (report::jsonb || '{"outcome": "pending"}')::json
where  report ->> 'outcome' = 'held';
