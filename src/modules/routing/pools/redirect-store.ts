import type { TenantId } from "../../../platform/access/index.ts";
import { lockFor, type Sql } from "../../../platform/db/index.ts";

/** One pool can redirect items to another, through its fallback or a rule. */
export interface Redirect {
  readonly fromId: string;
  readonly fromName: string;
  readonly toId: string;
}

/** Lists all redirects of a tenant. Concurrent changes of redirects wait until the transaction ends. */
export async function lockRedirects(tx: Sql, tenantId: TenantId): Promise<Redirect[]> {
  const [, redirects] = await Promise.all([
    lockFor(tx, "pool_redirects", tenantId),
    tx<Redirect[]>`
      select p.id as from_id, p.name as from_name, p.config -> 'fallback' ->> 'redirectPoolId' as to_id from pools p
      where p.tenant_id = ${tenantId} and p.status <> 'archived'
        and coalesce(p.config -> 'fallback' ->> 'redirectPoolId', '') <> ''
      union
      select p.id, p.name, r.action ->> 'poolId' from rules r
      join pools p on p.tenant_id = r.tenant_id and p.id = r.pool_id and p.status <> 'archived'
      where r.tenant_id = ${tenantId} and r.action ->> 'type' = 'redirect_pool'`,
  ]);
  return redirects;
}
