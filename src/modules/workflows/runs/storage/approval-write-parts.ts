import { type Fragment, hasKey, type Sql } from "../../../../platform/db/index.ts";
import { partsOf, type RunWrite } from "./run-write.ts";

const stepKey = ["tenant_id", "run_id", "step_key"];

/** Inserts the approvals that runs start to wait for. Nothing without them. */
export function insertApprovals(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const approvals = partsOf(writes, ({ newApprovals }) => newApprovals);
  if (approvals.length === 0) return sql``;
  return sql`, approvals as (
      insert into workflow_approvals (tenant_id, id, run_id, step_key, environment_id, environment_key, definition_id,
        definition_key, run_key, title, details, approvers, quorum, comment_required, decisions, decided_by, opened_at,
        due_at)
      select n.tenant_id, n.id, n.run_id, n.step_key, n.environment_id, n.environment_key, n.definition_id,
        n.definition_key, n.run_key, n.title, n.details::json, array(select json_array_elements_text(n.approvers::json)),
        n.quorum, n.comment_required, n.decisions::json, array(select json_array_elements_text(n.decided_by::json)),
        to_timestamp(n.opened_at_ms / 1000), to_timestamp(n.due_at_ms / 1000)
      from unnest(${approvals.map(({ nth }) => nth)}::int[], ${approvals.map(({ write }) => write.tenantId)}::text[],
        ${approvals.map(({ part }) => part.id)}::text[], ${approvals.map(({ write }) => write.id)}::text[],
        ${approvals.map(({ part }) => part.stepKey)}::text[],
        ${approvals.map(({ write }) => write.environmentId)}::text[],
        ${approvals.map(({ part }) => part.environmentKey)}::text[],
        ${approvals.map(({ part }) => part.definitionId)}::text[],
        ${approvals.map(({ part }) => part.definitionKey)}::text[],
        ${approvals.map(({ part }) => part.runKey)}::text[], ${approvals.map(({ part }) => part.title)}::text[],
        ${approvals.map(({ part }) => part.detailsJson ?? null)}::text[],
        ${approvals.map(({ part }) => JSON.stringify(part.by))}::text[],
        ${approvals.map(({ part }) => part.quorum)}::int[],
        ${approvals.map(({ part }) => part.commentRequired)}::boolean[],
        ${approvals.map(({ part }) => part.decisionsJson)}::text[],
        ${approvals.map(({ part }) => JSON.stringify(part.decidedBy))}::text[],
        ${approvals.map(({ part }) => part.openedAtMs)}::float8[], ${approvals.map(({ part }) => part.dueAtMs)}::float8[])
        as n(nth, tenant_id, id, run_id, step_key, environment_id, environment_key, definition_id, definition_key, run_key,
          title, details, approvers, quorum, comment_required, decisions, decided_by, opened_at_ms, due_at_ms)
      where n.nth not in (select nth from lost)
    )`;
}

/** Stores the decisions on approvals that stay open. */
export function updateApprovals(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const decided = partsOf(writes, ({ decidedApprovals }) => decidedApprovals);
  if (decided.length === 0) return sql``;
  return sql`, decided_approvals as (
      update workflow_approvals p
      set decisions = n.decisions::json, decided_by = array(select json_array_elements_text(n.decided_by::json))
      from (
        select * from unnest(${decided.map(({ nth }) => nth)}::int[], ${decided.map(({ write }) => write.tenantId)}::text[],
          ${decided.map(({ write }) => write.id)}::text[], ${decided.map(({ part }) => part.stepKey)}::text[],
          ${decided.map(({ part }) => part.decisionsJson)}::text[],
          ${decided.map(({ part }) => JSON.stringify(part.decidedBy))}::text[])
          as n(nth, tenant_id, run_id, step_key, decisions, decided_by)
        where n.nth not in (select nth from lost) offset 0
      ) n
      where ${hasKey(sql, "p", "n", stepKey)}
    )`;
}

/** Deletes the approvals that runs no longer wait for. */
export function deleteApprovals(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const closed = partsOf(writes, ({ closedApprovals }) => closedApprovals);
  if (closed.length === 0) return sql``;
  return sql`, closed_approvals as (
      delete from workflow_approvals p using (
        select * from unnest(${closed.map(({ nth }) => nth)}::int[], ${closed.map(({ write }) => write.tenantId)}::text[],
          ${closed.map(({ write }) => write.id)}::text[], ${closed.map(({ part }) => part)}::text[])
          as n(nth, tenant_id, run_id, step_key)
        where n.nth not in (select nth from lost) offset 0
      ) n
      where ${hasKey(sql, "p", "n", stepKey)}
    )`;
}
