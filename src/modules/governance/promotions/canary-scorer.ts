import type { Context } from "../../../chain/call.ts";
import type { GuardrailTests } from "../../experiments/index.ts";
import type { ArtifactKinds } from "./artifact-kinds.ts";
import type { Candidate, Score, Verdict } from "./domain/candidate.ts";
import { overallVerdict, scoreCanary, scoreGuardrails, waiveMissingTraffic } from "./domain/candidate-scores.ts";

export interface CanaryResult {
  readonly verdict: Verdict;
  readonly scores: readonly Score[];
}

/** Scores the canary of a candidate, and the guardrails of its step, on the outcomes since the step started. */
export type CanaryScorer = (context: Pick<Context, "sql" | "tenantId">, candidate: Candidate) => Promise<CanaryResult>;

/** Creates the scorer. The tests are valid at every time, so a canary can be scored as often as needed. */
export function createCanaryScorer(kinds: ArtifactKinds, tests: GuardrailTests): CanaryScorer {
  return async (context, candidate) => {
    const { sharePpm, keysMin, margin, steps, step, stepStartedAt } = candidate.canary!;
    const evidence = await kinds.readEvidence(context, candidate, new Date(stepStartedAt), sharePpm);
    const ofCanary = evidence.map(({ outcomes, ...rest }) => ({
      ...rest,
      outcomes: outcomes.filter(({ side }) => side === "canary"),
    }));
    const scored = [
      ...scoreCanary(evidence, { canaryShare: sharePpm / 1_000_000, keysMin, margin }, tests),
      ...scoreGuardrails(steps[step]?.guardrails ?? [], ofCanary, tests),
    ];
    const scores = waiveMissingTraffic(scored, candidate.waiverReason);
    return { verdict: overallVerdict(scores), scores };
  };
}
