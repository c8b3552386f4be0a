import type { TenantId } from "../../../platform/access/index.ts";
import { ulid, ulidMs } from "../../../platform/ids/ulid.ts";
import { type AdmissionRequest, createsNoItem, toCollection, type Verdict } from "../admission/index.ts";
import { type PoolSnapshot, priorityWorthS, type ReservationConfig } from "../pools/index.ts";
import {
  type AcceptedBatch,
  type DecisionRow,
  type ItemDependencies,
  type ItemRetry,
  type ItemRow,
  type ItemsAfter,
  noRequirementsJson,
  offeredEvent,
} from "../queues/index.ts";
import type { Decision } from "./domain/decision.ts";
import { compactEvidence, type Evidence, type EvidenceTraceStep } from "./domain/evidence.ts";
import { noRequirements, type RoutableItem } from "./domain/item.ts";
import type { LiveView } from "./outcomes/live-pools.ts";
import type { QueueReservation } from "./queue-reservation.ts";

/** An item that a caller requests to route. */
export interface RouteInput {
  /** Empty: the rules choose a pool. */
  readonly poolId: string;
  readonly item: RoutableItem;
  /** The item's attributes as they are stored. */
  readonly attributesJson: string;
  readonly payloadJson: string;
  readonly notBeforeMs: number | undefined;
  /** 0: the pool's default. */
  readonly ttlS: number;
  readonly rejectAsError: boolean;
  /** The items that it waits for; undefined for none. */
  readonly after?: ItemsAfter | undefined;
  /** Those of them that have not ended. */
  readonly waitsFor?: readonly string[] | undefined;
  /** Its own retries; undefined if it follows its pool. */
  readonly retry?: ItemRetry | undefined;
}

/** An item with its decision and its admission verdict. */
export interface RoutedItem {
  readonly id: string;
  readonly tenantId: TenantId;
  readonly input: RouteInput;
  readonly snapshot: PoolSnapshot;
  readonly view: LiveView;
  readonly decision: Decision;
  readonly seed: number;
  readonly evidence: Evidence;
  /** The queue item; undefined when there is none. */
  readonly work: ItemRow | undefined;
  readonly admission: AdmissionRequest | undefined;
  readonly verdict: Verdict | undefined;
  /** The reserved place of an item that waits in the queue. */
  readonly reservation?: QueueReservation;
}

/** The outcome of an item that the caller sees. */
export type RouteOutcome = "routed" | "queued" | "held" | "deduplicated" | "debounced" | "rejected";

/** The outcome of an item. A verdict of admission overrides the decision, and so does the wait for other items. */
export function outcomeOf({
  decision,
  verdict,
  input,
}: Pick<RoutedItem, "decision" | "verdict" | "input">): RouteOutcome {
  if (verdict !== undefined && verdict.status !== "admitted") return verdict.status;
  if (decision.outcome !== "rejected" && waitsForItems(input)) return "held";
  return decision.outcome as RouteOutcome;
}

/** Whether an item has to wait for others. */
export function waitsForItems({ waitsFor }: Pick<RouteInput, "waitsFor">): boolean {
  return waitsFor !== undefined && waitsFor.length > 0;
}

/** Adds the admission verdict to an item. */
export function applyVerdict(routed: RoutedItem, verdict: Verdict | undefined, nowMs: number): RoutedItem {
  if (verdict === undefined) return routed;
  const { evidence } = routed;
  const { status, constraint, existingItemId } = verdict;
  const step: EvidenceTraceStep = {
    step: "admission",
    result: status,
    ...(constraint !== undefined && { id: constraint }),
  };
  const work = itemRow({ ...routed, verdict }, nowMs);
  const dueAtMs = work?.dueAtMs ?? verdict.dueAtMs;
  return {
    ...routed,
    verdict,
    work,
    evidence: {
      ...evidence,
      // A stable code.
      reason: reasonOf(verdict, evidence.reason),
      trace: [...evidence.trace, step],
      existingItemId,
      retryAfterMs: status === "rejected" ? (verdict.retryAfterMs ?? 0) : evidence.retryAfterMs,
      dueAtMs: dueAtMs ?? evidence.dueAtMs,
    },
  };
}

