import type { TenantId } from "../../../../platform/access/index.ts";

/** Whether a score counts: with its unit, or never. */
export type ScoreState = "pending" | "early" | "late" | "ended";

/** Facts about the exposure of a unit. */
export interface KnownExposure {
  /** The index of the variant. */
  readonly variant: number;
  readonly phase: number;
  readonly firstExposedAtMs: number;
}

/** A score to record. */
export interface NewScore {
  readonly tenantId: TenantId;
  readonly experimentId: string;
  readonly scoreId: string;
  /** In hexadecimal. */
  readonly unitHash: string;
  /** From a receipt or from memory; undefined if it has to be looked up. */
  readonly exposure: KnownExposure | undefined;
  readonly metric: string;
  readonly value: number;
  readonly denominator: number;
  /** When it happened; undefined if the caller did not say, which means: when it was recorded. */
  readonly observedAtMs: number | undefined;
  readonly recordedAtMs: number;
  /** The score window of the experiment. */
  readonly windowMs: number;
}

/** A recorded score. */
export interface Score
  extends Pick<NewScore, "scoreId" | "experimentId" | "metric" | "value" | "denominator" | "recordedAtMs">,
    Pick<KnownExposure, "variant" | "phase"> {
  readonly state: ScoreState;
  readonly observedAtMs: number;
}

/** Tolerated lag of a caller's clock: a score from shortly before the exposure is not early. */
export const skewMs = 60_000;

/** Whether a score repeats a recorded one, rather than being another score with the same id. */
export function isRepeat(score: NewScore, recorded: Score & { readonly unitHash: string }): boolean {
  const { unitHash, metric, value, denominator, observedAtMs = recorded.recordedAtMs } = score;
  return (
    unitHash === recorded.unitHash &&
    metric === recorded.metric &&
    value === recorded.value &&
    denominator === recorded.denominator &&
    observedAtMs === recorded.observedAtMs
  );
}
