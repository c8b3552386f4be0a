import { hash } from "node:crypto";
import type { Context, KeyedCall } from "../../../chain/call.ts";
import { type Failure, fail, invalid } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createBatcher, type Database } from "../../../platform/db/index.ts";
import { claimKey, completeRecord } from "../../../platform/idempotency/index.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import {
  type AssignContext,
  type AssignmentService,
  type CompiledExperiment,
  type ReceiptFault,
  type Receipts,
  unknownMetric,
} from "../assignments/index.ts";
import { nextStatus } from "../experiments/index.ts";
import type { NewScore, Score } from "./domain/score.ts";
import { insertScores, type ScoreOutcome } from "./store.ts";

/** A score as a caller sends it. */
export interface ScoreInput {
  readonly scoreId: string;
  /** The token of a receipt; empty if the unit is given. */
  readonly receipt: string;
  readonly unit: string;
  readonly metric: string;
  readonly value: number | undefined;
  readonly denominator: number | undefined;
  readonly observedAtMs: number | undefined;
}

/** What became of a score. */
export type ScoreResult = { readonly score: Score & { readonly variantKey: string } } | { readonly failure: Failure };

interface Parts {
  readonly db: Database;
  readonly assignments: Pick<AssignmentService, "requireExperiment" | "unitHash">;
  readonly receipts: Receipts;
  readonly metrics: Pick<Metrics, "tenantCounter">;
}

type ScoreContext = AssignContext & Pick<Context, "takeQuota">;

/** The quota operation that new scores count against. */
const scoreQuota = "experiment.score";

const receiptFaults: Readonly<Record<ReceiptFault, string>> = {
  malformed: "must be the token of an exposure receipt, as assign returns it",
  unsupported_version: "has a version that this service does not know",
  wrong_signature: "was not issued by this service, or was changed",
};

/** The use cases of scores. */
export type ScoreService = ReturnType<typeof createScoreService>;

