import { unreachable } from "../../../../errors/index.ts";
import type { AdmissionConfig } from "../../pools/index.ts";
import type { CollectedPayloads, ConstraintKind, GroupState } from "./group.ts";
import { consumeTokens, tokensLeft } from "./throttle.ts";

/**
 * The ruling of a constraint. admit: the item passes. replace, cancel_running: it passes and replaces another item.
 * debounce, hold: it waits. collect: a waiting item takes its payload. deduplicate, reject: it is not admitted.
 */
export type Ruling =
  | "admit"
  | "replace"
  | "cancel_running"
  | "debounce"
  | "collect"
  | "hold"
  | "deduplicate"
  | "reject";

/** The ruling of a constraint, and the state of its group after the item is admitted. */
export interface ConstraintResult {
  readonly ruling: Ruling;
  readonly next: GroupState;
  /** The item that holds the slot, or that is replaced. */
  readonly otherItemId: string;
  /** When the item may continue or would be admitted; undefined if unknown. */
  readonly notBeforeMs: number | undefined;
  /** The debounce window of a waiting item that becomes longer. */
  readonly window?: WindowExtension;
}

/** A debounce window that becomes longer because of another item. */
export interface WindowExtension {
  readonly itemId: string;
  readonly untilMs: number;
  /** Whether the waiting item takes the payload of the other item. */
  readonly collects: boolean;
}

/** The item under evaluation. */
export interface Subject {
  readonly itemId: string;
  readonly nowMs: number;
  /** The item is already in the queue: a throttle delays it and never rejects it. */
  readonly isQueued: boolean;
  /** The size of the payload; undefined for an item whose payload another item cannot take. */
  readonly payloadBytes?: number | undefined;
}

/** The most payloads that one item collects, and their size as JSON. */
const collectedMax: CollectedPayloads = { count: 100, bytes: 256 * 1024 };

/** Evaluates one constraint; undefined if the pool does not have it. */
export function evaluateConstraint(
  kind: ConstraintKind,
  config: AdmissionConfig,
  group: GroupState,
  subject: Subject,
): ConstraintResult | undefined {
  switch (kind) {
    case "singleton":
      return config.singleton && evaluateSingleton(config.singleton, group, subject);
    case "debounce":
      return config.debounce && evaluateDebounce(config.debounce, group, subject);
    case "throttle":
      return config.throttle && evaluateThrottle(config.throttle, group, subject);
    case "concurrency":
      return config.concurrency && evaluateConcurrency(config.concurrency, group);
    default:
      return unreachable(kind);
  }
}

/** Returns the remaining slots or tokens of a group; undefined if not applicable. */
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

function evaluateSingleton(
  { mode, ttlS }: Constraint<"singleton">,
  group: GroupState,
  { itemId, nowMs }: Subject,
): ConstraintResult {
  const taken = { ...group, itemId, itemStarted: false, untilMs: nowMs + ttlS * 1000 };
  const outcome = (ruling: Ruling, otherItemId = "", next: GroupState = taken): ConstraintResult => ({
    ruling,
    next,
    otherItemId,
    notBeforeMs: undefined,
  });
  const holder = group.itemId;
  // A holder that never ends must not block the group forever: when its time is up it keeps running but loses the
  // slot.
  if (holder === "" || holder === itemId || (group.untilMs ?? 0) <= nowMs) return outcome("admit");
  if (mode === "skip") return outcome("deduplicate", holder, group);
  if (!group.itemStarted) return outcome("replace", holder);
  return mode === "cancel_running" ? outcome("cancel_running", holder) : outcome("deduplicate", holder, group);
}

function evaluateDebounce(
  { periodS, maxDelayS, take }: Constraint<"debounce">,
  group: GroupState,
  { itemId, nowMs, payloadBytes }: Subject,
): ConstraintResult {
  // An item whose window has ended is due even if no sweep has released it yet; this item starts a new window.
  const another = group.itemId !== "" && group.itemId !== itemId;
  const waits = another && !group.itemStarted && (group.untilMs ?? 0) > nowMs;
  const collected = waits && take === "all" ? addPayload(group.collected, payloadBytes) : undefined;
  // A full batch proceeds at the end of its window, and this item starts a new one.
  const joins = waits && (take !== "all" || collected !== undefined);
  const sinceMs = joins ? (group.sinceMs ?? nowMs) : nowMs;
  const untilMs = Math.max(nowMs, Math.min(nowMs + periodS * 1000, sinceMs + maxDelayS * 1000));
  if (joins && take !== "last") {
    return {
      ruling: take === "all" ? "collect" : "deduplicate",
      next: { ...group, sinceMs, untilMs, collected },
      otherItemId: group.itemId,
      notBeforeMs: untilMs,
      window: { itemId: group.itemId, untilMs, collects: take === "all" },
    };
  }
  const first = take === "all" ? addPayload(emptyCollection, payloadBytes) : undefined;
  return {
    ruling: "debounce",
    next: { ...group, itemId, itemStarted: false, sinceMs, untilMs, ...(first && { collected: first }) },
    otherItemId: joins ? group.itemId : "",
    notBeforeMs: untilMs,
  };
}

const emptyCollection: CollectedPayloads = { count: 0, bytes: 0 };

/** Adds a payload; undefined if it does not fit, or if the item cannot collect payloads. */
function addPayload(
  collected: CollectedPayloads | undefined,
  payloadBytes: number | undefined,
): CollectedPayloads | undefined {
  if (collected === undefined || payloadBytes === undefined) return undefined;
  const next = { count: collected.count + 1, bytes: collected.bytes + payloadBytes + 1 };
  return next.count > collectedMax.count || next.bytes > collectedMax.bytes ? undefined : next;
}

function evaluateThrottle(
  throttle: Constraint<"throttle">,
  group: GroupState,
  { nowMs, isQueued }: Subject,
): ConstraintResult {
  const grant = consumeTokens(throttle, group.tatMs, nowMs);
  const conforms = grant.conformsAtMs <= nowMs;
  const refused = !conforms && throttle.onLimit === "reject" && !isQueued;
  const next = refused ? group : { ...group, tatMs: grant.tatMs, untilMs: grant.nextAtMs };
  return {
    ruling: conforms ? "admit" : refused ? "reject" : "hold",
    next,
    otherItemId: "",
    notBeforeMs: conforms ? undefined : grant.conformsAtMs,
  };
}

function evaluateConcurrency({ limit }: Constraint<"concurrency">, group: GroupState): ConstraintResult {
  const free = group.inUse < limit;
  const inUse = free ? group.inUse + 1 : group.inUse;
  return {
    ruling: free ? "admit" : "hold",
    next: { ...group, slots: limit, inUse },
    otherItemId: "",
    notBeforeMs: undefined,
  };
}
