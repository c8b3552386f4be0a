import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type ExperimentScore,
  type RecordScoreBatchRequest,
  RecordScoreBatchResponseSchema,
  type RecordScoreRequest,
  RecordScoreResponseSchema,
  type ExperimentService as Rpc,
  type ScoreResult as ScoreResultMessage,
} from "../../../../gen/service/api/experiment_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { KeyedCall } from "../../../platform/idempotency/index.ts";
import { dateOf } from "../../../platform/records/index.ts";
import type { ScoreInput } from "./score-check.ts";
import type { ScoreResult, ScoreService } from "./service.ts";

export function scoreHandlers(service: ScoreService) {
  return {
    recordScore: {
      async ownCommit(context: Context, request: RecordScoreRequest, keyed: KeyedCall | undefined) {
        const respond = ([result]: readonly ScoreResult[]) => {
          if ("failure" in result!) throw result.failure;
          return create(RecordScoreResponseSchema, { score: fromScore(result!) });
        };
        return service.record(context, request, [toInput(request)], keyed, respond);
      },
    },

    recordScoreBatch: {
      async ownCommit(context: Context, request: RecordScoreBatchRequest, keyed: KeyedCall | undefined) {
        const respond = (results: readonly ScoreResult[]) =>
          create(RecordScoreBatchResponseSchema, {
            results: results.map(fromResult),
            refused: results.filter((result) => "failure" in result).length,
          });
        return service.record(context, request, request.scores.map(toInput), keyed, respond);
      },
    },
  } satisfies Partial<Handlers<typeof Rpc>>;
}

function toInput(
  score: Pick<RecordScoreRequest, "scoreId" | "receipt" | "unit" | "metric" | "value" | "denominator" | "observedAt">,
): ScoreInput {
  const { scoreId, receipt, unit, metric, value, denominator, observedAt } = score;
  const observedAtMs = observedAt === undefined ? undefined : dateOf(observedAt).getTime();
  return { scoreId, receipt, unit, metric, value, denominator, observedAtMs };
}

/** Messages are written as literals: creating them from their schemas takes several times as long. */
function fromResult(result: ScoreResult): ScoreResultMessage {
  const $typeName = "service.api.ScoreResult";
  if ("score" in result) return { $typeName, score: fromScore(result!), errorCode: "", error: "" };
  return { $typeName, errorCode: result.failure.code, error: result.failure.message };
}

function fromScore({ score, variantKey }: Recorded): ExperimentScore {
  const { scoreId, experimentId, metric, phase, value, denominator, state, observedAtMs, recordedAtMs } = score;
  const recordedAt = timestampFromMs(recordedAtMs);
  return {
    $typeName: "service.api.ExperimentScore",
    scoreId,
    experimentId,
    metric,
    variant: variantKey,
    phase,
    value,
    denominator,
    state,
    observedAt: observedAtMs === recordedAtMs ? recordedAt : timestampFromMs(observedAtMs),
    recordedAt,
  };
}

type Recorded = Extract<ScoreResult, { readonly score: unknown }>;
