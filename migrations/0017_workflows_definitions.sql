-- Workflow definitions with their drafts.
create table workflow_definitions (
  tenant_id      ulid not null,
  id             ulid not null,
  key            text collate "C" not null,
  -- The name in the draft, so that lists need not read the draft.
  name           text not null,
  status         text not null check (status in ('draft', 'published', 'archived')),
  -- As written, with the order of its members.
  draft          json not null,
  draft_digest   text not null,
  -- The version that new runs use, or the last one of an archived definition; 0 before the first.
  active_version integer not null,
  active_digest  text not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index workflow_definitions_key on workflow_definitions (tenant_id, key) where status <> 'archived';
create index workflow_definitions_archived_key on workflow_definitions (tenant_id, key, id) where status = 'archived';

-- Published versions. Rows are inserted and never changed.
create table workflow_definition_versions (
  tenant_id     ulid not null,
  definition_id ulid not null,
  version       integer not null,
  document      json not null,
  -- The SHA-256 of the document as canonical JSON.
  digest        text not null,
  -- The definitions that it runs as subworkflows; version 0 is the active one.
  call_keys     text[] not null,
  call_versions integer[] not null,
  message       text not null,
  published_by  text not null,
  published_at  timestamptz not null,
  primary key (tenant_id, definition_id, version)
);

create function refuse_version_change() returns trigger language plpgsql as $$
begin
  raise exception 'a published version of a workflow definition never changes';
end $$;
create trigger workflow_definition_versions_immutable before update on workflow_definition_versions
  for each row execute function refuse_version_change();
