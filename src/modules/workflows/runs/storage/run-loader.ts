import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { Mail } from "../domain/engine/state.ts";
import type { Run } from "../domain/run.ts";

/** A run that has not ended, as stored. */
export interface LiveRun
  extends Pick<Run, "id" | "environmentId" | "definitionId" | "version" | "runKey" | "stateJson" | "revision">,
    Pick<Run, "origin" | "parentRunId" | "createdAt"> {
  readonly tenantId: TenantId;
  readonly shard: number;
  /** The unconsumed events of its mailbox, in order of arrival. */
  readonly mail: readonly Mail[];
}

/** The part of a task that decides whether a report about it is valid. */
export interface LeasedTask {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly runId: string;
  readonly stepKey: string;
  readonly attempt: number;
  readonly leaseToken: string;
}

interface RunRef {
  readonly tenantId: TenantId;
  readonly id: string;
}

/** Reads runs that have not ended; omits others. */
export async function loadRuns(sql: Sql, runs: readonly RunRef[]): Promise<LiveRun[]> {
  return sql<LiveRun[]>`
    select r.tenant_id, r.id, r.environment_id, r.definition_id, r.version, r.run_key, r.state::text as state_json,
      r.revision, r.shard, r.origin, r.parent_run_id, r.created_at,
      case when r.unread = 0 then '[]'::json else (
        select coalesce(json_agg(json_build_object('eventId', m.event_id, 'event', m.event, 'scope', m.scope,
          'payload', m.payload) order by m.revision, m.received_at), '[]'::json)
        from workflow_mailbox m where m.tenant_id = r.tenant_id and m.run_id = r.id and m.consumed_by = ''
      ) end as mail
    from unnest(${runs.map(({ tenantId }) => tenantId)}::text[], ${runs.map(({ id }) => id)}::text[]) as i(tenant_id, id)
    cross join lateral (
      select * from workflow_runs r where r.tenant_id = i.tenant_id and r.id = i.id limit 1) r`;
}

/**
 * Reads leased tasks; omits others. The state is checked after the search by id, so that the plan cannot scan the index of
 * all leased tasks.
 */
export async function loadLeasedTasks(sql: Sql, tasks: readonly RunRef[]): Promise<LeasedTask[]> {
  if (tasks.length === 0) return [];
  return sql<LeasedTask[]>`
    select t.tenant_id, t.id, t.run_id, t.step_key, t.attempt, t.lease_token
    from unnest(${tasks.map(({ tenantId }) => tenantId)}::text[], ${tasks.map(({ id }) => id)}::text[]) as i(tenant_id, id)
    cross join lateral (
      select * from workflow_tasks t where t.tenant_id = i.tenant_id and t.id = i.id limit 1) t
    where t.state = 'leased'`;
}

/** Returns the events among the given ones that were sent to their run before, as `run id:event id`. */
export async function findKnownMail(
  sql: Sql,
  mail: readonly { readonly tenantId: TenantId; readonly runId: string; readonly eventId: string }[],
): Promise<ReadonlySet<string>> {
  if (mail.length === 0) return new Set();
  const rows = await sql<{ runId: string; eventId: string }[]>`
    select m.run_id, m.event_id
    from unnest(${mail.map(({ tenantId }) => tenantId)}::text[], ${mail.map(({ runId }) => runId)}::text[],
      ${mail.map(({ eventId }) => eventId)}::text[]) as i(tenant_id, run_id, event_id)
    cross join lateral (
      select m.run_id, m.event_id from workflow_mailbox m
      where m.tenant_id = i.tenant_id and m.run_id = i.run_id and m.event_id = i.event_id limit 1) m`;
  return new Set(rows.map(({ runId, eventId }) => `${runId}:${eventId}`));
}

/** The step that consumed an event of a run in progress, and the revision that stored it; undefined if there is none. */
export const findConsumed = (sql: Sql, tenantId: TenantId, runId: string, eventId: string) =>
  sql<{ step: string; revision: number }[]>`
    select consumed_by as step, revision from workflow_mailbox
    where tenant_id = ${tenantId} and run_id = ${runId} and event_id = ${eventId}`.first();
