import { create } from "@bufbuild/protobuf";
import {
  type DecideWorkflowApprovalRequest,
  DecideWorkflowApprovalResponseSchema,
  type WorkflowApprovalService as Rpc,
} from "../../../../../gen/service/api/workflow_approval_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { environmentIdOf } from "../../../../platform/access/index.ts";
import type { Definitions, Json } from "../../definitions/index.ts";
import { fromRun } from "../run-message.ts";
import { decideBy, type RunService } from "../run-service.ts";
import { type Approval, listApprovals } from "./approval-store.ts";

/** The operations of WorkflowApprovalService. */
export function approvalHandlers(
  service: Pick<RunService, "change">,
  definitions: Pick<Definitions, "idOf">,
): Handlers<typeof Rpc> {
  return {
    async listWorkflowApprovals(context, request) {
      const { tenantId, sql, principal } = context;
      const { mine } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const { subject, roles, environmentMode: mode } = principal;
      const definitionId = await definitions.idOf(tenantId, request.definition);
      const filter = { definitionId, environmentId, mode, decider: mine ? { subject, roles } : undefined };
      const chosen = [definitionId, environmentId, mode, ...(mine ? [subject, ...roles] : [])];
      const page = await context.page("approvals", request, chosen, (wanted) =>
        listApprovals(sql, tenantId, filter, wanted),
      );
      return { ...page, approvals: page.approvals.map(fromApproval) };
    },

    decideWorkflowApproval: {
      ownCommit: (context: Context, { runId, step, approved, comment }: DecideWorkflowApprovalRequest, keyed) =>
        service.change(context, runId, keyed, decideBy(context, { step, approved: approved!, comment }), (run) =>
          create(DecideWorkflowApprovalResponseSchema, { run: fromRun(run) }),
        ),
    },
  };
}

function fromApproval(approval: Approval) {
  // Details that are too large to be listed are absent.
  const details = approval.detailsJson === null ? undefined : (JSON.parse(approval.detailsJson) as Json);
  return {
    ...approval,
    step: approval.stepKey,
    by: approval.approvers,
    details,
    detailsOmitted: details === undefined,
    decisions: approval.decisions.map((decision) => ({ ...decision, at: new Date(decision.at) })),
  };
}
