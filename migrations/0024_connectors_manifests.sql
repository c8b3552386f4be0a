-- Manifests of tenants: providers as documents. Versions are inserted, deleted and never changed.
create table connector_manifests (
  tenant_id  ulid not null,
  id         ulid not null,
  key        text collate "C" not null,
  version    text not null,
  name       text not null,
  -- As written, with the order of its members.
  document   json not null,
  -- The SHA-256 of the document as canonical JSON.
  digest     text not null,
  source     text not null check (source in ('tenant', 'pack')),
  -- The installed pack that it belongs to; empty for the tenant's own.
  pack_id    text not null,
  created_at timestamptz not null,
  primary key (tenant_id, id)
);
create unique index connector_manifests_version on connector_manifests (tenant_id, key, version);
create index connector_manifests_pack on connector_manifests (tenant_id, pack_id) where pack_id <> '';

create function refuse_manifest_change() returns trigger language plpgsql as $$
begin
  raise exception 'a version of a connector manifest never changes';
end $$;
create trigger connector_manifests_immutable before update on connector_manifests
  for each row execute function refuse_manifest_change();
