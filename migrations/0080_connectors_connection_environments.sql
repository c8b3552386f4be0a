-- A connection belongs to an environment: that of its provider config, or else production.
alter table connector_connections
  add column environment_id ulid,
  add column environment_key text;
update connector_connections c set environment_id = p.environment_id, environment_key = p.environment_key
from connector_provider_configs p
where p.tenant_id = c.tenant_id and p.id = c.provider_config_id;
update connector_connections c set environment_id = e.id, environment_key = e.key
from environments e
where e.tenant_id = c.tenant_id and e.key = 'production' and c.environment_id is null;
alter table connector_connections
  alter column environment_id set not null,
  alter column environment_key set not null;
