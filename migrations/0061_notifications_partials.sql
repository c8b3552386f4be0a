-- Partials: pieces of templates that workflows, layouts and other partials include.

create table notification_partials (
  tenant_id      ulid not null,
  key            text collate "C" not null,
  description    text not null,
  engine         text not null check (engine in ('handlebars', 'liquid')),
  body           text not null,
  -- The partials that it includes.
  includes       text[] not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, key)
);
