-- Members have the same ceiling as keys: where they may work, and until when.
alter table members
  add column environment_mode text not null default 'any'
    check (environment_mode in ('any', 'production_only', 'non_production_only')),
  add column expires_at timestamptz;

-- An endpoint gets the events that whoever created it may read.
alter table webhook_endpoints
  add column environment_mode text not null default 'any'
    check (environment_mode in ('any', 'production_only', 'non_production_only'));

-- The environment of the record that an event is about; null where the record belongs to none.
alter table events
  add column environment_id ulid,
  -- An environment's key never changes: kept here, it tells without a look at environments who may read the event.
  add column in_production boolean;

update events set environment_id = environments.id, in_production = environments.key = 'production'
from pools join environments on environments.tenant_id = pools.tenant_id and environments.id = pools.environment_id
where pools.tenant_id = events.tenant_id
  and pools.id = coalesce(events.data ->> 'pool_id', events.subject)
  and split_part(events.type, '.', 1) in
    ('pool', 'recipient', 'rule', 'route', 'queue', 'admission', 'dead_letter', 'anomaly');

update events set environment_id = environments.id, in_production = environments.key = 'production'
from environments
where environments.tenant_id = events.tenant_id and environments.id = events.subject
  and split_part(events.type, '.', 1) = 'environment';
