-- External workers that poll for tasks. A row is written every few seconds at most; it is a hint and not a lease.
create table workflow_workers (
  tenant_id ulid not null,
  environment_id ulid not null,
  queue text not null,
  worker_id text not null,
  build_id text not null,
  protocol integer not null,
  -- A list of {type, versions}. An empty list of versions is any version.
  capabilities json not null,
  first_seen_at timestamptz not null,
  seen_at timestamptz not null,
  primary key (tenant_id, environment_id, queue, worker_id)
) with (fillfactor = 50);
