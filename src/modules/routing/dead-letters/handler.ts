import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type DeadLetter as DeadLetterMessage,
  DeadLetterSchema,
  DeadLetterStatsSchema,
  GetDeadLetterStatsResponseSchema,
  ListDeadLettersResponseSchema,
  PurgeDeadLettersResponseSchema,
  QuarantineDeadLettersResponseSchema,
  type RetryAllDeadLettersRequest,
  RetryAllDeadLettersResponseSchema,
  type RetryDeadLettersRequest,
  RetryDeadLettersResponseSchema,
  type DeadLetterService as Rpc,
  SkippedDeadLetterSchema,
} from "../../../../gen/service/api/dead_letter_pb.ts";
import { ItemFailureSchema } from "../../../../gen/service/api/queue_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { dateOf, optionalTime } from "../../../platform/records/index.ts";
import type { DeadLetter, DeadLetterState, FailedAttempt, SkippedLetter } from "./domain/dead-letter.ts";
import type { DeadLetterService, RetryAllPlan, RetryPlan, ScanProgress } from "./service.ts";

export function deadLetterHandlers(service: DeadLetterService, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async listDeadLetters(context, request) {
      const state = (request.state || "failed") as DeadLetterState;
      const page = await readPage(
        cursors,
        request,
        { tenantId: context.tenantId, operation: context.operation.id, filter: [request.poolId, state] },
        (letter: DeadLetter) => letter.queueItemId,
        (wanted) => service.listPage(context, request.poolId, state, wanted),
      );
      return create(ListDeadLettersResponseSchema, { ...page, deadLetters: page.items.map(fromDeadLetter) });
    },

    async getDeadLetterStats(context, { poolId }) {
      const { depth, quarantined, exhausted, oldestFailureAt } = await service.getStats(context, poolId);
      const stats = create(DeadLetterStatsSchema, {
        poolId,
        depth: BigInt(depth),
        quarantinedCount: BigInt(quarantined),
        exhaustedCount: BigInt(exhausted),
        oldestFailureAt: optionalTime(oldestFailureAt),
      });
      return create(GetDeadLetterStatsResponseSchema, { stats });
    },

    retryDeadLetters: {
      prepare: (context, { poolId, queueItemIds }: RetryDeadLettersRequest) =>
        service.prepareRetry(context, poolId, queueItemIds),
      async run(context, { queueItemIds }: RetryDeadLettersRequest, plan: RetryPlan) {
        const { retried, skipped } = await service.retry(context, queueItemIds, plan);
        return create(RetryDeadLettersResponseSchema, {
          retriedCount: BigInt(retried),
          skipped: skipped.map(fromSkipped),
        });
      },
    },

    retryAllDeadLetters: {
      prepare: (context, { poolId }: RetryAllDeadLettersRequest, from?: ScanProgress) =>
        service.prepareRetryAll(context, poolId, from),
      async run(context, { maxItems }: RetryAllDeadLettersRequest, plan: RetryAllPlan) {
        const { retried, exhausted, remaining } = await service.retryAll(context, maxItems, plan);
        return create(RetryAllDeadLettersResponseSchema, {
          retriedCount: BigInt(retried),
          skippedCount: BigInt(exhausted),
          remainingCount: BigInt(remaining),
        });
      },
    },

    async quarantineDeadLetters(context, { poolId, queueItemIds, release, reason }) {
      const { changed, skipped } = await service.quarantine(context, poolId, queueItemIds, release, reason);
      return create(QuarantineDeadLettersResponseSchema, {
        changedCount: BigInt(changed),
        skipped: skipped.map(fromSkipped),
      });
    },

    async purgeDeadLetters(context, { poolId, olderThan, includeQuarantined }) {
      const filter = { olderThan: olderThan && dateOf(olderThan), includeQuarantined };
      const { purged, remaining } = await service.purge(context, poolId, filter);
      return create(PurgeDeadLettersResponseSchema, {
        purgedCount: BigInt(purged),
        remainingCount: BigInt(remaining),
      });
    },
  };
}

function fromDeadLetter(letter: DeadLetter): DeadLetterMessage {
  const { attempts, payloadDigest, firstFailedAt, lastFailedAt, ...rest } = letter;
  return create(DeadLetterSchema, {
    ...rest,
    attempts: attempts.map(fromAttempt),
    payloadDigest: payloadDigest.toString("hex"),
    firstFailedAt: timestampFromDate(firstFailedAt),
    lastFailedAt: timestampFromDate(lastFailedAt),
  });
}

function fromAttempt({ failedAtMs, ...rest }: Partial<FailedAttempt>) {
  return create(ItemFailureSchema, {
    ...rest,
    failedAt: failedAtMs === undefined ? undefined : timestampFromDate(new Date(failedAtMs)),
  });
}

function fromSkipped(skipped: SkippedLetter) {
  return create(SkippedDeadLetterSchema, skipped);
}
