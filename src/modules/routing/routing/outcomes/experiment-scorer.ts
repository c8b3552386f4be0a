import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database } from "../../../../platform/db/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { Pools } from "../../pools/index.ts";
import { decisionStore, evidenceOf } from "../decisions/decision-store.ts";

/** The outcome of a routed item, for the experiments that it is in. */
export interface ScoredOutcome {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly decisionId: string;
  readonly status: string;
  readonly latencyMs?: number | null | undefined;
  readonly cost?: number | null | undefined;
  readonly score?: number | null | undefined;
}

/** A score for an experiment. */
export interface OutcomeScore {
  readonly scoreId: string;
  readonly unit: string;
  readonly metric: string;
  readonly value: number;
}

/** Records scores of an experiment; scores of metrics that it does not have are left out. */
export type RecordScores = (tenantId: TenantId, experimentId: string, scores: readonly OutcomeScore[]) => Promise<void>;

/** Turns outcomes into scores of the experiments that their items are in. Called after the commit of the outcomes. */
export type ScoreOutcomes = (outcomes: readonly ScoredOutcome[]) => void;

interface Parts {
  readonly db: Database;
  readonly log: Log;
  readonly pools: Pick<Pools, "poolsOf">;
  readonly record: RecordScores;
}

/** Creates the scorer. Only pools of tenants with an assign_experiment rule cost a read. */
export function createExperimentScorer({ db, log, pools, record }: Parts) {
  const open = new Set<Promise<void>>();

  async function score(outcome: ScoredOutcome): Promise<void> {
    const { tenantId, decisionId, status, latencyMs, cost, score: value } = outcome;
    if (!(await isInExperiments(tenantId))) return;
    const decision = await decisionStore(db.sql).find(tenantId, decisionId);
    if (decision === undefined) return;
    const unit = decision.key === "" ? decisionId : decision.key;
    const values = { success: status === "success" ? 1 : 0, latency_ms: latencyMs, cost, score: value };
    for (const { id } of evidenceOf(decision).experiments) {
      const scores = Object.entries(values).flatMap(([metric, each]) =>
        each === null || each === undefined ? [] : [{ scoreId: `${decisionId}:${metric}`, unit, metric, value: each }],
      );
      await record(tenantId, id, scores);
    }
  }

  async function isInExperiments(tenantId: TenantId): Promise<boolean> {
    const all = await pools.poolsOf(tenantId);
    for (const { rules } of all.pools.values()) {
      if (rules.some(({ action }) => action.type === "assign_experiment")) return true;
    }
    return false;
  }

  return {
    score: ((outcomes) => {
      for (const outcome of outcomes) {
        const done = score(outcome)
          .catch((error) => log.warn({ err: error }, "an outcome could not be scored in its experiments"))
          .finally(() => open.delete(done));
        open.add(done);
      }
    }) satisfies ScoreOutcomes as ScoreOutcomes,

    /** Resolves when nothing is being scored. */
    async idle(): Promise<void> {
      while (open.size > 0) await Promise.allSettled(open);
    },
  };
}
