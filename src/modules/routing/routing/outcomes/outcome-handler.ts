import type { RecordOutcomeRequest, OutcomeService as Rpc } from "../../../../../gen/service/api/routing_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { invalid } from "../../../../errors/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import { dateOf } from "../../../../platform/records/index.ts";
import type { DecisionService } from "../decisions/decision-service.ts";
import { evidenceOf } from "../decisions/decision-store.ts";
import type { ScoreOutcomes } from "./experiment-scorer.ts";
import type { LivePools } from "./live-pools.ts";
import { claimOutcome, endTracked, findOutcome, insertOutcomes, type Outcome } from "./outcome-store.ts";

export function outcomeHandlers(
  decisions: DecisionService,
  live: LivePools,
  scoreOutcomes: ScoreOutcomes,
): Handlers<typeof Rpc> {
  return {
    async recordOutcome(context, request) {
      const { sql, tenantId, nowMs } = context;
      const decision = await decisions.find(context, decisionOf(request));
      const outcome: Outcome = {
        tenantId,
        decisionId: decision.id,
        poolId: decision.poolId,
        recipientId: decision.heldBy,
        status: request.status as Outcome["status"],
        latencyMs: request.latencyMs ?? null,
        score: request.score ?? null,
        cost: request.cost ?? null,
        observedAt: request.observedAt === undefined ? new Date(nowMs) : dateOf(request.observedAt),
        recordedAt: new Date(nowMs),
      };
      const isFirst =
        (await claimOutcome(sql, tenantId, decision.id)) && (await insertOutcomes(sql, [outcome])).size > 0;
      if (!isFirst) return { outcome: await findOutcome(sql, tenantId, decision.id) };
      const { experiments } = evidenceOf(decision);
      const observedAtMs = outcome.observedAt.getTime();
      await scoreOutcomes(sql, [{ ...outcome, key: decision.key, experiments, observedAtMs }], nowMs);
      const tracked = await endTracked(sql, tenantId, decision.id, nowMs);
      const { poolId, recipientId, status } = outcome;
      if (recipientId !== "") {
        const { latencyMs, cost } = request;
        context.afterCommit(() => {
          live.recordOutcomes([{ tenantId, poolId, recipientId, status, latencyMs, cost }], nowMs);
          // A queued item is released when its worker completes it, not when its outcome is reported.
          if (tracked) live.recordRelease(tenantId, poolId, recipientId);
        });
      }
      return { outcome };
    },

    async getOutcome(context, { decisionId }) {
      await decisions.find(context, decisionId);
      const outcome = await findOutcome(context.sql, context.tenantId, decisionId);
      if (outcome === undefined) throw notFound("outcome");
      return { outcome };
    },
  };
}

function decisionOf({ decisionId, queueItemId }: RecordOutcomeRequest): string {
  if ((decisionId === "") === (queueItemId === "")) {
    throw invalid("decision_id", "exactly_one", "must be set unless queue_item_id is set; set exactly one of the two");
  }
  return decisionId === "" ? queueItemId : decisionId;
}
