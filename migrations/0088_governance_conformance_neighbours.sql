-- A run has a second scratch tenant, which tries to reach the records of the first one.
drop index conformance_runs_scratch;
alter table conformance_runs rename column scratch_tenant_id to scratch_tenant_ids;
alter table conformance_runs
  alter column scratch_tenant_ids type text[] using array_remove(array[scratch_tenant_ids::text], null),
  alter column scratch_tenant_ids set default '{}',
  alter column scratch_tenant_ids set not null;
create index conformance_runs_scratch on conformance_runs (ended_at) where scratch_tenant_ids <> '{}';
