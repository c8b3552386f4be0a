-- Who is behind a key: the first creator in its chain of keys; empty if that is nobody of the tenant.
alter table api_keys
  add column owner text not null default '',
  -- Roles that only the owner's token had when the first key of the chain was created.
  add column token_roles text[] not null default '{}';

with recursive chain as (
  select tenant_id, id, created_by as owner from api_keys
  where created_by not like 'key:%' and created_by <> 'bootstrap'
  union all
  select api_keys.tenant_id, api_keys.id, chain.owner
  from chain join api_keys on api_keys.tenant_id = chain.tenant_id and api_keys.created_by = 'key:' || chain.id
)
update api_keys set owner = chain.owner
from chain where api_keys.tenant_id = chain.tenant_id and api_keys.id = chain.id;

create index api_keys_by_owner on api_keys (tenant_id, owner) where owner <> '';

alter table members
  -- Roles through the groups that identity providers named at the last sign-in.
  add column session_roles text[] not null default '{}',
  -- Tokens that were issued until then are refused.
  add column signed_out_at timestamptz;

-- The groups of the last sign-in with the account.
alter table sso_accounts add column groups text[] not null default '{}';
