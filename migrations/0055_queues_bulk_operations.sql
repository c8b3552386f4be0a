-- Changes of all items that match a filter, made in the background.
create table bulk_operations (
  tenant_id       ulid not null,
  id              ulid not null,
  pool_id         ulid not null,
  -- The key of the pool's environment. It never changes.
  environment_key text not null,
  action          text not null check (action in ('cancel', 'requeue', 'retry')),
  filter          json not null,
  reason          text not null,
  -- 0: all.
  max_items       bigint not null,
  state           text not null check (state in ('queued', 'running', 'completed', 'cancelled', 'failed')),
  -- The last item that was handled. Items are handled in the order of their ids.
  position        text collate "C" not null default '',
  -- The dead letters that are being retried; null between two batches.
  batch           text[],
  matched_count   bigint not null,
  changed_count   bigint not null default 0,
  skipped_count   bigint not null default 0,
  error           text not null default '',
  created_by      text not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  ended_at        timestamptz,
  primary key (tenant_id, id)
) with (fillfactor = 70);
create index bulk_operations_unfinished on bulk_operations (tenant_id) where state in ('queued', 'running');
