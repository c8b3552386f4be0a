import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../chain/call.ts";
import { type Failure, fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createBatcher, type Sql } from "../../../platform/db/index.ts";
import { runAtOnce, runInSlices } from "../../../platform/event-loop/index.ts";
import { type KeyedCall, withIdempotency } from "../../../platform/idempotency/index.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { PlatformServices } from "../../area.ts";
import type {
  AssignContext,
  AssignmentService,
  CompiledExperiment,
  ExperimentReference,
  Receipts,
} from "../assignments/index.ts";
import { nextStatus } from "../experiments/index.ts";
import type { NewScore, Score } from "./domain/score.ts";
import { type CheckedScores, createScoreCheck, type ScoreInput } from "./score-check.ts";
import { insertNewScores, insertScores, type ScoreOutcome } from "./store.ts";

/** The outcome of a score. */
export type ScoreResult = { readonly score: Score; readonly variantKey: string } | { readonly failure: Failure };

interface Dependencies extends Pick<PlatformServices, "db" | "shares"> {
  readonly assignments: Pick<AssignmentService, "requireExperiment" | "unitHash" | "recallReceipt">;
  readonly receipts: Receipts;
  readonly metrics: Pick<Metrics, "tenantCounter">;
}

type ScoreContext = AssignContext & Pick<Context, "takeQuota">;

/** The quota operation that new scores count against. */
const scoreQuota = "experiment.score";

export type ScoreService = ReturnType<typeof createScoreService>;

export function createScoreService({ db, assignments, receipts, shares, metrics }: Dependencies) {
  const check = createScoreCheck(assignments, receipts);
  const checkInSlices = (
    tenantId: TenantId,
    compiled: CompiledExperiment,
    inputs: readonly ScoreInput[],
    nowMs: number,
  ): CheckedScores | Promise<CheckedScores> => {
    const work = check(compiled, inputs, nowMs);
    return inputs.length > 1 ? runInSlices(work, shares.forCall(tenantId)) : runAtOnce(work);
  };
  const writes = createBatcher<readonly NewScore[], readonly ScoreOutcome[]>({
    lanes: 2,
    batchMax: 2000,
    concurrentMin: 64,
    weigh: (scores) => scores.length,
    async flush(requests) {
      const outcomes = await insertNewScores(db.sql, requests.flat());
      let at = 0;
      return requests.map((scores) => {
        at += scores.length;
        return outcomes.slice(at - scores.length, at);
      });
    },
  });
  const recorded = metrics.tenantCounter({
    name: "experiment_scores_total",
    help: "Scores of units, by result: the state of new ones, or why they were not stored.",
    labels: ["result"],
  });

  function toResults(
    { experiment }: CompiledExperiment,
    inputs: readonly ScoreInput[],
    failures: readonly (Failure | undefined)[],
    outcomes: readonly ScoreOutcome[],
  ): ScoreResult[] {
    let at = 0;
    return failures.map((failure, index) => {
      if (failure !== undefined) return { failure };
      const outcome = outcomes[at++]!;
      const { scoreId } = inputs[index]!;
      if (outcome === "not_exposed") {
        return {
          failure: fail("FAILED_PRECONDITION", {
            public:
              "The unit was never exposed in this experiment, or the experiment ended long ago. Assign a unit first, and score it afterwards.",
          }),
        };
      }
      if (outcome === "id_taken") {
        return {
          failure: fail("SCORE_ID_REUSED", {
            public: `The score ${scoreId} was recorded with another content. Send a new score_id for another score.`,
          }),
        };
      }
      const { score } = outcome;
      return { score, variantKey: experiment.design.variants[score.variant]!.key };
    });
  }

  /** Counts scores once per result: a labelled counter is too slow for each score of a batch. */
  function count(tenantId: TenantId, outcomes: readonly ScoreOutcome[], invalidCount: number): void {
    const counts = new Map<string, number>(invalidCount === 0 ? [] : [["invalid", invalidCount]]);
    for (const outcome of outcomes) {
      const result = typeof outcome === "string" ? outcome : outcome.isNew ? outcome.score.state : "repeated";
      counts.set(result, (counts.get(result) ?? 0) + 1);
    }
    for (const [result, times] of counts) recorded.inc(tenantId, { result }, times);
  }

  /** Charges the quota for new scores only. */
  async function metered(
    context: ScoreContext,
    valid: readonly NewScore[],
    write: () => Promise<readonly ScoreOutcome[]>,
  ): Promise<readonly ScoreOutcome[]> {
    if (valid.length === 0) return [];
    const receipt = await context.takeQuota(scoreQuota, valid.length);
    let isUsed = 0;
    try {
      const outcomes = await write();
      isUsed = outcomes.filter((outcome) => typeof outcome !== "string" && outcome.isNew).length;
      return outcomes;
    } finally {
      if (receipt !== undefined && isUsed < valid.length) await receipt.refund(valid.length - isUsed);
    }
  }

  return {
    /** Records scores; each has its own result. A call with an idempotency key stores its response in the same transaction. */
    async record<R extends Message>(
      context: ScoreContext,
      reference: ExperimentReference,
      inputs: readonly ScoreInput[],
      keyed: KeyedCall | undefined,
      respond: (results: readonly ScoreResult[]) => R,
    ): Promise<R | "duplicate"> {
      const compiled = await assignments.requireExperiment(context, reference);
      nextStatus(compiled.experiment.status, "score");
      const { failures, valid } = await checkInSlices(context.tenantId, compiled, inputs, context.nowMs);
      let done: { readonly response: R } | "duplicate" | undefined;
      const outcomes = await metered(context, valid, async () => {
        if (keyed === undefined) return writes.run(valid);
        let stored: readonly ScoreOutcome[] = [];
        done = await db.transaction((tx) =>
          withIdempotency(tx, keyed, async () => {
            stored = await insertScores(tx, valid);
            return { response: respond(toResults(compiled, inputs, failures, stored)) };
          }),
        );
        return stored;
      });
      if (done === "duplicate") return done;
      count(context.tenantId, outcomes, inputs.length - valid.length);
      return done?.response ?? respond(toResults(compiled, inputs, failures, outcomes));
    },

    /** Records scores that the service observed itself in a transaction, without a quota. Invalid ones are left out. */
    async recordOwn(
      tx: Sql,
      observed: readonly { readonly compiled: CompiledExperiment; readonly inputs: readonly ScoreInput[] }[],
      nowMs: number,
    ): Promise<void> {
      // Without a pause, because the transaction holds locks. The metrics are known, so a check is short.
      const valid = observed.flatMap(({ compiled, inputs }) => runAtOnce(check(compiled, inputs, nowMs)).valid);
      if (valid.length === 0) return;
      const outcomes = await insertScores(tx, valid);
      const byTenant = Map.groupBy(outcomes.entries(), ([at]) => valid[at]!.tenantId);
      for (const [tenantId, own] of byTenant)
        count(
          tenantId,
          own.map(([, outcome]) => outcome),
          0,
        );
    },

    /** Resolves when nothing is being stored. */
    idle: () => writes.idle(),
  };
}
