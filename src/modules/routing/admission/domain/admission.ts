import { unreachable } from "../../../../errors/index.ts";
import type { AdmissionConfig } from "../../pools/index.ts";
import { selectAdmissionRefs } from "./constraint-stage.ts";
import {
  type ConstraintResult,
  evaluateConstraint,
  type Ruling,
  remainingIn,
  type WindowExtension,
} from "./constraints.ts";
import { type ConstraintKind, type GroupRef, type GroupState, groupOf } from "./group.ts";

/** An item to be admitted. */
export interface Candidate {
  readonly itemId: string;
  /** The groups of the item; constraints without a group do not apply. */
  readonly refs: readonly GroupRef[];
  readonly config: AdmissionConfig;
  readonly nowMs: number;
  /** The size of the payload, if a waiting item may take it: in a pool whose debounce takes all items. */
  readonly payloadBytes?: number | undefined;
}

/** Why an admitted item is held; empty if it can be leased. */
export type AdmissionHold = "" | "debounce";

/** The verdict of one constraint; not_asked: an earlier constraint decided. */
export interface ConstraintVerdict extends GroupRef {
  readonly ruling: Ruling | "not_asked";
  readonly notBeforeMs: number | undefined;
  /** Remaining slots or tokens; undefined if not applicable. */
  readonly remaining: number | undefined;
}

/** The verdict on an item. */
export interface Verdict {
  /** debounced: admitted, and held until its window ends. */
  readonly status: "admitted" | "deduplicated" | "debounced" | "rejected";
  /** The constraint that decided; undefined if all passed. */
  readonly constraint: ConstraintKind | undefined;
  /** When a held item continues. */
  readonly dueAtMs: number | undefined;
  /** Time until a held item continues, or until a rejected one would be admitted. */
  readonly retryAfterMs: number | undefined;
  /** deduplicated: the item that holds the slot. debounced: the waiting item that took the payload; empty for none. */
  readonly existingItemId: string;
  /** Waiting items that this one supersedes. */
  readonly supersedes: readonly string[];
  /** The running item to cancel because this one replaces it; empty for none. */
  readonly cancels: string;
  readonly holdReason: AdmissionHold;
  /** The debounce window of a waiting item that becomes longer. */
  readonly window?: WindowExtension;
  /** The verdict of each constraint, in the order of evaluation. */
  readonly perConstraint: readonly ConstraintVerdict[];
}

/** A verdict and the changed groups; store both together with the item, or neither. */
export interface Admission {
  readonly verdict: Verdict;
  readonly next: readonly GroupState[];
}

/**
 * Evaluates an item against its groups; a missing group is empty. Nothing is stored: the caller stores `next`
 * together with the item or discards it. An item that any constraint rejects changes no group. Lease limits are not
 * evaluated here: see lease-limits.ts.
 */
export function admit(candidate: Candidate, groups: ReadonlyMap<string, GroupState>): Admission {
  const { itemId, refs, config, nowMs, payloadBytes } = candidate;
  const subject = { itemId, nowMs, isQueued: false, payloadBytes };
  const perConstraint: ConstraintVerdict[] = [];
  const next: GroupState[] = [];
  const supersedes = new Set<string>();
  let cancels = "";
  let decided: { readonly kind: ConstraintKind; readonly result: ConstraintResult } | undefined;

  for (const ref of selectAdmissionRefs(refs, config)) {
    if (decided !== undefined) {
      perConstraint.push(createSkippedVerdict(ref));
      continue;
    }
    const { kind } = ref;
    const result = evaluateConstraint(kind, config, groupOf(groups, ref), subject)!;
    const { ruling, otherItemId, notBeforeMs } = result;
    const remaining = remainingIn(result.next, config, nowMs);
    perConstraint.push({ ...ref, ruling, notBeforeMs, remaining });
    next.push(result.next);
    if (ruling === "cancel_running") cancels = otherItemId;
    else if (ruling === "replace" || ruling === "debounce") supersedes.add(otherItemId);
    if (stopsItem(ruling)) decided = { kind, result };
  }
  supersedes.delete("");

  const passes: Admission = {
    verdict: {
      status: "admitted",
      constraint: undefined,
      dueAtMs: undefined,
      retryAfterMs: undefined,
      existingItemId: "",
      supersedes: [...supersedes],
      cancels,
      holdReason: "",
      perConstraint,
    },
    next,
  };
  return decided === undefined ? passes : toStoppedAdmission(passes, decided.kind, decided.result, nowMs);
}

/** The verdict on an item without admission constraints. */
export const admitted: Verdict = admit({ itemId: "", refs: [], config: {}, nowMs: 0 }, new Map()).verdict;

/** Creates the verdict of a constraint that is not evaluated. */
export function createSkippedVerdict(ref: GroupRef): ConstraintVerdict {
  return { ...ref, ruling: "not_asked", notBeforeMs: undefined, remaining: undefined };
}

/** Returns whether a constraint may replace one item by another. */
export function canDisplace(kind: ConstraintKind, { singleton, debounce }: AdmissionConfig): boolean {
  if (kind === "debounce") return debounce?.take === "last";
  return kind === "singleton" && singleton?.mode !== "skip";
}

/** Returns whether a verdict creates no item: the item is a duplicate, or a waiting item took its payload. */
export function createsNoItem({ status, existingItemId }: Verdict): boolean {
  return status === "rejected" || existingItemId !== "";
}

function stopsItem(ruling: Ruling): boolean {
  return ruling !== "admit" && ruling !== "replace" && ruling !== "cancel_running";
}

/** Returns the admission of an item that a constraint holds or rejects. */
function toStoppedAdmission(
  { verdict, next }: Admission,
  kind: ConstraintKind,
  result: ConstraintResult,
  nowMs: number,
): Admission {
  const { ruling, notBeforeMs } = result;
  const retryAfterMs = notBeforeMs === undefined ? undefined : notBeforeMs - nowMs;
  const decided = { ...verdict, constraint: kind, retryAfterMs };
  const rejected = { ...decided, supersedes: [], cancels: "" };
  const { window, otherItemId: existingItemId } = result;
  const extended = window === undefined ? { window: {}, next: [] } : { window: { window }, next: [result.next] };
  switch (ruling) {
    case "debounce":
      return { verdict: { ...decided, status: "debounced", dueAtMs: notBeforeMs, holdReason: "debounce" }, next };
    case "deduplicate":
      return {
        verdict: { ...rejected, status: "deduplicated", existingItemId, ...extended.window },
        next: extended.next,
      };
    case "collect":
      return {
        verdict: { ...rejected, status: "debounced", existingItemId, dueAtMs: notBeforeMs, ...extended.window },
        next: extended.next,
      };
    case "reject":
      return { verdict: { ...rejected, status: "rejected" }, next: [] };
    case "admit":
    case "hold":
    case "replace":
    case "cancel_running":
      return { verdict, next };
    default:
      return unreachable(ruling);
  }
}
