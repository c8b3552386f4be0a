import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import { type CompactEvidence, type Evidence, expandEvidence } from "../domain/evidence.ts";

/** A decision as it is kept. */
export interface StoredDecision {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly poolId: string;
  readonly type: string;
  readonly key: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly requirements: Readonly<Record<string, unknown>>;
  readonly priority: number;
  readonly outcome: string;
  readonly recipientId: string;
  readonly snapshotDigest: Buffer;
  readonly seed: number;
  readonly evidence: CompactEvidence;
  /** Whether work was put on a queue for it. */
  readonly queued: boolean;
}

/** A decision with whom its work has come to since. */
export interface FoundDecision extends StoredDecision {
  /** Whoever has or had the work last; whoever was chosen where there is none. */
  readonly heldBy: string;
}

/** All that is known of a decision, also what its row tells otherwise. */
export function evidenceOf({ id, outcome, recipientId, priority, evidence }: StoredDecision): Evidence {
  return expandEvidence(evidence, { madeAtMs: ulidMs(id), outcome, recipientId, priority });
}

/** What is listed. */
export interface DecisionFilter {
  readonly poolId: string;
  readonly outcome: string;
  readonly recipientId: string;
  /** Undefined for all; otherwise whether the pools are to be those of production or those of the other environments. */
  readonly production: boolean | undefined;
}

/** The SQL of decisions. */
export function decisionStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, pool_id, type, key, attributes, requirements, priority, outcome, recipient_id, snapshot_digest, seed,
    evidence, exists (select from queue_items q where q.tenant_id = decisions.tenant_id and q.id = decisions.id
      and q.delivery <> 'none') as queued`;
  return {
    async find(tenantId: TenantId, id: string): Promise<FoundDecision | undefined> {
      const [row] = await sql<FoundDecision[]>`
        select ${columns}, coalesce((select nullif(q.recipient_id, '') from queue_items q
          where q.tenant_id = decisions.tenant_id and q.id = decisions.id), recipient_id) as held_by
        from decisions where tenant_id = ${tenantId} and id = ${id}`;
      return row;
    },

    async list(tenantId: TenantId, filter: DecisionFilter, page: Page): Promise<PageRows<StoredDecision>> {
      const where = sql`tenant_id = ${tenantId}`;
      const conditions = sql`true
        ${filter.poolId === "" ? sql`` : sql`and pool_id = ${filter.poolId}`}
        ${filter.outcome === "" ? sql`` : sql`and outcome = ${filter.outcome}`}
        ${filter.recipientId === "" ? sql`` : sql`and recipient_id = ${filter.recipientId}`}
        ${
          filter.production === undefined
            ? sql``
            : sql`and pool_id in (
                select p.id from pools p join environments e on e.tenant_id = p.tenant_id and e.id = p.environment_id
                where p.tenant_id = ${tenantId} and (e.key = 'production') = ${filter.production})`
        }`;
      const isFiltered = Object.values(filter).some((value) => value !== "" && value !== undefined);
      const selection = { columns, table: "decisions", where, filter: isFiltered ? conditions : undefined };
      return readKeyset<StoredDecision>(sql, { ...selection, newestFirst: true }, page);
    },
  };
}

/** The tenants that have decisions below an id. */
export async function tenantsWithDecisions(sql: Sql, below: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select t.id from tenants t
    where exists (select from decisions d where d.tenant_id = t.id and d.id < ${below})
      or exists (select from outcomes o where o.tenant_id = t.id and o.decision_id < ${below})`;
  return rows.map(({ id }) => id);
}

/** Removes decisions whose work is gone or never was, a bite at a time. */
export async function forgetDecisions(sql: Sql, tenantId: TenantId, below: string, limit: number): Promise<number> {
  const gone = await sql`
    delete from decisions where ctid = any(array(
      select ctid from decisions d where d.tenant_id = ${tenantId} and d.id < ${below}
        and not exists (select from queue_items q where q.tenant_id = d.tenant_id and q.id = d.id)
      order by d.id limit ${limit}))`;
  return gone.count;
}
