import type { TenantId } from "../../../../platform/access/index.ts";

/** Whether a score counts: with its unit, or never. */
export type ScoreState = "pending" | "early" | "late" | "ended";

/** A score to record. */
export interface NewScore {
  readonly tenantId: TenantId;
  readonly experimentId: string;
  readonly scoreId: string;
  /** In hexadecimal. */
  readonly unitHash: string;
  readonly metric: string;
  readonly value: number;
  readonly denominator: number;
  readonly observedAtMs: number;
  readonly recordedAtMs: number;
  /** A digest of the request, in hexadecimal. */
  readonly body: string;
  /** The score window of the experiment. */
  readonly windowMs: number;
}

/** A recorded score. */
export interface Score {
  readonly scoreId: string;
  readonly experimentId: string;
  readonly metric: string;
  /** The index of the variant. */
  readonly variant: number;
  readonly phase: number;
  readonly value: number;
  readonly denominator: number;
  readonly state: ScoreState;
  readonly observedAtMs: number;
  readonly recordedAtMs: number;
}

/**
 * What a caller's clock may be behind ours: a score from shortly before the exposure is not early.
 */
export const skewMs = 60_000;
