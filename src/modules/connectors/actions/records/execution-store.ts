import { productionKey, type TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { isUlid, ulidMs } from "../../../../platform/ids/ulid.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import type { Execution, ExecutionOrigin, ExecutionStatus } from "../domain/execution.ts";

/** The filter of a list. Empty fields match all. */
export interface ExecutionFilter {
  readonly connectionId: string;
  readonly actionKey: string;
  readonly providerKey: string;
  readonly status: ExecutionStatus | "";
  readonly origin: ExecutionOrigin | "";
  /** Only those with connections of production, or of other environments; undefined for all. */
  readonly inProduction: boolean | undefined;
}

/** The SQL queries that read executions. */
export function executionStore(sql: Sql) {
  const listed = sql`tenant_id, id, action_key, provider_key, manifest_version, connection_id, status, class, code, message,
    attempts, output_omitted, pages_truncated, request, idempotency_key, origin, origin_id, safety, retry_at, started_at,
    ended_at`;
  return {
    async find(tenantId: TenantId, id: string): Promise<Execution | undefined> {
      if (!isUlid(id)) return undefined;
      return sql<Execution[]>`
        select ${listed}, output from connector_executions
        where tenant_id = ${tenantId} and id = ${id} and started_at = ${startedAtOf(id)}`.first();
    },

    /** Lists executions without their outputs. */
    async list(tenantId: TenantId, filter: ExecutionFilter, page: Page): Promise<PageRows<Execution>> {
      const { connectionId, actionKey, providerKey, status, origin, inProduction } = filter;
      const isFiltered =
        inProduction !== undefined || [actionKey, providerKey, status, origin].some((each) => each !== "");
      const byEnvironment =
        inProduction === undefined
          ? sql``
          : sql`and not exists (
              select from connector_connections c
              where c.tenant_id = ${tenantId} and c.id = connection_id
                and (c.environment_key = ${productionKey}) <> ${inProduction})`;
      return readKeyset<Execution>(
        sql,
        {
          ...{ columns: listed, table: "connector_executions", newestFirst: true },
          where: sql`tenant_id = ${tenantId} ${connectionId === "" ? sql`` : sql`and connection_id = ${connectionId}`}`,
          filter: isFiltered
            ? sql`true ${actionKey === "" ? sql`` : sql`and action_key = ${actionKey}`}
                ${providerKey === "" ? sql`` : sql`and provider_key = ${providerKey}`}
                ${status === "" ? sql`` : sql`and status = ${status}`}
                ${origin === "" ? sql`` : sql`and origin = ${origin}`} ${byEnvironment}`
            : undefined,
        },
        page,
      );
    },
  };
}

/** The start of an execution, which its id contains. With it, a query by id reads one partition. */
export function startedAtOf(id: string): Date {
  return new Date(ulidMs(id));
}
