import { create } from "@bufbuild/protobuf";
import {
  type ReplayAllWorkflowDeadLettersRequest,
  ReplayAllWorkflowDeadLettersResponseSchema,
  type ReplayWorkflowDeadLetterRequest,
  ReplayWorkflowDeadLetterResponseSchema,
  type WorkflowDeadLetterService as Rpc,
} from "../../../../../gen/service/api/workflow_dead_letter_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { environmentIdOf } from "../../../../platform/access/index.ts";
import { totalMax } from "../../../../platform/paging/index.ts";
import { createMessageConverter } from "../../../../platform/records/index.ts";
import { fromReplayPlan, toReplayInput } from "../replay/replay-message.ts";
import { fromRun } from "../run-message.ts";
import type { DeadLetterState } from "./dead-letter.ts";
import type { DeadLetterService } from "./dead-letter-service.ts";

const skippedMax = 100;
const toReplayed = createMessageConverter(ReplayWorkflowDeadLetterResponseSchema);

/** The operations of WorkflowDeadLetterService. */
export function deadLetterHandlers(service: DeadLetterService): Handlers<typeof Rpc> {
  return {
    async listWorkflowDeadLetters(context, request) {
      const { errorCode } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const definitionId = await service.definitionIdOf(context, request.definitionId);
      const state = (request.state || "open") as DeadLetterState;
      const filter = { state, definitionId, environmentId, errorCode };
      return context.page(
        "deadLetters",
        request,
        [...Object.values(filter), context.principal.environmentMode],
        (wanted) => service.listPage(context, filter, wanted),
        ({ runId }) => runId,
      );
    },

    async getWorkflowDeadLetter(context, { runId }) {
      return { deadLetter: await service.getLetter(context, runId) };
    },

    async getWorkflowDeadLetterStats(context, { definitionId, environmentId }) {
      const counts = await service.getStats(context, { definitionId, environmentId });
      return {
        stats: {
          openCount: Math.min(counts.open, totalMax),
          openCapped: counts.open > totalMax,
          quarantinedCount: Math.min(counts.quarantined, totalMax),
          exhaustedCount: counts.exhausted,
          oldestFailureAt: counts.oldestFailureAt,
          byErrorCode: counts.byErrorCode,
        },
      };
    },

    replayWorkflowDeadLetter: {
      ownCommit: (context: Context, request: ReplayWorkflowDeadLetterRequest, keyed) =>
        service.replayLetter(context, request.runId, toReplayInput(request), keyed, ({ run, planned, letter }) =>
          toReplayed({ run: fromRun(run), plan: fromReplayPlan(planned), deadLetter: letter }),
        ),
    },

    replayAllWorkflowDeadLetters: {
      ownCommit(context: Context, request: ReplayAllWorkflowDeadLettersRequest, keyed) {
        const { definitionId, environmentId, errorCode, version, maxItems, after, reason } = request;
        const from: "start" | "failed_step" = request.from === "start" ? "start" : "failed_step";
        const input = { definitionId, environmentId, errorCode, version, from, maxItems, after, reason };
        return service.replayAll(context, input, keyed, ({ replayed, skipped, next }) =>
          create(ReplayAllWorkflowDeadLettersResponseSchema, {
            ...{ replayedCount: replayed, skippedCount: skipped.length, skipped: skipped.slice(0, skippedMax) },
            next,
          }),
        );
      },
    },

    async quarantineWorkflowDeadLetter(context, { runId, reason }) {
      return { deadLetter: await service.changeLetter(context, runId, "quarantine", reason) };
    },

    async releaseWorkflowDeadLetter(context, { runId }) {
      return { deadLetter: await service.changeLetter(context, runId, "release", "") };
    },

    async discardWorkflowDeadLetter(context, { runId, reason }) {
      return { deadLetter: await service.changeLetter(context, runId, "discard", reason) };
    },
  };
}
