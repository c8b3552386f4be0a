import { unreachable } from "../../../../errors/index.ts";
import type { AdmissionConfig } from "../../pools/index.ts";
import type { ConstraintKind, GroupState } from "./group.ts";
import { takeTurn, tokensLeft } from "./throttle.ts";

/**
 * What a constraint says of an item. admit: it passes. replace, cancel_running: it passes and takes another's place.
 * debounce, hold: it waits. deduplicate, reject: it is not let in.
 */
export type Ruling = "admit" | "replace" | "cancel_running" | "debounce" | "hold" | "deduplicate" | "reject";

/** A constraint's ruling, and its group as it is once the item is let in. */
export interface Judgement {
  readonly ruling: Ruling;
  readonly next: GroupState;
  /** The item that has the place, or whose place is taken. */
  readonly otherItemId: string;
  /** When it lets the item go on, or would let it in; undefined when nobody can tell. */
  readonly notBeforeMs: number | undefined;
}

/** The item that a constraint is asked about. */
export interface Subject {
  readonly itemId: string;
  readonly nowMs: number;
  /** It is in the queue already: a throttle has it wait, and never rejects it. */
  readonly letIn: boolean;
}

/** Asks one constraint; undefined when the pool does not have it. */
export function judge(
  kind: ConstraintKind,
  config: AdmissionConfig,
  group: GroupState,
  subject: Subject,
): Judgement | undefined {
  switch (kind) {
    case "singleton":
      return config.singleton && judgeSingleton(config.singleton, group, subject);
    case "debounce":
      return config.debounce && judgeDebounce(config.debounce, group, subject);
    case "throttle":
      return config.throttle && judgeThrottle(config.throttle, group, subject);
    case "concurrency":
      return config.concurrency && judgeConcurrency(config.concurrency, group);
    default:
      return unreachable(kind);
  }
}

/** How many places or tokens a group has left; undefined where that is no number. */
export function remainingIn(group: GroupState, config: AdmissionConfig, nowMs: number): number | undefined {
  switch (group.kind) {
    case "singleton":
      return group.itemId === "" ? 1 : 0;
    case "debounce":
      return undefined;
    case "throttle":
      return config.throttle && tokensLeft(config.throttle, group.tatMs, nowMs);
    case "concurrency":
      return config.concurrency && Math.max(0, config.concurrency.limit - group.inUse);
    default:
      return unreachable(group.kind);
  }
}

type Constraint<K extends ConstraintKind> = NonNullable<AdmissionConfig[K]>;

function judgeSingleton(
  { mode, ttlS }: Constraint<"singleton">,
  group: GroupState,
  { itemId, nowMs }: Subject,
): Judgement {
  const taken = { ...group, itemId, itemStarted: false, untilMs: nowMs + ttlS * 1000 };
  const outcome = (ruling: Ruling, otherItemId = "", next: GroupState = taken): Judgement => ({
    ruling,
    next,
    otherItemId,
    notBeforeMs: undefined,
  });
  const holder = group.itemId;
  // A holder that never ends must not shut the group for good: after its time it keeps its work but not the place.
  if (holder === "" || holder === itemId || (group.untilMs ?? 0) <= nowMs) return outcome("admit");
  if (mode === "skip") return outcome("deduplicate", holder, group);
  if (!group.itemStarted) return outcome("replace", holder);
  return mode === "cancel_running" ? outcome("cancel_running", holder) : outcome("deduplicate", holder, group);
}

function judgeDebounce(
  { periodS, maxDelayS }: Constraint<"debounce">,
  group: GroupState,
  { itemId, nowMs }: Subject,
): Judgement {
  // What has waited to the end of its window goes on, even when nobody has come by to let it: this is a new window.
  const another = group.itemId !== "" && group.itemId !== itemId;
  const waits = another && !group.itemStarted && (group.untilMs ?? 0) > nowMs;
  const sinceMs = waits ? (group.sinceMs ?? nowMs) : nowMs;
  const untilMs = Math.max(nowMs, Math.min(nowMs + periodS * 1000, sinceMs + maxDelayS * 1000));
  return {
    ruling: "debounce",
    next: { ...group, itemId, itemStarted: false, sinceMs, untilMs },
    otherItemId: waits ? group.itemId : "",
    notBeforeMs: untilMs,
  };
}

function judgeThrottle(throttle: Constraint<"throttle">, group: GroupState, { nowMs, letIn }: Subject): Judgement {
  const turn = takeTurn(throttle, group.tatMs, nowMs);
  const conforms = turn.conformsAtMs <= nowMs;
  const refused = !conforms && throttle.onLimit === "reject" && !letIn;
  const next = refused ? group : { ...group, tatMs: turn.tatMs, untilMs: turn.nextAtMs };
  return {
    ruling: conforms ? "admit" : refused ? "reject" : "hold",
    next,
    otherItemId: "",
    notBeforeMs: conforms ? undefined : turn.conformsAtMs,
  };
}

function judgeConcurrency({ limit }: Constraint<"concurrency">, group: GroupState): Judgement {
  const free = group.inUse < limit;
  const inUse = free ? group.inUse + 1 : group.inUse;
  return {
    ruling: free ? "admit" : "hold",
    next: { ...group, slots: limit, inUse },
    otherItemId: "",
    notBeforeMs: undefined,
  };
}
