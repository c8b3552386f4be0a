import type { TenantId } from "../../platform/access/index.ts";
import { ulid } from "../../platform/ids/ulid.ts";
import type { PoolSnapshot } from "../pools/index.ts";
import type { AdmissionAsked, DecisionRow, ItemRow, Parcel, Verdict } from "../queues/index.ts";
import type { Decision } from "./domain/decision.ts";
import type { Evidence } from "./domain/evidence.ts";
import type { RoutableItem } from "./domain/item.ts";
import type { LiveView } from "./live-pools.ts";

/** An item as a caller asks for it to be routed. */
export interface AskedItem {
  /** Empty: rules pick one. */
  readonly poolId: string;
  readonly item: RoutableItem;
  readonly payload: Readonly<Record<string, unknown>>;
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
  readonly admission?: AdmissionAsked | undefined;
  readonly verdict: Verdict | undefined;
}

/** What a caller is told became of the item. */
export type RouteOutcome = "routed" | "queued" | "held" | "deduplicated" | "debounced" | "rejected";

/** What became of an item: admission has the last word. */
export function outcomeOf({ decision, verdict }: Routed): RouteOutcome {
  if (verdict !== undefined && verdict.status !== "admitted") return verdict.status;
  return decision.outcome as RouteOutcome;
}

/** Why, as a word that does not change. */
export function reasonOf({ decision, verdict }: Routed): string {
  if (verdict === undefined || verdict.status === "admitted") return decision.reason;
  return `${verdict.constraint}_${verdict.status}`;
}

/** When the item goes on, when that is known. */
export function dueAtOf(routed: Routed, nowMs: number): number | undefined {
  return itemRow(routed, nowMs)?.dueAtMs ?? routed.verdict?.dueAtMs;
}

const noGroups: ItemRow["groups"] = { singleton: "", debounce: "", throttle: "", concurrency: "" };

/** The work that is put on the queue; undefined when there is none. */
export function itemRow(routed: Routed, nowMs: number): ItemRow | undefined {
  const { snapshot, asked, decision, verdict, admission } = routed;
  const { config } = snapshot.pool;
  const { outcome, deliveryMode, recipientId, holdS } = decision;
  if (outcome === "rejected" || verdict?.status === "deduplicated" || verdict?.status === "rejected") return undefined;
  const ttlS = asked.ttlS === 0 ? config.queue.ttlS : asked.ttlS;
  const base = {
    recipientId,
    ageingS: config.queue.ageingS,
    expiresAtMs: nowMs + ttlS * 1000,
    ownTtl: asked.ttlS !== 0,
    groups: noGroups,
    hasSlot: false,
    holdReason: "",
    dueAtMs: undefined,
  };
  if (deliveryMode === "decision_only") {
    // Nobody fetches it: it only counts against what the recipient can have at once, until its outcome is told.
    const capacity = snapshot.recipients.find(({ id }) => id === recipientId)?.capacity ?? 0;
    if (capacity === 0) return undefined;
    return { ...base, delivery: "none", state: "leased", leaseS: config.lease.durationS };
  }
  const held = heldUntil(asked, decision, verdict, nowMs, holdS);
  return {
    ...base,
    delivery: deliveryMode === "push" ? "push" : "pull",
    ...held,
    hasSlot: verdict?.hasSlot ?? false,
    groups: admission === undefined ? noGroups : groupsOf(admission),
  };
}

/** What an item has to wait for before it can be handed out. */
function heldUntil(
  { notBeforeMs = 0 }: AskedItem,
  { outcome }: Decision,
  verdict: Verdict | undefined,
  nowMs: number,
  holdS: number,
): Pick<ItemRow, "state" | "dueAtMs" | "holdReason"> {
  if (verdict !== undefined && verdict.holdReason !== "") {
    const { dueAtMs, holdReason } = verdict;
    return { state: "held", holdReason, dueAtMs: dueAtMs === undefined ? undefined : Math.max(dueAtMs, notBeforeMs) };
  }
  if (outcome === "held") {
    return { state: "held", holdReason: "rule", dueAtMs: Math.max(nowMs + holdS * 1000, notBeforeMs) };
  }
  if (notBeforeMs > nowMs) return { state: "pending", holdReason: "not_before", dueAtMs: notBeforeMs };
  return { state: "ready", holdReason: "", dueAtMs: undefined };
}

function groupsOf({ itemRefs }: AdmissionAsked): ItemRow["groups"] {
  const groups: Record<string, string> = { ...noGroups };
  for (const { kind, groupId } of itemRefs) groups[kind] = groupId;
  return groups as unknown as ItemRow["groups"];
}

/** What is kept of an item that was routed. */
export function settled(routed: Routed, nowMs: number): Parcel["rows"][number] {
  const { id, tenantId, asked, snapshot, seed, decision, evidence, verdict } = routed;
  const { pool, digest } = snapshot;
  const item = itemRow(routed, nowMs);
  const outcome = outcomeOf(routed);
  const refused = outcome === "deduplicated" || outcome === "rejected";
  const dueAtMs = dueAtOf(routed, nowMs);
  const row: DecisionRow = {
    tenantId,
    id,
    poolId: pool.id,
    type: asked.item.type,
    key: asked.item.key,
    attributes: asked.item.attributes,
    requirements: { ...asked.item.requirements },
    payload: refused ? {} : asked.payload,
    priority: asked.item.priority,
    outcome,
    recipientId: refused ? "" : decision.recipientId,
    snapshotDigest: digest,
    seed,
    evidence: {
      ...evidence,
      reason: reasonOf(routed),
      ...(dueAtMs !== undefined && { dueAtMs }),
      ...(verdict !== undefined && verdict.existingItemId !== "" && { existingItemId: verdict.existingItemId }),
    },
  };
  return {
    decision: row,
    priority: decision.priority,
    item,
    events: pool.config.itemEvents ? [decidedEvent(row, nowMs)] : [],
  };
}

function decidedEvent({ id, poolId, outcome, evidence, recipientId, type }: DecisionRow, nowMs: number) {
  const data = { pool_id: poolId, outcome, reason: evidence.reason, recipient_id: recipientId, type };
  return { id: ulid(nowMs), type: "route.decided", subject: id, data };
}
