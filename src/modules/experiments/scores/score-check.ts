import { Failure, invalid } from "../../../errors/index.ts";
import { isSummable, summableRange } from "../analysis/index.ts";
import {
  type AssignmentService,
  type CompiledExperiment,
  type Receipt,
  type ReceiptFailure,
  type Receipts,
  unknownMetric,
} from "../assignments/index.ts";
import type { KnownExposure, NewScore } from "./domain/score.ts";

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

/** The scores of a call that can be recorded, and at the place of each other one what is wrong with it. */
export interface CheckedScores {
  readonly failures: readonly (Failure | undefined)[];
  readonly valid: readonly NewScore[];
}

const receiptFaults: Readonly<Record<ReceiptFailure, string>> = {
  malformed: "must be the token of an exposure receipt, as assign returns it",
  unsupported_version: "has a version that this service does not know",
  wrong_signature: "was not issued by this service, or was changed",
};

/** Creates the check of scores. An invalid score does not affect the others of its call. Yields after each score. */
export function createScoreCheck(
  { unitHash, recallReceipt }: Pick<AssignmentService, "unitHash" | "recallReceipt">,
  receipts: Pick<Receipts, "open">,
) {
  /**
   * The unit of a score, and its exposure if a receipt proves it. Throws if the receipt is forged or belongs to another
   * experiment.
   */
  function unitOf(
    compiled: CompiledExperiment,
    { receipt, unit }: ScoreInput,
  ): Pick<NewScore, "unitHash" | "exposure"> {
    if ((receipt === "") === (unit === "")) {
      throw invalid("receipt", "exactly_one", "must be set unless unit is set; set exactly one of the two");
    }
    if (unit !== "") {
      const hash = unitHash(compiled, unit);
      return { unitHash: hash, exposure: exposureOf(compiled, recallReceipt(compiled, hash)) };
    }
    const opened = receipts.open(receipt);
    if (typeof opened === "string") throw invalid("receipt", opened, receiptFaults[opened]);
    const { tenantId, id } = compiled.experiment;
    if (opened.tenantId !== tenantId || opened.experimentId !== id) {
      throw invalid("receipt", "foreign", "belongs to another experiment");
    }
    return { unitHash: opened.unitHash, exposure: exposureOf(compiled, opened) };
  }

  function exposureOf({ experiment }: CompiledExperiment, receipt: Receipt | undefined): KnownExposure | undefined {
    // After the end, retention may have removed the exposure.
    if (receipt === undefined || experiment.endedAt !== null) return undefined;
    const variant = experiment.design.variants.findIndex(({ key }) => key === receipt.variant);
    return { variant, phase: receipt.phase, firstExposedAtMs: receipt.firstExposedAtMs };
  }

  function toNewScore(compiled: CompiledExperiment, input: ScoreInput, recordedAtMs: number): NewScore {
    const { tenantId, id: experimentId, design } = compiled.experiment;
    const { scoreId, metric, value = 1, denominator, observedAtMs } = input;
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
    if (denominator !== undefined && known.type !== "ratio") {
      throw invalid("denominator", "ratio_only", `must be left out: ${metric} is a ${known.type}`);
    }
    for (const [field, number] of Object.entries({ value, denominator: denominator ?? 1 })) {
      if (!isSummable(number)) throw invalid(field, "range", summableRange);
    }
    const { unitHash: hash, exposure } = unitOf(compiled, input);
    return {
      tenantId,
      experimentId,
      scoreId,
      unitHash: hash,
      exposure,
      metric,
      value,
      denominator: denominator ?? 1,
      observedAtMs,
      recordedAtMs,
      windowMs: design.scoreWindowS * 1000,
    };
  }

  return function* check(
    compiled: CompiledExperiment,
    inputs: readonly ScoreInput[],
    recordedAtMs: number,
  ): Generator<void, CheckedScores> {
    const failures: (Failure | undefined)[] = [];
    const valid: NewScore[] = [];
    for (const input of inputs) {
      try {
        valid.push(toNewScore(compiled, input, recordedAtMs));
        failures.push(undefined);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        failures.push(error);
      }
      yield;
    }
    return { failures, valid };
  };
}
