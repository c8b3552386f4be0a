import type { Sql } from "../../../../platform/db/index.ts";
import { claimBatch, type IdempotencyRecord } from "../../../../platform/idempotency/index.ts";
import type { Execution } from "../domain/execution.ts";
import { startedAtOf } from "./execution-store.ts";

/** An execution that is about to start. */
export interface NewExecution
  extends Pick<Execution, "tenantId" | "id" | "actionKey" | "providerKey" | "manifestVersion" | "connectionId">,
    Pick<Execution, "request" | "idempotencyKey" | "origin" | "originId" | "safety"> {
  /** The scope of the provider's limit. */
  readonly limitScope: string;
  /** How long the node has to store the outcome. */
  readonly leaseMs: number;
}

/** An execution with the idempotency record of its call. */
export interface Beginning {
  readonly execution: NewExecution;
  readonly record: IdempotencyRecord | undefined;
}

/** The stored beginning of an execution. */
interface StoredBeginning {
  /** The time until which the provider accepts no requests. */
  readonly blockedUntilMs: number;
  /** Whether the connection is revoked; this node may not know yet. */
  readonly isRevoked: boolean;
}

/** The stored beginning, or that its idempotency key was used. */
export type Begun = StoredBeginning | "duplicate";

/** Stores executions as running, with their idempotency records, in one statement. */
export async function insertExecutions(sql: Sql, beginnings: readonly Beginning[]): Promise<readonly Begun[]> {
  const rows = beginnings.map(({ execution, record }, at) => ({
    batch_index: at,
    tenant_id: execution.tenantId,
    id: execution.id,
    action_key: execution.actionKey,
    provider_key: execution.providerKey,
    manifest_version: execution.manifestVersion,
    connection_id: execution.connectionId,
    request: execution.request,
    idempotency_key: execution.idempotencyKey,
    origin: execution.origin,
    origin_id: execution.originId,
    safety: execution.safety,
    claim_principal: record?.principal ?? "",
    claim_key: record?.key ?? "",
    started_at: startedAtOf(execution.id),
    lease_ms: execution.leaseMs,
    scope: execution.limitScope,
  }));
  const records = beginnings.flatMap(({ record }, batchIndex) =>
    record === undefined ? [] : [{ batchIndex, record }],
  );
  const isKeyed = records.length > 0;
  const begun = await sql<(StoredBeginning & { readonly batchIndex: number })[]>`
    with ${isKeyed ? sql`${claimBatch(sql, records)},` : sql``} input as (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as input(
        batch_index int, tenant_id text, id text, action_key text, provider_key text, manifest_version text,
        connection_id text, request json, idempotency_key text, origin text, origin_id text, safety text,
        claim_principal text, claim_key text, started_at timestamptz, lease_ms float8, scope text)
      ${isKeyed ? sql`where batch_index not in (select batch_index from refused)` : sql``}
    ), inserted as (
      insert into connector_executions (tenant_id, id, action_key, provider_key, manifest_version, connection_id, status,
        request, idempotency_key, origin, origin_id, safety, claim_principal, claim_key, started_at, lease_until)
      select tenant_id, id, action_key, provider_key, manifest_version, connection_id, 'running', request,
        idempotency_key, origin, origin_id, safety, claim_principal, claim_key, started_at,
        now() + make_interval(secs => lease_ms / 1000)
      from input
    )
    select input.batch_index, coalesce(extract(epoch from blocked_until) * 1000, 0)::float8 as blocked_until_ms,
      coalesce(connection.status = 'revoked', false) as is_revoked
    from input left join connector_rate_limits blocked
      on blocked.tenant_id = input.tenant_id and blocked.scope = input.scope and blocked.blocked_until > now()
    left join connector_connections connection
      on connection.tenant_id = input.tenant_id and connection.id = input.connection_id`;
  const byIndex = new Map(begun.map(({ batchIndex, ...stored }) => [batchIndex, stored]));
  return beginnings.map((_, at) => byIndex.get(at) ?? "duplicate");
}
