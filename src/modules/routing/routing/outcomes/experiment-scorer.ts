import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";

/** The outcome of a routed item, for the experiments that it is in. */
export interface ScoredOutcome {
  readonly tenantId: TenantId;
  readonly decisionId: string;
  /** The key of the item; empty if it has none. */
  readonly key: string;
  readonly experiments: readonly { readonly id: string }[];
  readonly status: string;
  readonly latencyMs?: number | null | undefined;
  readonly cost?: number | null | undefined;
  readonly score?: number | null | undefined;
  readonly observedAtMs: number;
}

export interface OutcomeScore {
  readonly tenantId: TenantId;
  readonly experimentId: string;
  readonly scoreId: string;
  readonly unit: string;
  readonly metric: string;
  readonly value: number;
  readonly observedAtMs: number;
}

/** Records scores in a transaction. Scores of metrics that an experiment does not have are left out. */
export type RecordScores = (tx: Sql, scores: readonly OutcomeScore[], nowMs: number) => Promise<void>;

/** Turns outcomes into scores of the experiments that their items are in, in the transaction that stores the outcomes. */
export type ScoreOutcomes = (tx: Sql, outcomes: readonly ScoredOutcome[], nowMs: number) => Promise<void>;

/** Creates the scorer. Outcomes of items that are in no experiment cost nothing. */
export function createExperimentScorer(record: RecordScores): ScoreOutcomes {
  return async (tx, outcomes, nowMs) => {
    const scores = outcomes.flatMap(scoresOf);
    if (scores.length > 0) await record(tx, scores, nowMs);
  };
}

function scoresOf(outcome: ScoredOutcome): OutcomeScore[] {
  const { tenantId, decisionId, key, experiments, status, latencyMs, cost, score, observedAtMs } = outcome;
  const unit = key === "" ? decisionId : key;
  const values = Object.entries({ success: status === "success" ? 1 : 0, latency_ms: latencyMs, cost, score });
  return experiments.flatMap(({ id: experimentId }) =>
    values.flatMap(([metric, value]) =>
      value === null || value === undefined
        ? []
        : [{ tenantId, experimentId, scoreId: `${decisionId}:${metric}`, unit, metric, value, observedAtMs }],
    ),
  );
}
