import type { EnvironmentMode, TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import { inUsablePools } from "../../pools/index.ts";
import { type CompactEvidence, type Evidence, expandEvidence } from "../domain/evidence.ts";
import type { RoutableItem } from "../domain/item.ts";

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
  /** Whether the item was queued. */
  readonly queued: boolean;
}

/** A decision with the current recipient of its item. */
export interface FoundDecision extends StoredDecision {
  /** The current or last recipient of the item; the chosen recipient when there is no item. */
  readonly heldBy: string;
}

/** The complete evidence of a decision, including the values that are stored in other columns. */
export function evidenceOf({ id, outcome, recipientId, priority, evidence }: StoredDecision): Evidence {
  return expandEvidence(evidence, { madeAtMs: ulidMs(id), outcome, recipientId, priority });
}

/** What is stored of an item that rules see. */
type StoredItem = Pick<StoredDecision, "type" | "key" | "attributes" | "requirements" | "priority">;

/** An item, as rules see it. */
export function itemOf({ type, key, attributes, requirements, priority }: StoredItem): RoutableItem {
  return { type, key, attributes, requirements: requirements as unknown as RoutableItem["requirements"], priority };
}

export interface DecisionFilter {
  readonly poolId: string;
  readonly outcome: string;
  readonly recipientId: string;
  readonly key: string;
  /** The id or key of an environment; empty for all. */
  readonly environmentId: string;
  /** The environments that the caller may use. */
  readonly environmentMode: EnvironmentMode;
}

export function decisionStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, pool_id, type, key, attributes, requirements, priority, outcome, recipient_id, snapshot_digest, seed,
    evidence, queued`;
  return {
    find: (tenantId: TenantId, id: string) =>
      sql<FoundDecision[]>`
        select ${columns}, held_by from decisions where tenant_id = ${tenantId} and id = ${id}`.first(),

    async list(tenantId: TenantId, filter: DecisionFilter, page: Page): Promise<PageRows<StoredDecision>> {
      const where = sql`tenant_id = ${tenantId}`;
      const usable = inUsablePools(sql, tenantId, filter, filter.environmentId);
      const conditions = sql`${usable ?? sql`true`}
        ${filter.poolId === "" ? sql`` : sql`and pool_id = ${filter.poolId}`}
        ${filter.outcome === "" ? sql`` : sql`and outcome = ${filter.outcome}`}
        ${filter.recipientId === "" ? sql`` : sql`and recipient_id = ${filter.recipientId}`}
        ${filter.key === "" ? sql`` : sql`and key = ${filter.key}`}`;
      const { poolId, outcome, recipientId, key } = filter;
      const isFiltered = usable !== undefined || [poolId, outcome, recipientId, key].some((each) => each !== "");
      const selection = { columns, table: "decisions", where, filter: isFiltered ? conditions : undefined };
      return readKeyset<StoredDecision>(sql, { ...selection, newestFirst: true }, page);
    },
  };
}