function reasonOf({ status, constraint, existingItemId }: Verdict, decided: string): string {
  if (status === "admitted") return decided;
  return status === "debounced" && existingItemId !== "" ? `${constraint}_collected` : `${constraint}_${status}`;
}

const noGroups: ItemRow["groups"] = { singleton: "", debounce: "", throttle: "", concurrency: "" };
const unconstrained: Pick<ItemRow, "groups" | "limitGroups"> = { groups: noGroups, limitGroups: [] };

/** Creates the queue item; undefined when nothing is queued. */
export function itemRow(
  {
    snapshot,
    input,
    decision,
    verdict,
    admission,
  }: Pick<RoutedItem, "snapshot" | "input" | "decision" | "verdict" | "admission">,
  nowMs: number,
): ItemRow | undefined {
  const { config } = snapshot.pool;
  const { outcome, deliveryMode, recipientId, holdS } = decision;
  if (outcome === "rejected" || (verdict !== undefined && createsNoItem(verdict))) return undefined;
  const ttlS = input.ttlS === 0 ? config.queue.ttlS : input.ttlS;
  const tracked = deliveryMode === "decision_only";
  // A tracked item is never leased by a worker. It only counts against the recipient's capacity until its outcome is reported.
  if (tracked && !snapshot.recipients.some(({ id, capacity }) => id === recipientId && capacity > 0)) return undefined;
  const hold = tracked ? trackedHold : withDependencies(input, holdOf(input, decision, verdict, nowMs, holdS));
  const isOffered = config.reservation !== undefined && deliveryMode === "pull";
  return {
    // An item that must wait first is offered to a recipient that is chosen when it is due.
    recipientId: isOffered && hold !== noHold ? "" : recipientId,
    delivery: tracked ? "none" : deliveryOf(decision),
    ...(isOffered && hold === noHold ? offerHold(config.reservation!) : hold),
    ageingS: priorityWorthS(config.queue),
    leaseS: tracked ? config.lease.durationS : undefined,
    expiresAtMs: nowMs + ttlS * 1000,
    ownTtl: input.ttlS !== 0,
    retry: input.retry,
    ...(admission === undefined ? unconstrained : groupsOf(admission)),
  };
}

function deliveryOf({ reason, deliveryMode }: Decision): ItemRow["delivery"] {
  if (reason === "decided_later") return "undecided";
  return deliveryMode === "push" ? "push" : "pull";
}

type Hold = Pick<ItemRow, "state" | "dueAtMs" | "heldForMs" | "notBeforeMs" | "holdReason" | "dependencies">;
const trackedHold: Hold = { state: "leased", dueAtMs: undefined, holdReason: "" };
const noHold: Hold = { state: "ready", dueAtMs: undefined, holdReason: "" };

/** The hold of an item that its recipient may accept. It is not due by itself, so the caller learns of no such time. */
function offerHold({ timeoutS }: ReservationConfig): Hold {
  return { state: "held", dueAtMs: undefined, heldForMs: timeoutS * 1000, holdReason: "offer" };
}

/**
 * The hold of an item before it can be leased. Whether `notBefore` has passed is decided by the database's clock, because
 * the clocks of nodes differ.
 */
function holdOf(
  { notBeforeMs }: RouteInput,
  { outcome }: Decision,
  verdict: Verdict | undefined,
  nowMs: number,
  holdS: number,
): Hold {
  if (verdict !== undefined && verdict.holdReason !== "") {
    const { dueAtMs = nowMs, holdReason } = verdict;
    return createHold(holdReason, dueAtMs - nowMs, notBeforeMs, nowMs);
  }
  if (outcome === "held") return createHold("rule", holdS * 1000, notBeforeMs, nowMs);
  if (notBeforeMs === undefined) return noHold;
  const dueAtMs = notBeforeMs > nowMs ? notBeforeMs : undefined;
  return { state: "pending", holdReason: "not_before", dueAtMs, notBeforeMs };
}

