import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type WorkflowApproval as ApprovalMessage,
  type DecideWorkflowApprovalRequest,
  DecideWorkflowApprovalResponseSchema,
  ListWorkflowApprovalsResponseSchema,
  type WorkflowApprovalService as Rpc,
  WorkflowApprovalSchema,
} from "../../../../../gen/service/api/workflow_approval_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { environmentIdOf } from "../../../../platform/access/index.ts";
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { readPage } from "../../../../platform/paging/index.ts";
import type { Definitions } from "../../definitions/index.ts";
import { fromRun, toValue } from "../run-message.ts";
import type { RunService } from "../run-service.ts";
import { type Approval, detailsOf, listApprovals } from "./approval-store.ts";

/** The operations of WorkflowApprovalService. */
export function approvalHandlers(
  service: Pick<RunService, "decideApproval">,
  definitions: Pick<Definitions, "idOf">,
  cursors: Cursors,
): Handlers<typeof Rpc> {
  return {
    async listWorkflowApprovals(context, request) {
      const { tenantId, operation, sql, principal } = context;
      const { mine } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const { subject, roles, environmentMode: mode } = principal;
      const definitionId = await definitions.idOf(tenantId, request.definition);
      const filter = { definitionId, environmentId, mode, decider: mine ? { subject, roles } : undefined };
      const page = await readPage(
        cursors,
        request,
        {
          ...{ tenantId, operation: operation.id },
          filter: [definitionId, environmentId, mode, ...(mine ? [subject, ...roles] : [])],
        },
        ({ id }: Approval) => id,
        (wanted) => listApprovals(sql, tenantId, filter, wanted),
      );
      return create(ListWorkflowApprovalsResponseSchema, { ...page, approvals: page.items.map(fromApproval) });
    },

    decideWorkflowApproval: {
      ownCommit: (context: Context, { runId, step, approved, comment }: DecideWorkflowApprovalRequest, keyed) =>
        service.decideApproval(context, runId, { step, approved: approved!, comment }, keyed, (run) =>
          create(DecideWorkflowApprovalResponseSchema, { run: fromRun(run) }),
        ),
    },
  };
}

function fromApproval(approval: Approval): ApprovalMessage {
  const { detailsJson, stepKey, approvers, decisions, openedAt, dueAt, ...rest } = approval;
  const details = detailsOf(approval);
  return create(WorkflowApprovalSchema, {
    ...rest,
    step: stepKey,
    by: [...approvers],
    ...(details === undefined ? { detailsOmitted: true } : { details: toValue(details) }),
    decisions: decisions.map(({ at, ...decision }) => ({ ...decision, at: timestampFromDate(new Date(at)) })),
    openedAt: timestampFromDate(openedAt),
    dueAt: timestampFromDate(dueAt),
  });
}
