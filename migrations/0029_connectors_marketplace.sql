-- Public keys of publishers that a tenant trusts. Publishers belong to a tenant: two tenants may use the same name.
create table marketplace_publisher_keys (
  tenant_id     ulid not null,
  -- Derived from the key.
  id            text collate "C" not null,
  publisher     text collate "C" not null,
  -- The 32 bytes of the Ed25519 key, as base64.
  public_key    text not null,
  status        text not null check (status in ('active', 'revoked')),
  revoke_reason text not null default '',
  created_at    timestamptz not null,
  revoked_at    timestamptz,
  primary key (tenant_id, id)
);

-- Packs that a tenant published, described by their newest version that is not yanked. Built-in packs are files.
create table marketplace_packs (
  tenant_id      ulid not null,
  publisher      text collate "C" not null,
  name           text collate "C" not null,
  kind           text not null check (kind in ('connector', 'workflow', 'notification', 'rules')),
  latest_version text not null,
  title          text not null,
  description    text not null,
  tags           text[] not null,
  deprecated_by  text not null default '',
  -- All versions are yanked: the pack is not listed.
  yanked         boolean not null default false,
  -- What lists show of the version: the pack without its contents.
  summary        json not null,
  search         tsvector not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (tenant_id, publisher, name)
);
create index marketplace_packs_search on marketplace_packs using gin (search);

-- Versions of packs. The document never changes.
create table marketplace_pack_versions (
  tenant_id    ulid not null,
  publisher    text collate "C" not null,
  name         text collate "C" not null,
  version      text collate "C" not null,
  -- The signed part, as it was published.
  document     json not null,
  digest       text not null,
  signature    text not null,
  key_id       text not null,
  yanked       boolean not null default false,
  yank_reason  text not null default '',
  published_by text not null,
  published_at timestamptz not null,
  primary key (tenant_id, publisher, name, version)
);

create table marketplace_installations (
  tenant_id      ulid not null,
  id             ulid not null,
  publisher      text collate "C" not null,
  name           text collate "C" not null,
  kind           text not null,
  version        text not null,
  digest         text not null,
  -- The signed document that is installed: the base of the next upgrade, even if the version disappears.
  document       json not null,
  slots          jsonb not null,
  -- The change that led to this state.
  change_id      ulid not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index marketplace_installations_pack on marketplace_installations (tenant_id, publisher, name);

-- The records of an installation, in the order of the pack.
create table marketplace_installation_records (
  tenant_id       ulid not null,
  installation_id ulid not null,
  key             text collate "C" not null,
  position        integer not null,
  kind            text not null,
  record_id       text collate "C" not null,
  -- What the pack wrote, in normal form. The difference to the record is what the tenant changed.
  base            json not null,
  primary key (tenant_id, installation_id, key)
);
create index marketplace_installation_records_id on marketplace_installation_records (tenant_id, kind, record_id);

-- The log of installations. Rows are inserted and never changed.
create table marketplace_installation_changes (
  tenant_id       ulid not null,
  id              ulid not null,
  installation_id ulid not null,
  operation       text not null check (operation in ('install', 'upgrade', 'rollback', 'uninstall')),
  from_version    text not null,
  to_version      text not null,
  actor           text not null,
  -- The rows before and after an upgrade, from which a rollback restores them.
  images          json,
  created_at      timestamptz not null,
  primary key (tenant_id, id)
);
create index marketplace_installation_changes_of on marketplace_installation_changes (tenant_id, installation_id, id);

-- Versions of workflow definitions that a rollback withdrew. Runs that started on them finish; nothing else reads them, and
-- their numbers are not used again.
create table workflow_withdrawn_versions (
  tenant_id     ulid not null,
  definition_id ulid not null,
  version       integer not null,
  key           text collate "C" not null,
  document      json not null,
  digest        text not null,
  withdrawn_at  timestamptz not null,
  primary key (tenant_id, definition_id, version)
);
