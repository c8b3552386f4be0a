-- Heartbeats of the sources of health reports, and the state of dependencies, as each node sees them. They belong to the
-- instance and not to a tenant. Rows of nodes that are gone are deleted by the others.
create table health_observations (
  kind        text not null check (kind in ('source', 'dependency')),
  name        text not null,
  node_id     text not null,
  -- The health rules classify it. A node of a later version may store other states.
  state       text not null,
  observed_at timestamptz not null,
  -- The time by the clock of the node.
  node_clock  timestamptz not null,
  primary key (kind, name, node_id)
) with (fillfactor = 50);

-- For the number of runs that ended in a time, by status.
create index workflow_run_archive_ended on workflow_run_archive (tenant_id, environment_id, ended_at) include (status);
