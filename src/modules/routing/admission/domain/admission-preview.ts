import { admit, type Candidate, createSkippedVerdict, type Verdict } from "./admission.ts";
import { selectLeaseRefs, toLeaseLimits } from "./constraint-stage.ts";
import type { GroupState } from "./group.ts";
import { evaluateLease } from "./lease-limits.ts";

/** The predicted verdict of an item; held if it would be admitted but could not be leased now. */
export type Preview = Omit<Verdict, "status" | "holdReason"> & { readonly status: Verdict["status"] | "held" };

/**
 * Predicts the verdict of an item: first its admission, then whether its groups have room to lease it. Lease limits
 * are skipped for an item that is scheduled for later.
 */
export function preview(candidate: Candidate, groups: ReadonlyMap<string, GroupState>, later: boolean): Preview {
  const { refs, config, nowMs } = candidate;
  const { verdict } = admit(candidate, groups);
  const leaseRefs = selectLeaseRefs(refs, config);
  const limits = toLeaseLimits(config);
  if (verdict.status !== "admitted" || later || limits === undefined) {
    return { ...verdict, perConstraint: [...verdict.perConstraint, ...leaseRefs.map(createSkippedVerdict)] };
  }
  const { heldBy, verdicts } = evaluateLease(leaseRefs, limits, groups, nowMs);
  const perConstraint = [...verdict.perConstraint, ...verdicts];
  if (heldBy === undefined) return { ...verdict, perConstraint };
  const { ref, notBeforeMs } = heldBy;
  return {
    ...verdict,
    status: "held",
    constraint: ref.kind,
    dueAtMs: notBeforeMs,
    retryAfterMs: notBeforeMs === undefined ? undefined : notBeforeMs - nowMs,
    perConstraint,
  };
}
