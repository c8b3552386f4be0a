import type { EnvironmentMode, TenantId } from "../../../platform/access/index.ts";
import { recordRows, type Sql } from "../../../platform/db/index.ts";
import { lowestUlid } from "../../../platform/ids/ulid.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import { inUsablePools } from "../pools/index.ts";
import type { Anomaly, AnomalyMetric } from "./domain/anomaly.ts";
import type { RecipientCounts, Topic } from "./domain/response.ts";

/** Filter of an anomaly list; empty strings select all. */
export interface AnomalyFilter {
  readonly environmentMode: EnvironmentMode;
  readonly poolId: string;
  readonly recipientId: string;
  readonly method: string;
  /** The id or key of an environment. */
  readonly environmentId: string;
}

/** SQL queries for anomalies and for the actions taken. */
export function anomalyStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, pool_id, recipient_id, method, metric, value, baseline, threshold, actions, detected_at`;

  return {
    async insert(anomalies: readonly Anomaly[]): Promise<void> {
      await sql`insert into anomalies (${columns}) select ${columns} from ${recordRows(sql, "anomalies", anomalies)}`;
    },

    find: (tenantId: TenantId, id: string, environmentMode: EnvironmentMode) =>
      sql<Anomaly[]>`
        select ${columns} from anomalies where tenant_id = ${tenantId} and id = ${id}
          and ${inUsablePools(sql, tenantId, { environmentMode }) ?? sql`true`}`.first(),

    async list(tenantId: TenantId, filter: AnomalyFilter, page: Page): Promise<PageRows<Anomaly>> {
      const { environmentMode, poolId, recipientId, method, environmentId } = filter;
      const usable = inUsablePools(sql, tenantId, { environmentMode }, environmentId);
      const where = sql`tenant_id = ${tenantId} ${poolId === "" ? sql`` : sql`and pool_id = ${poolId}`}`;
      const conditions = sql`${usable ?? sql`true`}
        ${recipientId === "" ? sql`` : sql`and recipient_id = ${recipientId}`}
        ${method === "" ? sql`` : sql`and method = ${method}`}`;
      const isFiltered = usable !== undefined || recipientId !== "" || method !== "";
      const selection = { columns, table: "anomalies", where, filter: isFiltered ? conditions : undefined };
      return readKeyset<Anomaly>(sql, { ...selection, newestFirst: true }, page);
    },

    /** Locks the pool; concurrent scans and changes of the pool wait until the transaction ends. */
    async lockPool(tenantId: TenantId, poolId: string): Promise<void> {
      await sql`select from pools where tenant_id = ${tenantId} and id = ${poolId} for update`;
    },

    /** Lists the topics reported for a pool since a time. */
    async reportedSince(tenantId: TenantId, poolId: string, since: Date): Promise<Topic[]> {
      return sql<{ recipientId: string; metric: AnomalyMetric }[]>`
        select distinct recipient_id, metric from anomalies
        where tenant_id = ${tenantId} and pool_id = ${poolId} and id >= ${lowestUlid(since.getTime())}
          and detected_at > ${since}`;
    },

    /** Counts the active recipients of a pool, and those that an anomaly paused and that are still paused. */
    async countRecipients(tenantId: TenantId, poolId: string): Promise<RecipientCounts> {
      const [row] = await sql<RecipientCounts[]>`
        select count(*) filter (where r.status = 'active') as active,
          count(*) filter (where r.status = 'paused' and p.cause = 'anomaly') as auto_paused
        from recipients r
        left join recipient_pauses p on p.tenant_id = r.tenant_id and p.recipient_id = r.id
        where r.tenant_id = ${tenantId} and r.pool_id = ${poolId} and r.status <> 'removed'`;
      return row!;
    },

    /** Deprioritizes recipients until a time; a later existing deadline is kept. */
    async deprioritize(tenantId: TenantId, poolId: string, recipientIds: readonly string[], until: Date, now: Date) {
      await sql`
        insert into recipient_states (tenant_id, pool_id, recipient_id, deprioritized_until, updated_at)
        select ${tenantId}, ${poolId}, id, ${until}, ${now}
        from unnest(${recipientIds as string[]}::text[]) as recipient(id) order by id collate "C"
        on conflict (tenant_id, pool_id, recipient_id) do update set updated_at = excluded.updated_at,
          deprioritized_until = greatest(recipient_states.deprioritized_until, excluded.deprioritized_until)`;
    },
  };
}
