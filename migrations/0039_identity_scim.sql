-- A person that a directory provisions. Each is a member of the tenant.
create table scim_users (
  tenant_id      ulid not null,
  id             ulid not null,
  member_id      ulid not null,
  user_name      text not null,
  external_id    text not null default '',
  active         boolean not null default true,
  -- The attributes as the directory sent them, with the names of the schema.
  attributes     jsonb not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index scim_users_by_name on scim_users (tenant_id, lower(user_name));
create unique index scim_users_by_member on scim_users (tenant_id, member_id);
create index scim_users_by_external_id on scim_users (tenant_id, external_id) where external_id <> '';

-- A group that a directory provisions.
create table scim_groups (
  tenant_id      ulid not null,
  id             ulid not null,
  display_name   text not null,
  external_id    text not null default '',
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index scim_groups_by_name on scim_groups (tenant_id, lower(display_name));
create index scim_groups_by_external_id on scim_groups (tenant_id, external_id) where external_id <> '';

create table scim_group_members (
  tenant_id ulid not null,
  group_id  ulid not null,
  user_id   ulid not null,
  primary key (tenant_id, group_id, user_id)
);
create index scim_group_members_by_user on scim_group_members (tenant_id, user_id);
