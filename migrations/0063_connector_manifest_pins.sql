-- The version of the provider's manifest whose actions the connections of a provider config execute; the newest if empty.
alter table connector_provider_configs add column manifest_version text not null default '';