/** An item that waits for others is held by them first. If all have ended, it still gets their results. */
function withDependencies({ after, waitsFor = [] }: RouteInput, hold: Hold): Hold {
  if (after === undefined) return hold;
  const { onFailure } = after;
  if (waitsFor.length === 0) return { ...hold, dependencies: { onIds: [], resume: { onFailure, reason: "" } } };
  const reason = hold.holdReason as ItemDependencies["resume"]["reason"];
  const resume = { onFailure, reason, ...(hold.dueAtMs !== undefined && { atMs: hold.dueAtMs }) };
  const dependencies = { onIds: waitsFor, resume };
  return { state: "held", holdReason: "dependency", dueAtMs: undefined, dependencies };
}

function createHold(holdReason: string, heldForMs: number, notBeforeMs: number | undefined, nowMs: number): Hold {
  const dueAtMs = Math.max(nowMs + heldForMs, notBeforeMs ?? 0);
  return { state: "held", holdReason, dueAtMs, heldForMs, notBeforeMs };
}

function groupsOf({ groups, limitGroups }: AdmissionRequest): Pick<ItemRow, "groups" | "limitGroups"> {
  return { groups, limitGroups };
}

/** Creates the rows and events to store for a routed item. */
export function toAcceptedRow(routed: RoutedItem, nowMs: number): AcceptedBatch["rows"][number] {
  const { id, tenantId, input, snapshot, seed, decision, evidence, work } = routed;
  const { pool, digest } = snapshot;
  const outcome = outcomeOf(routed);
  const refused = isRefused(routed);
  const { type, key, requirements, priority } = input.item;
  const recipientId = refused ? "" : decision.recipientId;
  const row: DecisionRow = {
    tenantId,
    id,
    poolId: pool.id,
    type,
    key,
    attributesJson: input.attributesJson,
    requirementsJson: requirements === noRequirements ? noRequirementsJson : JSON.stringify(requirements),
    payloadJson: refused ? "{}" : payloadOf(routed),
    priority,
    outcome,
    recipientId,
    snapshotDigest: digest,
    seed,
    evidenceJson: JSON.stringify(compactEvidence(evidence, { madeAtMs: ulidMs(id), outcome, recipientId, priority })),
  };
  return {
    decision: row,
    priority: decision.priority,
    item: work,
    events: eventsOf(routed, row, nowMs),
  };
}

/** Whether an item gets no place in a queue and no recipient. */
export function isRefused(routed: Pick<RoutedItem, "decision" | "verdict" | "input">): boolean {
  return outcomeOf(routed) === "rejected" || (routed.verdict !== undefined && createsNoItem(routed.verdict));
}

/** The payload as it is stored. */
function payloadOf({ input, work, snapshot }: RoutedItem): string {
  return work !== undefined && takesAll(snapshot) ? toCollection(input.payloadJson) : input.payloadJson;
}

/** Whether the items of a pool collect the payloads of their debounce window. */
export function takesAll({ pool }: PoolSnapshot): boolean {
  return pool.config.admission.debounce?.take === "all";
}

function eventsOf({ snapshot, evidence, work }: RoutedItem, row: DecisionRow, nowMs: number) {
  const { itemEvents, reservation } = snapshot.pool.config;
  if (!itemEvents && reservation === undefined) return noEvents;
  const offered = work?.holdReason === "offer" ? [firstOfferEvent(row, work.heldForMs!, nowMs)] : [];
  return itemEvents ? [decidedEvent(row, evidence.reason, nowMs), ...offered] : offered;
}

/** The offer expires by the database's clock, from which this node's differs little. */
function firstOfferEvent({ tenantId, id, poolId, recipientId }: DecisionRow, heldForMs: number, nowMs: number) {
  const offer = { tenantId, poolId, itemId: id, recipientId, number: 1 };
  return { id: ulid(nowMs), ...offeredEvent(offer, new Date(nowMs + heldForMs)) };
}

const noEvents: AcceptedBatch["rows"][number]["events"] = [];

function decidedEvent({ id, poolId, outcome, recipientId, type }: DecisionRow, reason: string, nowMs: number) {
  const data = { pool_id: poolId, outcome, reason, recipient_id: recipientId, type };
  return { id: ulid(nowMs), type: "route.decided", subject: id, data };
}
