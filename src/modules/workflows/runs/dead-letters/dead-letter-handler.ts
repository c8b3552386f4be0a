import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  DiscardWorkflowDeadLetterResponseSchema,
  GetWorkflowDeadLetterResponseSchema,
  GetWorkflowDeadLetterStatsResponseSchema,
  type WorkflowDeadLetter as LetterMessage,
  ListWorkflowDeadLettersResponseSchema,
  QuarantineWorkflowDeadLetterResponseSchema,
  ReleaseWorkflowDeadLetterResponseSchema,
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
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { readPage, totalMax } from "../../../../platform/paging/index.ts";
import { optionalTime } from "../../../../platform/records/index.ts";
import { fromReplayPlan, toReplayInput } from "../replay/replay-message.ts";
import { fromRun } from "../run-message.ts";
import type { DeadLetter, DeadLetterState } from "./dead-letter.ts";
import type { DeadLetterService } from "./dead-letter-service.ts";

const skippedMax = 100;

/** The operations of WorkflowDeadLetterService. */
export function deadLetterHandlers(service: DeadLetterService, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async listWorkflowDeadLetters(context, request) {
      const { tenantId, operation, principal } = context;
      const { errorCode } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const definitionId = await service.definitionIdOf(context, request.definitionId);
      const state = (request.state || "open") as DeadLetterState;
      const filter = { state, definitionId, environmentId, errorCode };
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [...Object.values(filter), principal.environmentMode] },
        ({ runId }: DeadLetter) => runId,
        (wanted) => service.listPage(context, filter, wanted),
      );
      return create(ListWorkflowDeadLettersResponseSchema, { ...page, deadLetters: page.items.map(fromDeadLetter) });
    },

    async getWorkflowDeadLetter(context, { runId }) {
      const deadLetter = fromDeadLetter(await service.getLetter(context, runId));
      return create(GetWorkflowDeadLetterResponseSchema, { deadLetter });
    },

    async getWorkflowDeadLetterStats(context, { definitionId, environmentId }) {
      const { open, quarantined, exhausted, oldestFailureAt, byErrorCode } = await service.getStats(context, {
        definitionId,
        environmentId,
      });
      return create(GetWorkflowDeadLetterStatsResponseSchema, {
        stats: {
          ...{ openCount: Math.min(open, totalMax), openCapped: open > totalMax, exhaustedCount: exhausted },
          ...{ quarantinedCount: Math.min(quarantined, totalMax), oldestFailureAt: optionalTime(oldestFailureAt) },
          byErrorCode: byErrorCode.map(({ errorCode, count }) => ({ errorCode, count })),
        },
      });
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
      const deadLetter = fromDeadLetter(await service.changeLetter(context, runId, "quarantine", reason));
      return create(QuarantineWorkflowDeadLetterResponseSchema, { deadLetter });
    },

    async releaseWorkflowDeadLetter(context, { runId }) {
      const deadLetter = fromDeadLetter(await service.changeLetter(context, runId, "release", ""));
      return create(ReleaseWorkflowDeadLetterResponseSchema, { deadLetter });
    },

    async discardWorkflowDeadLetter(context, { runId, reason }) {
      const deadLetter = fromDeadLetter(await service.changeLetter(context, runId, "discard", reason));
      return create(DiscardWorkflowDeadLetterResponseSchema, { deadLetter });
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
