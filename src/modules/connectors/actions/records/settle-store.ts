import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { IdempotencyRecord } from "../../../../platform/idempotency/index.ts";
import { type ExecutionOutcome, nodeLostCode, storedOutputBytesMax } from "../domain/execution.ts";
import { startedAtOf } from "./execution-store.ts";

/** The outcome of an execution, to be stored. */
export interface Settlement {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly outcome: ExecutionOutcome;
  readonly endedAtMs: number;
  /** The limit that the provider's answer sets; undefined if it sets none. */
  readonly limit: { readonly scope: string; readonly untilMs: number } | undefined;
  /** The final response, to be stored under the idempotency key of the call. */
  readonly record: IdempotencyRecord | undefined;
  /** Whether the idempotency key is freed, so that the call can be repeated. */
  readonly releasesKey: boolean;
}

/** The JSON of an output that is stored; undefined without an output, and for one that is too large. */
export function storedOutput(output: ExecutionOutcome["output"]): { json: string | undefined; omitted: boolean } {
  if (output === undefined) return { json: undefined, omitted: false };
  const json = JSON.stringify(output);
  const omitted = Buffer.byteLength(json) > storedOutputBytesMax;
  return { json: omitted ? undefined : json, omitted };
}

/**
 * Stores outcomes with the final responses of their calls and the limits of providers; returns the ids of the executions.
 * An execution that was given up because its node seemed dead gets its true outcome, too.
 */
export async function settleExecutions(sql: Sql, settlements: readonly Settlement[]): Promise<ReadonlySet<string>> {
  const rows = settlements.map(({ tenantId, id, outcome, endedAtMs, limit, record, releasesKey }) => {
    const { json, omitted } = storedOutput(outcome.output);
    return {
      ...{ tenant_id: tenantId, id, started_at: startedAtOf(id), ended_at: new Date(endedAtMs) },
      ...{ status: outcome.status, class: outcome.class, code: outcome.code, message: outcome.message },
      ...{ attempts: outcome.attempts, output: json, output_omitted: omitted, pages_truncated: outcome.pagesTruncated },
      ...{ retry_at: outcome.retryAtMs === undefined ? null : new Date(outcome.retryAtMs) },
      ...{ scope: limit?.scope ?? null, blocked_until: limit === undefined ? null : new Date(limit.untilMs) },
      ...{ principal: record?.principal ?? null, operation: record?.operation ?? null, key: record?.key ?? null },
      response: releasesKey ? null : (record?.response ?? null),
    };
  });
  // Rows are locked in the order of their ids, because batches of other nodes may contain the same limits and records.
  const input = rows.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const settled = await sql<{ id: string }[]>`
    with input as materialized (
      select * from json_to_recordset(${JSON.stringify(input)}::text::json) as input(
        tenant_id text, id text, started_at timestamptz, ended_at timestamptz, status text, class text, code text,
        message text, attempts json, output text, output_omitted boolean, pages_truncated boolean, retry_at timestamptz,
        scope text, blocked_until timestamptz, principal text, operation text, key text, response text)
    ), settled as (
      update connector_executions execution set status = input.status, class = input.class, code = input.code,
        message = input.message, attempts = input.attempts, output = input.output::json,
        output_omitted = input.output_omitted, pages_truncated = input.pages_truncated, retry_at = input.retry_at,
        ended_at = input.ended_at, lease_until = null
      from input
      where execution.tenant_id = input.tenant_id and execution.id = input.id
        and execution.started_at = input.started_at
        and (execution.status = 'running' or execution.code = ${nodeLostCode})
      returning execution.id
    ), revised as (
      update idempotency_records stored set response = input.response from input
      where input.response is not null
        and (stored.tenant_id, stored.principal, stored.operation, stored.key)
          = (input.tenant_id, input.principal, input.operation, input.key)
        and input.id in (select id from settled)
    ), released as (
      delete from idempotency_records stored using input
      where input.response is null and input.key is not null
        and (stored.tenant_id, stored.principal, stored.operation, stored.key)
          = (input.tenant_id, input.principal, input.operation, input.key)
        and input.id in (select id from settled)
    ), limited as (
      insert into connector_rate_limits as stored (tenant_id, scope, blocked_until)
      select tenant_id, scope, max(blocked_until) from input where scope is not null
      group by tenant_id, scope order by tenant_id, scope
      on conflict (tenant_id, scope) do update set blocked_until = excluded.blocked_until
      where stored.blocked_until < excluded.blocked_until
    )
    select id from settled`;
  return new Set(settled.map(({ id }) => id));
}
