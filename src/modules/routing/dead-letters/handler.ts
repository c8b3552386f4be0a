import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  RetryAllDeadLettersRequest,
  RetryDeadLettersRequest,
  DeadLetterService as Rpc,
} from "../../../../gen/service/api/dead_letter_pb.ts";
import { ItemFailureSchema } from "../../../../gen/service/api/queue_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { requireEnvironmentId } from "../../../platform/access/index.ts";
import { dateOf } from "../../../platform/records/index.ts";
import type { DeadLetter, DeadLetterState, FailedAttempt } from "./domain/dead-letter.ts";
import type { DeadLetterService, RetryAllPlan, RetryPlan, ScanProgress } from "./service.ts";

export function deadLetterHandlers(service: DeadLetterService): Handlers<typeof Rpc> {
  return {
    async listDeadLetters(context, request) {
      const state = (request.state || "failed") as DeadLetterState;
      const page = await context.page(
        "deadLetters",
        request,
        [request.poolId, state, request.environmentId],
        (wanted) => service.listPage(context, request, state, wanted),
        (letter) => letter.queueItemId,
      );
      return { ...page, deadLetters: page.deadLetters.map(fromDeadLetter) };
    },

    async getDeadLetterStats(context, request) {
      const { quarantined, exhausted, ...stats } = await service.getStats(context, {
        poolId: request.poolId,
        environmentId: await requireEnvironmentId(context, request.environmentId),
      });
      return { stats: { ...stats, poolId: request.poolId, quarantinedCount: quarantined, exhaustedCount: exhausted } };
    },

    retryDeadLetters: {
      prepare: (context, { poolId, queueItemIds }: RetryDeadLettersRequest) =>
        service.prepareRetry(context, poolId, queueItemIds),
      run: (context, { queueItemIds }: RetryDeadLettersRequest, plan: RetryPlan) =>
        service.retry(context, queueItemIds, plan),
    },

    retryAllDeadLetters: {
      prepare: (context, { poolId }: RetryAllDeadLettersRequest, from?: ScanProgress) =>
        service.prepareRetryAll(context, poolId, from),
      run: (context, { maxItems }: RetryAllDeadLettersRequest, plan: RetryAllPlan) =>
        service.retryAll(context, maxItems, plan),
    },

    quarantineDeadLetters: (context, { poolId, queueItemIds, release, reason }) =>
      service.quarantine(context, poolId, queueItemIds, release, reason),

    purgeDeadLetters: (context, { poolId, olderThan, includeQuarantined }) =>
      service.purge(context, poolId, olderThan && dateOf(olderThan), includeQuarantined),
  };
}

const fromDeadLetter = (letter: DeadLetter) => ({
  ...letter,
  attempts: letter.attempts.map(fromAttempt),
  payloadDigest: letter.payloadDigest.toString("hex"),
});

const fromAttempt = ({ failedAtMs, ...attempt }: Partial<FailedAttempt>) =>
  create(ItemFailureSchema, {
    ...attempt,
    failedAt: failedAtMs === undefined ? undefined : timestampFromDate(new Date(failedAtMs)),
  });
