import type { NextDue, Sql } from "../../../../platform/db/index.ts";
import { type Execution, nodeLostCode } from "../domain/execution.ts";
import { rawActionKey } from "../execution/raw-request.ts";

/** The operations that execute actions, and raw requests. */
export interface AbandonedOperations {
  readonly action: string;
  readonly raw: string;
}

/** An execution that was given up. */
export type AbandonedExecution = Pick<
  Execution,
  | "tenantId"
  | "id"
  | "actionKey"
  | "providerKey"
  | "connectionId"
  | "origin"
  | "originId"
  | "status"
  | "class"
  | "code"
  | "startedAt"
>;

/**
 * Ends executions whose node did not store the outcome in time. A read has failed. Of a change nobody knows whether it was
 * performed. The idempotency record of a call that may be repeated is deleted, so that a repeat executes it again.
 */
export async function endAbandoned(
  sql: Sql,
  { action, raw }: AbandonedOperations,
  limit: number,
): Promise<AbandonedExecution[]> {
  return sql<AbandonedExecution[]>`
    with abandoned as (
      select tenant_id, id, started_at from connector_executions
      where status = 'running' and lease_until < now() order by lease_until limit ${limit} for update skip locked
    ), ended as (
      update connector_executions execution set
        status = case when safety = 'read' then 'failed' else 'outcome_unknown' end,
        class = 'unavailable', code = ${nodeLostCode}, ended_at = now(), lease_until = null,
        message = case when safety = 'read' then 'The node stopped while it executed the action.'
          else 'The node stopped while it executed the action: it is unknown whether the provider performed it.' end
      from abandoned
      where execution.tenant_id = abandoned.tenant_id and execution.id = abandoned.id
        and execution.started_at = abandoned.started_at
      returning execution.*
    ), released as (
      delete from idempotency_records stored using ended
      where ended.safety <> 'once' and ended.claim_key <> ''
        and (stored.tenant_id, stored.principal, stored.operation, stored.key)
          = (ended.tenant_id, ended.claim_principal,
            case when ended.action_key = ended.provider_key || ${rawActionKey("")} then ${raw}::text else ${action}::text end, ended.claim_key)
    )
    select tenant_id, id, action_key, provider_key, connection_id, origin, origin_id, status, class, code, started_at
    from ended`;
}

/** When the next lease of an execution or the next limit ends. */
export const nextEnd: NextDue = (sql) => sql`
  select least((select min(lease_until) from connector_executions where status = 'running'),
    (select min(blocked_until) from connector_rate_limits))`;

/** Deletes limits that have ended; returns their number. */
export async function deleteEndedLimits(sql: Sql, limit: number): Promise<number> {
  const deleted = await sql`
    delete from connector_rate_limits where (tenant_id, scope) in (
      select tenant_id, scope from connector_rate_limits where blocked_until < now() order by blocked_until limit ${limit}
      for update skip locked)`;
  return deleted.count;
}
