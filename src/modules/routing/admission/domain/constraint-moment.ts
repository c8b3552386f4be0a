import type { AdmissionConfig } from "../../pools/index.ts";
import type { ConstraintKind, GroupRef } from "./group.ts";

/** What limits how many items are handed out. */
export type HandOutLimits = Pick<AdmissionConfig, "throttle" | "concurrency">;

/**
 * When a constraint is asked: when an item comes in, or each time it is handed out.
 *
 * A throttle that delays and a concurrency limit are about work, so they are asked when work is handed out. A throttle
 * that rejects has to say so when the item comes in. Behind a debounce it cannot, because the item is let in before its
 * turn is known; there it delays.
 */
function momentOf(kind: ConstraintKind, { debounce, throttle }: AdmissionConfig): "admission" | "hand_out" {
  if (kind === "concurrency") return "hand_out";
  if (kind !== "throttle") return "admission";
  return throttle?.onLimit === "reject" && debounce === undefined ? "admission" : "hand_out";
}

/** The groups of an item that are asked when it comes in, in the order in which they are asked. */
export function admissionRefs(refs: readonly GroupRef[], config: AdmissionConfig): readonly GroupRef[] {
  return refs.filter(({ kind }) => config[kind] !== undefined && momentOf(kind, config) === "admission");
}

/** The groups of an item that are asked when it is handed out, in the order in which they are asked. */
export function handOutRefs(refs: readonly GroupRef[], config: AdmissionConfig): readonly GroupRef[] {
  return refs.filter(({ kind }) => config[kind] !== undefined && momentOf(kind, config) === "hand_out");
}

/** What limits a pool's hand-out; undefined when nothing does. */
export function handOutLimits(config: AdmissionConfig): HandOutLimits | undefined {
  const throttle = momentOf("throttle", config) === "hand_out" ? config.throttle : undefined;
  const { concurrency } = config;
  if (throttle === undefined && concurrency === undefined) return undefined;
  return { ...(throttle && { throttle }), ...(concurrency && { concurrency }) };
}
