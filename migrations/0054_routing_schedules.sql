-- Schedules that route items.
create table routing_schedules (
  tenant_id            ulid not null,
  id                   ulid not null,
  environment_id       ulid not null,
  -- The key of the environment. It never changes.
  environment_key      text not null,
  pool_id              ulid not null,
  name                 text collate "C" not null,
  timing               json not null,
  -- The item, with templates.
  item                 json not null,
  paused               boolean not null,
  paused_reason        text not null check (paused_reason in ('', 'manual', 'failing')),
  paused_by            text not null,
  -- The shard whose owner handles the schedule; the same for all schedules of a tenant.
  shard                smallint not null,
  -- Raised by every change after which the next time is another one.
  generation           integer not null default 1,
  -- The first time that was not handled; null if there is none.
  next_at              timestamptz,
  -- The next time with its jitter.
  fires_at             timestamptz,
  -- When the schedule needs attention: when it fires, or earlier for a run that has no final state.
  due_at               timestamptz,
  last_fired_at        timestamptz,
  last_item_id         text not null default '',
  last_error           text not null default '',
  consecutive_failures integer not null default 0,
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  record_version       integer not null default 1,
  primary key (tenant_id, id)
) with (fillfactor = 70);
create unique index routing_schedules_name on routing_schedules (tenant_id, environment_id, name);
create index routing_schedules_due on routing_schedules (due_at) where due_at is not null;

-- The runs of schedules. The id follows from the schedule and its time, so no time has two runs.
create table routing_schedule_runs (
  tenant_id     ulid not null,
  schedule_id   ulid not null,
  id            ulid not null,
  time          timestamptz not null,
  cause         text not null check (cause in ('schedule', 'manual')),
  state         text not null check (state in ('starting', 'waiting', 'routed', 'skipped', 'missed', 'failed')),
  -- The request to route, while it has no result. Every attempt sends the same request.
  request       json,
  -- When to attempt it again; null for a run with a final state.
  due_at        timestamptz,
  item_id       text not null default '',
  decision_id   text not null default '',
  outcome       text not null default '',
  error_code    text not null default '',
  error_message text not null default '',
  -- Whether the item may be unfinished, as far as known. Always false where runs may overlap.
  open          boolean not null default false,
  created_at    timestamptz not null,
  ended_at      timestamptz,
  primary key (tenant_id, schedule_id, id)
) with (fillfactor = 70);
create index routing_schedule_runs_unsettled on routing_schedule_runs (tenant_id, schedule_id, id)
  where open or due_at is not null;
