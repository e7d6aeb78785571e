-- Sending what waits reads each delivery a few times, and not all that wait for each request.
alter table webhook_deliveries add column is_blocked boolean not null default false;
comment on column webhook_deliveries.is_blocked is
  'Whether an earlier delivery of the same subject was found to wait. Then this one is not looked at until that one has ended.';
create index webhook_deliveries_due on webhook_deliveries (account_id, endpoint_id, next_attempt_at, event_id)
  where state = 'waiting' and not is_blocked;
create index webhook_deliveries_blocked on webhook_deliveries (account_id, endpoint_id, subject, event_id) where is_blocked;
