alter table notification_deliveries
  -- The run and the step that created it; empty if its workflow has no steps.
  add column run_id text collate "C" not null default '',
  add column step_key text collate "C" not null default '';

-- Several steps of a workflow may send to the same address.
create unique index notification_deliveries_once_per_step on notification_deliveries (tenant_id, transaction_id,
  subscriber_id, channel, endpoint_id, step_key);
drop index notification_deliveries_once;

alter table notification_payloads
  -- Set when the trigger is cancelled: nothing more is sent for it.
  add column cancelled_at timestamptz;