/** Creates the service of scores. */
export function createScoreService({ db, assignments, receipts, metrics }: Parts) {
  const writes = createBatcher<readonly NewScore[], readonly ScoreOutcome[]>({
    lanes: 2,
    batchMax: 2000,
    concurrentMin: 64,
    weigh: (scores) => scores.length,
    async flush(requests) {
      const outcomes = await insertScores(db.sql, requests.flat());
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

  /** The unit of a score. Throws if the receipt is forged or belongs to another experiment. */
  function unitHashOf(compiled: CompiledExperiment, { receipt, unit }: ScoreInput): string {
    if ((receipt === "") === (unit === "")) {
      throw invalid("receipt", "exactly_one", "must be set unless unit is set; set exactly one of the two");
    }
    if (unit !== "") return assignments.unitHash(compiled, unit);
    const opened = receipts.open(receipt);
    if (typeof opened === "string") throw invalid("receipt", opened, receiptFaults[opened]);
    const { tenantId, id } = compiled.experiment;
    if (opened.tenantId !== tenantId || opened.experimentId !== id) {
      throw invalid("receipt", "foreign", "belongs to another experiment");
    }
    return opened.unitHash;
  }

  function toNewScore(compiled: CompiledExperiment, input: ScoreInput, nowMs: number): NewScore {
    const { tenantId, id: experimentId, design } = compiled.experiment;
    const { scoreId, metric, value = 1, observedAtMs } = input;
    if (scoreId === "") throw invalid("score_id", "required", "is required (for example: order-4711)");
    if (scoreId.includes("\u0000")) throw invalid("score_id", "characters", "must not contain the character U+0000");
    const known = design.metrics.find(({ key }) => key === metric);
    if (known === undefined) {
      throw unknownMetric(
        "metric",
        metric,
        design.metrics.map(({ key }) => key),
      );
    }
    if (input.denominator !== undefined && known.type !== "ratio") {
      throw invalid("denominator", "ratio_only", `must be left out: ${metric} is a ${known.type}`);
    }
    const denominator = input.denominator ?? 1;
    const unitHash = unitHashOf(compiled, input);
    const body = hash("sha256", JSON.stringify([unitHash, metric, value, denominator, observedAtMs ?? null]), "hex");
    return {
      ...{ tenantId, experimentId, scoreId, unitHash, metric, value, denominator },
      ...{ observedAtMs: observedAtMs ?? nowMs, recordedAtMs: nowMs, windowMs: design.scoreWindowS * 1000 },
      body: body.slice(0, 32),
    };
  }

  /** Checks scores one by one: an invalid one does not affect the others. */
  function checkAll(compiled: CompiledExperiment, inputs: readonly ScoreInput[], nowMs: number) {
    const failures: (Failure | undefined)[] = [];
    const valid: NewScore[] = [];
    for (const input of inputs) {
      try {
        valid.push(toNewScore(compiled, input, nowMs));
        failures.push(undefined);
      } catch (error) {
        if (!isFailure(error)) throw error;
        failures.push(error);
      }
    }
    return { failures, valid };
  }

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
            public: "The unit was never exposed in this experiment. Assign it first, and score it afterwards.",
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
      return { score: { ...outcome, variantKey: experiment.design.variants[outcome.variant]!.key } };
    });
  }

  function count(tenantId: TenantId, results: readonly ScoreResult[], outcomes: readonly ScoreOutcome[]): void {
    for (const outcome of outcomes) {
      const result = typeof outcome === "string" ? outcome : outcome.isNew ? outcome.state : "repeated";
      recorded.inc(tenantId, { result });
    }
    const invalidCount = results.length - outcomes.length;
    if (invalidCount > 0) recorded.inc(tenantId, { result: "invalid" }, invalidCount);
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
    /** Records scores; each has its own result. */
    async record(context: ScoreContext, experimentId: string, inputs: readonly ScoreInput[]): Promise<ScoreResult[]> {
      const compiled = await assignments.requireExperiment(context, experimentId);
      nextStatus(compiled.experiment.status, "score");
      const { failures, valid } = checkAll(compiled, inputs, context.nowMs);
      const outcomes = await metered(context, valid, () => writes.run(valid));
      const results = toResults(compiled, inputs, failures, outcomes);
      count(context.tenantId, results, outcomes);
      return results;
    },

    /** Records scores that the service observed itself, without a quota. Invalid ones are left out. */
    async recordOwn(compiled: CompiledExperiment, inputs: readonly ScoreInput[], nowMs: number): Promise<void> {
      const { failures, valid } = checkAll(compiled, inputs, nowMs);
      if (valid.length === 0) return;
      const outcomes = await writes.run(valid);
      count(compiled.experiment.tenantId, toResults(compiled, inputs, failures, outcomes), outcomes);
    },

    /** Records scores, and stores the response under an idempotency key in the same transaction. */
    async recordKeyed<R>(
      context: ScoreContext,
      experimentId: string,
      inputs: readonly ScoreInput[],
      keyed: KeyedCall,
      respond: (results: readonly ScoreResult[]) => R & Parameters<KeyedCall["record"]>[0],
    ): Promise<R | "duplicate"> {
      const compiled = await assignments.requireExperiment(context, experimentId);
      nextStatus(compiled.experiment.status, "score");
      const { failures, valid } = checkAll(compiled, inputs, context.nowMs);
      const taken = { isDuplicate: false, response: undefined as R | undefined };
      const outcomes = await metered(context, valid, () =>
        db.transaction(async (tx) => {
          if (!(await claimKey(tx, keyed.claim))) {
            taken.isDuplicate = true;
            return [];
          }
          const stored = await insertScores(tx, valid);
          taken.response = respond(toResults(compiled, inputs, failures, stored));
          await completeRecord(tx, keyed.record(taken.response as Parameters<KeyedCall["record"]>[0]));
          return stored;
        }),
      );
      if (taken.isDuplicate) return "duplicate";
      const results = toResults(compiled, inputs, failures, outcomes);
      count(context.tenantId, results, outcomes);
      return taken.response ?? respond(results);
    },

    /** Resolves when nothing is being stored. */
    idle: () => writes.idle(),
  };
}

function isFailure(error: unknown): error is Failure {
  return error instanceof Error && error.name === "Failure";
}
