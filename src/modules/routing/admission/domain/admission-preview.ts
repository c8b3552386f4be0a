import { admit, type Candidate, type GroupState, notAsked, type Verdict } from "./admission.ts";
import { handOutLimits, handOutRefs } from "./constraint-moment.ts";
import { judgeHandOut } from "./hand-out.ts";

/** What would become of an item: held when it is let in, but could not be handed out now. */
export type Preview = Omit<Verdict, "status" | "holdReason"> & { readonly status: Verdict["status"] | "held" };

/**
 * Says what would become of an item now: first whether it is let in, and then whether its groups have room to hand it
 * out. Hand-out is not asked about an item that waits for its own time first.
 */
export function preview(candidate: Candidate, groups: ReadonlyMap<string, GroupState>, later: boolean): Preview {
  const { refs, config, nowMs } = candidate;
  const { verdict } = admit(candidate, groups);
  const ahead = handOutRefs(refs, config);
  const limits = handOutLimits(config);
  if (verdict.status !== "admitted" || later || limits === undefined) {
    return { ...verdict, perConstraint: [...verdict.perConstraint, ...ahead.map(notAsked)] };
  }
  const { heldBy, verdicts } = judgeHandOut(ahead, limits, groups, nowMs);
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
