import type { TenantId } from "../../../platform/access/index.ts";
import { ulid, ulidMs } from "../../../platform/ids/ulid.ts";
import type { AdmissionRequest, Verdict } from "../admission/index.ts";
import type { PoolSnapshot } from "../pools/index.ts";
import type { AcceptedBatch, DecisionRow, ItemRow } from "../queues/index.ts";
import type { Decision } from "./domain/decision.ts";
import { compactEvidence, type Evidence, type EvidenceTraceStep } from "./domain/evidence.ts";
import { noRequirements, type RoutableItem } from "./domain/item.ts";
import type { LiveView } from "./outcomes/live-pools.ts";
import type { QueueReservation } from "./queue-reservation.ts";

/** An item as a caller asks for it to be routed. */
export interface AskedItem {
  /** Empty: rules pick one. */
  readonly poolId: string;
  readonly item: RoutableItem;
  /** The item's attributes as they are kept. */
  readonly attributesJson: string;
  readonly payloadJson: string;
  readonly notBeforeMs: number | undefined;
  /** 0: as the pool says. */
  readonly ttlS: number;
}

/** An item with what was decided for it, and what admission made of that. */
export interface Routed {
  readonly id: string;
  readonly tenantId: TenantId;
  readonly asked: AskedItem;
  readonly snapshot: PoolSnapshot;
  readonly view: LiveView;
  readonly decision: Decision;
  readonly seed: number;
  readonly evidence: Evidence;
  /** The work that is put on the queue; undefined when there is none. */
  readonly work: ItemRow | undefined;
  readonly admission: AdmissionRequest | undefined;
  readonly verdict: Verdict | undefined;
  /** The place of work that waits in the queue. */
  readonly reservation?: QueueReservation;
}

/** What a caller is told became of the item. */
export type RouteOutcome = "routed" | "queued" | "held" | "deduplicated" | "debounced" | "rejected";

/** What became of an item: admission has the last word. */
export function outcomeOf({ decision, verdict }: Pick<Routed, "decision" | "verdict">): RouteOutcome {
  if (verdict !== undefined && verdict.status !== "admitted") return verdict.status;
  return decision.outcome as RouteOutcome;
}

/** An item with what admission says of it. */
export function withVerdict(routed: Routed, verdict: Verdict | undefined, nowMs: number): Routed {
  if (verdict === undefined) return routed;
  const { decision, evidence } = routed;
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
      // A word that does not change.
      reason: status === "admitted" ? decision.reason : `${constraint}_${status}`,
      trace: [...evidence.trace, step],
      existingItemId,
      dueAtMs: dueAtMs ?? evidence.dueAtMs,
    },
  };
}

const noGroups: ItemRow["groups"] = { singleton: "", debounce: "", throttle: "", concurrency: "" };
const unconstrained: Pick<ItemRow, "groups" | "limitGroups"> = { groups: noGroups, limitGroups: [] };

/** The work that is put on the queue; undefined when there is none. */
export function itemRow(
  {
    snapshot,
    asked,
    decision,
    verdict,
    admission,
  }: Pick<Routed, "snapshot" | "asked" | "decision" | "verdict" | "admission">,
  nowMs: number,
): ItemRow | undefined {
  const { config } = snapshot.pool;
  const { outcome, deliveryMode, recipientId, holdS } = decision;
  if (outcome === "rejected" || verdict?.status === "deduplicated" || verdict?.status === "rejected") return undefined;
  const ttlS = asked.ttlS === 0 ? config.queue.ttlS : asked.ttlS;
  const tracked = deliveryMode === "decision_only";
  // Nobody fetches it: it only counts against what the recipient can have at once, until its outcome is told.
  if (tracked && !snapshot.recipients.some(({ id, capacity }) => id === recipientId && capacity > 0)) return undefined;
  const hold = tracked ? heldByRecipient : heldUntil(asked, decision, verdict, nowMs, holdS);
  return {
    recipientId,
    delivery: tracked ? "none" : deliveryOf(decision),
    ...hold,
    ageingS: config.queue.ageingS,
    leaseS: tracked ? config.lease.durationS : undefined,
    expiresAtMs: nowMs + ttlS * 1000,
    ownTtl: asked.ttlS !== 0,
    ...(admission === undefined ? unconstrained : groupsOf(admission)),
  };
}

function deliveryOf({ reason, deliveryMode }: Decision): ItemRow["delivery"] {
  if (reason === "decided_later") return "undecided";
  return deliveryMode === "push" ? "push" : "pull";
}

type Hold = Pick<ItemRow, "state" | "dueAtMs" | "heldForMs" | "notBeforeMs" | "holdReason">;
const heldByRecipient: Hold = { state: "leased", dueAtMs: undefined, holdReason: "" };
const heldByNobody: Hold = { state: "ready", dueAtMs: undefined, holdReason: "" };

/**
 * What an item has to wait for before it can be handed out. Whether its own time has come is not decided here: nodes'
 * clocks differ, and the database's counts.
 */
function heldUntil(
  { notBeforeMs }: AskedItem,
  { outcome }: Decision,
  verdict: Verdict | undefined,
  nowMs: number,
  holdS: number,
): Hold {
  if (verdict !== undefined && verdict.holdReason !== "") {
    const { dueAtMs = nowMs, holdReason } = verdict;
    return heldFor(holdReason, dueAtMs - nowMs, notBeforeMs, nowMs);
  }
  if (outcome === "held") return heldFor("rule", holdS * 1000, notBeforeMs, nowMs);
  if (notBeforeMs === undefined) return heldByNobody;
  const dueAtMs = notBeforeMs > nowMs ? notBeforeMs : undefined;
  return { state: "pending", holdReason: "not_before", dueAtMs, notBeforeMs };
}

function heldFor(holdReason: string, heldForMs: number, notBeforeMs: number | undefined, nowMs: number): Hold {
  const dueAtMs = Math.max(nowMs + heldForMs, notBeforeMs ?? 0);
  return { state: "held", holdReason, dueAtMs, heldForMs, notBeforeMs };
}

function groupsOf({ groups, limitGroups }: AdmissionRequest): Pick<ItemRow, "groups" | "limitGroups"> {
  return { groups, limitGroups };
}

/** What is kept of an item that was routed. */
export function settled(routed: Routed, nowMs: number): AcceptedBatch["rows"][number] {
  const { id, tenantId, asked, snapshot, seed, decision, evidence, work } = routed;
  const { pool, digest } = snapshot;
  const outcome = outcomeOf(routed);
  const refused = outcome === "deduplicated" || outcome === "rejected";
  const { type, key, requirements, priority } = asked.item;
  const recipientId = refused ? "" : decision.recipientId;
  const row: DecisionRow = {
    tenantId,
    id,
    poolId: pool.id,
    type,
    key,
    attributesJson: asked.attributesJson,
    requirementsJson: requirements === noRequirements ? noRequirementsJson : JSON.stringify(requirements),
    payloadJson: refused ? "{}" : asked.payloadJson,
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
    events: pool.config.itemEvents ? [decidedEvent(row, evidence.reason, nowMs)] : noEvents,
  };
}

const noRequirementsJson = JSON.stringify(noRequirements);
const noEvents: AcceptedBatch["rows"][number]["events"] = [];

function decidedEvent({ id, poolId, outcome, recipientId, type }: DecisionRow, reason: string, nowMs: number) {
  const data = { pool_id: poolId, outcome, reason, recipient_id: recipientId, type };
  return { id: ulid(nowMs), type: "route.decided", subject: id, data };
}
