import type { EnvironmentMode, TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import type { Decision } from "../domain/engine/state.ts";

/** An approval that a run waits for. */
export interface Approval {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly runId: string;
  readonly stepKey: string;
  readonly environmentId: string;
  readonly definitionId: string;
  readonly definitionKey: string;
  readonly runKey: string;
  readonly title: string;
  /** As JSON; null if they are too large to be listed. */
  readonly detailsJson: string | null;
  readonly approvers: readonly string[];
  readonly quorum: number;
  readonly commentRequired: boolean;
  readonly decisions: readonly Decision[];
  readonly openedAt: Date;
  readonly dueAt: Date;
  readonly paused: boolean;
}

/** The filter of approvals. Empty fields match all. */
export interface ApprovalFilter {
  readonly definitionId: string;
  readonly environmentId: string;
  /** The environments that the caller may see. */
  readonly mode: EnvironmentMode;
  /** Only those that this caller can decide; undefined for all. */
  readonly decider: { readonly subject: string; readonly roles: readonly string[] } | undefined;
}

/** Reads a page of open approvals, the oldest first. */
export async function listApprovals(
  sql: Sql,
  tenantId: TenantId,
  { definitionId, environmentId, mode, decider }: ApprovalFilter,
  page: Page,
): Promise<PageRows<Approval>> {
  // Pausing a run does not change its approvals, so that it costs nothing: the run itself says whether it is paused.
  const columns = sql`tenant_id, id, run_id, step_key, environment_id, definition_id, definition_key, run_key, title,
    details::text as details_json, approvers, quorum, comment_required, decisions, opened_at, due_at, exists (
      select from workflow_runs r where r.tenant_id = workflow_approvals.tenant_id and r.id = workflow_approvals.run_id
        and r.status = 'paused') as paused`;
  const filter = sql`true
    ${definitionId === "" ? sql`` : sql`and definition_id = ${definitionId}`}
    ${environmentId === "" ? sql`` : sql`and environment_id = ${environmentId}`}
    ${mode === "any" ? sql`` : sql`and (environment_key = 'production') = ${mode === "production_only"}`}
    ${
      decider === undefined
        ? sql``
        : sql`and approvers && ${namesOf(decider)}::text[] and ${decider.subject} <> all(decided_by)`
    }`;
  const isFiltered = definitionId !== "" || environmentId !== "" || mode !== "any" || decider !== undefined;
  return readKeyset<Approval>(
    sql,
    {
      ...{ columns, table: "workflow_approvals", where: sql`tenant_id = ${tenantId}` },
      filter: isFiltered ? filter : undefined,
    },
    page,
  );
}

/** The names by which an approval may name a caller. */
function namesOf({ subject, roles }: NonNullable<ApprovalFilter["decider"]>): string[] {
  return [`user:${subject}`, ...roles.map((role) => `role:${role}`)];
}
