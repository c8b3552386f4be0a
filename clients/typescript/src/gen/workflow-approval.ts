// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonValue } from "../json.ts";
import type { WorkflowRun } from "./workflow-run.ts";

/** Approvals that workflow runs wait for. */
export interface WorkflowApprovalService {
  /** Lists open approvals, the oldest first. An approval is listed from the moment its step starts until the step ends: by a decision, by its time-out, or with the run. */
  list(request?: ListWorkflowApprovalsRequest, options?: CallOptions): List<WorkflowApproval>;

  /** Approves or rejects an approval step of a run. */
  decide(request: DecideWorkflowApprovalRequest, options?: CallOptions): Promise<WorkflowRun>;
}

const workflowApprovalServiceOperations = {
  list: { verb: "GET", path: "/api/workflow-approvals", result: "cursor" },
  decide: { verb: "POST", path: "/api/workflow-runs/{run_id}/approvals/{step}/decide", body: "*", keyed: true },
} as const satisfies Record<keyof WorkflowApprovalService, Operation>;

/** Creates the service over a transport. */
export function createWorkflowApprovalService(transport: Transport): WorkflowApprovalService {
  return bindOperations<WorkflowApprovalService>(transport, workflowApprovalServiceOperations);
}

/** Lists open approvals. */
export type ListWorkflowApprovalsRequest = {
  /** The page size: 50 by default, 1000 at most. */
  readonly limit?: number;
  /** The token of the previous page's response. */
  readonly cursor?: string;
  /** The number of items to skip. */
  readonly offset?: number;
  /** Only those that the caller can decide: they name the caller or one of its roles, and the caller has not decided yet. */
  readonly mine?: boolean;
  /** Only those of this definition: its key or its id. */
  readonly definition?: string;
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
};

/** An approval that a run waits for. */
export type WorkflowApproval = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The environment of the run. */
  readonly environment_id: string;
  /** The definition of the run. */
  readonly definition_id: string;
  /** The key of the definition. */
  readonly definition_key: string;
  /** The run. */
  readonly run_id: string;
  /** The run key; empty if the run has none. */
  readonly run_key: string;
  /** The approval step, as a decision names it, such as ask or ask[3]. */
  readonly step: string;
  /** What is to be approved; at most 1,000 characters. */
  readonly title: string;
  /** The details of the request. Absent if they exceed 32 KiB as JSON. */
  readonly details?: JsonValue;
  /** Whether the details are absent because they are too large. */
  readonly details_omitted: boolean;
  /** Who may decide: role:<role> or user:<subject>. */
  readonly by: readonly string[];
  /** The number of people who have to approve. */
  readonly quorum: number;
  /** Whether a decision needs a comment. */
  readonly comment_required: boolean;
  /** The decisions so far, with those that take effect when the run is resumed. */
  readonly decisions: readonly WorkflowApprovalDecision[];
  /** Whether the run is paused. Decisions are accepted, and take effect when it is resumed. */
  readonly paused: boolean;
  /** When the step started. */
  readonly opened_at?: string;
  /** When the step times out. */
  readonly due_at?: string;
};

/** A person's decision. */
export type WorkflowApprovalDecision = {
  /** The subject of the caller. */
  readonly by: string;
  /** Whether the caller approved. */
  readonly approved: boolean;
  /** The comment. */
  readonly comment: string;
  /** When. */
  readonly at?: string;
};

/** Approves or rejects. */
export type DecideWorkflowApprovalRequest = {
  /** The run. */
  readonly run_id: string;
  /** The approval step, as active_steps names it. */
  readonly step: string;
  /** Whether the caller approves. Required, so that nobody rejects by mistake: false rejects finally. */
  readonly approved: boolean;
  /** A comment. */
  readonly comment?: string;
};
