import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type WorkflowDeadLetter as LetterMessage,
  type ReplayAllWorkflowDeadLettersRequest,
  ReplayAllWorkflowDeadLettersResponseSchema,
  type ReplayWorkflowDeadLetterRequest,
  ReplayWorkflowDeadLetterResponseSchema,
  type WorkflowDeadLetterService as Rpc,
  WorkflowDeadLetterSchema,
} from "../../../../../gen/service/api/workflow_dead_letter_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { environmentIdOf } from "../../../../platform/access/index.ts";
import { totalMax } from "../../../../platform/paging/index.ts";
import { fromReplayPlan, toReplayInput } from "../replay/replay-message.ts";
import { fromRun } from "../run-message.ts";
import type { DeadLetter, DeadLetterState } from "./dead-letter.ts";
import type { DeadLetterService } from "./dead-letter-service.ts";

const skippedMax = 100;

/** The operations of WorkflowDeadLetterService. */
export function deadLetterHandlers(service: DeadLetterService): Handlers<typeof Rpc> {
  return {
    async listWorkflowDeadLetters(context, request) {
      const { errorCode } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const definitionId = await service.definitionIdOf(context, request.definitionId);
      const state = (request.state || "open") as DeadLetterState;
      const filter = { state, definitionId, environmentId, errorCode };
      const page = await context.page(
        "deadLetters",
        request,
        [...Object.values(filter), context.principal.environmentMode],
        (wanted) => service.listPage(context, filter, wanted),
        ({ runId }) => runId,
      );
      return { ...page, deadLetters: page.deadLetters.map(fromDeadLetter) };
    },

    async getWorkflowDeadLetter(context, { runId }) {
      return { deadLetter: fromDeadLetter(await service.getLetter(context, runId)) };
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
          create(ReplayWorkflowDeadLetterResponseSchema, {
            ...{ run: fromRun(run), plan: fromReplayPlan(planned), deadLetter: fromDeadLetter(letter) },
          }),
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
      return { deadLetter: fromDeadLetter(await service.changeLetter(context, runId, "quarantine", reason)) };
    },

    async releaseWorkflowDeadLetter(context, { runId }) {
      return { deadLetter: fromDeadLetter(await service.changeLetter(context, runId, "release", "")) };
    },

    async discardWorkflowDeadLetter(context, { runId, reason }) {
      return { deadLetter: fromDeadLetter(await service.changeLetter(context, runId, "discard", reason)) };
    },
  };
}

function fromDeadLetter(letter: DeadLetter): LetterMessage {
  const { environmentKey: _, firstFailedAt, failedAt, ...rest } = letter;
  return create(WorkflowDeadLetterSchema, {
    ...rest,
    firstFailedAt: timestampFromDate(firstFailedAt),
    failedAt: timestampFromDate(failedAt),
  });
}
