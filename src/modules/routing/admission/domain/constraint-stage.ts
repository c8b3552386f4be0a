import type { AdmissionConfig } from "../../pools/index.ts";
import type { ConstraintKind, GroupRef } from "./group.ts";

export type LeaseLimits = Pick<AdmissionConfig, "throttle" | "concurrency">;

/**
 * Returns when a constraint is evaluated: on admission, or on each lease.
 *
 * A delaying throttle and a concurrency limit apply to running work, so they are evaluated on lease. A rejecting
 * throttle must decide on admission. Behind a debounce it cannot, because the item is admitted before it is due;
 * there it delays.
 */
function stageOf(kind: ConstraintKind, { debounce, throttle }: AdmissionConfig): "admission" | "lease" {
  if (kind === "concurrency") return "lease";
  if (kind !== "throttle") return "admission";
  return throttle?.onLimit === "reject" && debounce === undefined ? "admission" : "lease";
}

/** Returns the groups that are evaluated on admission, in order. */
export function selectAdmissionRefs(refs: readonly GroupRef[], config: AdmissionConfig): readonly GroupRef[] {
  return refs.filter(({ kind }) => config[kind] !== undefined && stageOf(kind, config) === "admission");
}

/** Returns the groups that are evaluated on lease, in order. */
export function selectLeaseRefs(refs: readonly GroupRef[], config: AdmissionConfig): readonly GroupRef[] {
  return refs.filter(({ kind }) => config[kind] !== undefined && stageOf(kind, config) === "lease");
}

/** Returns the lease limits of a pool; undefined if it has none. */
export function toLeaseLimits(config: AdmissionConfig): LeaseLimits | undefined {
  const throttle = stageOf("throttle", config) === "lease" ? config.throttle : undefined;
  const { concurrency } = config;
  if (throttle === undefined && concurrency === undefined) return undefined;
  return { ...(throttle && { throttle }), ...(concurrency && { concurrency }) };
}
