import { ulidMs } from "../../../../platform/ids/ulid.ts";
import { type AdmissionRequest, createsNoItem, type Verdict } from "../../admission/index.ts";
import { type PoolSnapshot, priorityWorthS } from "../../pools/index.ts";
import { capacityReasons } from "../domain/assignment-retry.ts";
import { type CompiledPool, compilePool } from "../domain/compilation/compiled-pool.ts";
import type { Decision } from "../domain/decision.ts";
import { decide } from "../domain/decision-engine.ts";
import { LivePool } from "../domain/facts/live-pool.ts";
import { applyOutcome, type RecipientHealth, unknownHealth } from "../domain/facts/outlier.ts";
import type { RoutableItem } from "../domain/item.ts";
import { choosesUnaddressed } from "../domain/pool-choice.ts";
import { fateOf, type ItemFate, notChosen, refused } from "./item-fate.ts";
import { type Acceptance, type Occupant, Occupants, removeFrom } from "./occupants.ts";
import type { RecordedItem } from "./recorded-item-store.ts";
import type { ItemService, ServiceProfile } from "./service-profile.ts";
import { type AdmissionOf, SimulatedConstraints } from "./simulated-constraints.ts";
import { WaitTimes } from "./wait-times.ts";

export interface SimulatedPoolParts {
  readonly snapshot: PoolSnapshot;
  readonly profile: ServiceProfile;
  readonly admissionOf: AdmissionOf;
}

/** Items that are tried when a recipient has a free place. */
const placeTriesMax = 8;
/** How long an item whose end nobody reports counts as load of its recipient: until nodes count the load again. */
const untrackedMs = 2000;
const retryMs = 5000;

/**
 * A pool as it would have been with a version, in simulated time: its recipients work as long as was recorded, and decisions
 * see the load, latency and health that follow from that.
 */
export class SimulatedPool {
  readonly compiled: CompiledPool;
  readonly waits = new WaitTimes();
  /** Items, time of work and cost by the index of the recipient. */
  readonly items: Float64Array;
  readonly busyMs: Float64Array;
  readonly constraints: SimulatedConstraints;
  cost = 0;
  /** Whether more items were in the pool than are simulated. */
  isOverfull = false;
  readonly #parts: SimulatedPoolParts;
  readonly #live: LivePool;
  readonly #health: RecipientHealth[];
  readonly #workers: Float64Array;
  readonly #running: Float64Array;
  /** Items that wait for a worker, by recipient, in their order. */
  readonly #ready = new Map<number, number[]>();
  /** Items without a recipient, in their order. */
  #unassigned: number[] = [];
  readonly #occupants = new Occupants();
  /** Recipients with an item that waits for a place or a token of its group. */
  readonly #blocked = new Set<number>();
  readonly #worthMs: number;
  #waiting = 0;
  #nowMs = 0;

  constructor(parts: SimulatedPoolParts) {
    const { snapshot, profile } = parts;
    this.#parts = parts;
    this.compiled = compilePool(snapshot);
    this.constraints = new SimulatedConstraints(parts.admissionOf);
    this.#live = new LivePool(this.compiled);
    const { recipients } = snapshot;
    this.items = new Float64Array(recipients.length);
    this.busyMs = new Float64Array(recipients.length);
    this.#running = new Float64Array(recipients.length);
    this.#health = recipients.map(() => unknownHealth);
    this.#workers = Float64Array.from(recipients, ({ id }) => profile.workersOf(id));
    this.#worthMs = priorityWorthS(snapshot.pool.config.queue) * 1000;
  }

  /** Items that wait now. */
  get waiting(): number {
    return this.#waiting;
  }

  /** An item arrives. Items arrive in the order of their times. Yields like `advance`. */
  *arrive(recorded: RecordedItem): Generator<void, ItemFate> {
    const nowMs = ulidMs(recorded.id);
    yield* this.advance(nowMs);
    const { type, key, attributes, requirements, priority, seed } = recorded;
    const item = { type, key, attributes, requirements, priority } as unknown as RoutableItem;
    const at = { nowMs, seed, waitedS: 0 };
    if (recorded.unaddressed && !choosesUnaddressed(this.compiled, item, at)) return notChosen;
    const decision = decide(this.compiled, this.#live, item, at);
    const fate = fateOf(decision);
    if (decision.outcome === "rejected" || decision.outcome === "redirected" || decision.outcome === "no_match") {
      return fate;
    }
    const { config } = this.#parts.snapshot.pool;
    if (this.#waiting >= config.queue.maxDepth) return refused(fate, "rejected", "queue_full", "");
    const isFetched = decision.deliveryMode !== "decision_only";
    const recipient = this.#assign(decision.recipientId);
    const admission = this.constraints.requestOf(this.#parts.snapshot, item);
    if (admission === "invalid") {
      this.#release(recipient);
      return refused(fate, "rejected", "constraint_key_invalid", "");
    }
    const verdict = admission && this.#admit(admission, recorded, nowMs);
    if (verdict !== undefined && verdict.status !== "admitted") {
      const { status, constraint = "" } = verdict;
      if (createsNoItem(verdict) || status === "rejected") {
        this.#release(recipient);
        return refused(fate, status, `${constraint}_${status}`, constraint);
      }
    }
    const service = recipient < 0 ? undefined : this.#serviceOf(recorded, recipient);
    if (service !== undefined) this.#count(recipient, service);
    this.#enter(
      {
        ...{ id: recorded.id, arrivedMs: nowMs, admission, recipient, service },
        request: recipient < 0 ? { recorded, item } : undefined,
        isTracked: isFetched || this.compiled.capacities[recipient]! > 0,
        rank: nowMs - decision.priority * this.#worthMs,
        expiresMs: nowMs + config.queue.ttlS * 1000,
        state: "held",
      },
      decision,
      verdict?.dueAtMs,
    );
    if (verdict?.status !== "debounced") return fate;
    return { ...fate, outcome: "debounced", constraint: "debounce" };
  }

  /** Lets time pass: items end, fall due and are assigned. Yields after each of them, because any number may be due. */
  *advance(toMs: number): Generator<void, void> {
    for (let due = this.#occupants.takeDue(toMs); due !== undefined; due = this.#occupants.takeDue(toMs)) {
      this.#nowMs = due.dueMs;
      this.#onDue(due.slot, this.#occupants.at(due.slot));
      yield;
    }
    this.#nowMs = toMs;
  }

  #onDue(slot: number, occupant: Occupant): void {
    const { state, expiresMs, recipient, acceptance } = occupant;
    if (state === "running") this.#end(slot, occupant);
    else if (expiresMs <= this.#nowMs) this.#leave(slot, occupant);
    else if (acceptance !== undefined && acceptance.atMs <= this.#nowMs) this.#accept(slot, occupant, acceptance);
    else if (state === "held" && recipient >= 0) this.#makeReady(slot, occupant);
    else if (state !== "ready") this.#decideAgain(slot, occupant);
    else {
      this.#occupants.setDue(slot, expiresMs);
      this.#start(recipient);
    }
  }

  #admit(request: AdmissionRequest, recorded: RecordedItem, nowMs: number): Verdict {
    const verdict = this.constraints.admit(request, recorded, nowMs);
    for (const itemId of [...verdict.supersedes, verdict.cancels]) this.#remove(itemId);
    const { window } = verdict;
    const extended = window && this.#occupants.slotOf(window.itemId);
    if (extended !== undefined) this.#occupants.setDue(extended, window!.untilMs);
    return verdict;
  }

  /** Takes an item that another one replaces out of the pool. */
  #remove(itemId: string): void {
    const slot = this.#occupants.slotOf(itemId);
    if (slot === undefined) return;
    const occupant = this.#occupants.at(slot);
    if (occupant.state === "running") this.#end(slot, { ...occupant, service: undefined });
    else this.#leave(slot, occupant);
  }

  #enter(occupant: Occupant, decision: Decision, debouncedUntilMs: number | undefined): void {
    const { recipient, isTracked } = occupant;
    const slot = this.#occupants.add(occupant);
    if (slot === undefined) {
      this.isOverfull = true;
      this.#release(recipient);
      return;
    }
    if (decision.deliveryMode === "decision_only") {
      // Nobody fetches such an item. Without a capacity, nodes forget it with their next count of the load.
      if (!isTracked) occupant.service = { ...occupant.service!, durationMs: untrackedMs };
      occupant.state = "running";
      this.#running[recipient] = this.#running[recipient]! + 1;
      this.#occupants.setDue(slot, this.#nowMs + occupant.service!.durationMs);
      return;
    }
    this.#waiting++;
    if (debouncedUntilMs !== undefined) this.#occupants.setDue(slot, debouncedUntilMs);
    else if (decision.outcome === "routed") this.#makeReady(slot, occupant);
    else this.#wait(slot, occupant, decision);
  }

  /** How a recipient works on an item. */
  #serviceOf(recorded: RecordedItem, recipient: number): ItemService {
    return this.#parts.profile.serviceFor(recorded, this.#parts.snapshot.recipients[recipient]!.id);
  }

  /** Counts an item of a recipient. */
  #count(recipient: number, service: ItemService): void {
    this.items[recipient] = this.items[recipient]! + 1;
    this.cost += service.cost ?? this.compiled.costs[recipient]!;
  }

  #makeReady(slot: number, occupant: Occupant): void {
    occupant.state = "ready";
    const { recipient } = occupant;
    let queue = this.#ready.get(recipient);
    if (queue === undefined) {
      queue = [];
      this.#ready.set(recipient, queue);
    }
    this.#occupants.insert(queue, slot);
    this.#occupants.setDue(slot, occupant.expiresMs);
    this.#start(recipient);
  }

  /** Starts the items of a recipient for which it has a worker, and whose groups have room. */
  #start(recipient: number): void {
    const queue = this.#ready.get(recipient);
    if (queue === undefined) return;
    for (let at = 0; at < queue.length && this.#running[recipient]! < this.#workers[recipient]!; ) {
      const slot = queue[at]!;
      const occupant = this.#occupants.at(slot);
      if (this.#mayStart(slot, occupant)) {
        queue.splice(at, 1);
        this.#run(slot, occupant);
      } else {
        this.#blocked.add(recipient);
        if (++at >= placeTriesMax) return;
      }
    }
  }

  /** Starts items of other recipients that waited for a place in a group. */
  #startBlocked(): void {
    const blocked = [...this.#blocked];
    this.#blocked.clear();
    for (const recipient of blocked) this.#start(recipient);
  }

  /** Whether the constraints of an item allow its start. */
  #mayStart(slot: number, { admission, id, expiresMs }: Occupant): boolean {
    if (admission === undefined) return true;
    const { started, notBeforeMs = expiresMs } = this.constraints.start(admission, id, this.#nowMs);
    if (!started) this.#occupants.setDue(slot, Math.min(notBeforeMs, expiresMs));
    return started;
  }

  #run(slot: number, occupant: Occupant): void {
    occupant.state = "running";
    this.#waiting--;
    this.waits.add(this.#nowMs - occupant.arrivedMs);
    this.#running[occupant.recipient] = this.#running[occupant.recipient]! + 1;
    this.#occupants.setDue(slot, this.#nowMs + occupant.service!.durationMs);
  }

  #end(slot: number, { recipient, service, id, admission, isTracked }: Occupant): void {
    this.#running[recipient] = this.#running[recipient]! - 1;
    this.#vacate(slot, id, admission, true);
    this.#release(recipient);
    if (service !== undefined) {
      if (isTracked) this.busyMs[recipient] = this.busyMs[recipient]! + service.durationMs;
      this.#learn(recipient, service);
    }
    this.#start(recipient);
    if (admission !== undefined && admission.limitGroups.length > 0) this.#startBlocked();
    this.#assignWaiting();
  }

  /** Updates the health of a recipient like the outcome of an item does. */
  #learn(recipient: number, { status, latencyMs, cost }: ItemService): void {
    if (status === undefined) return;
    const { pool, recipients } = this.#parts.snapshot;
    const share = (this.#live.ejectedCount(this.#nowMs) + 1) / Math.max(1, this.compiled.eligible.length);
    const outcome = { status, latencyMs, cost };
    const health = applyOutcome(this.#health[recipient]!, outcome, pool.config.outlier, this.#nowMs, share);
    this.#health[recipient] = health;
    this.#live.refresh([
      {
        ...{ recipientId: recipients[recipient]!.id, ejectedUntilMs: health.ejectedUntilMs },
        ...{ latencyMs: health.latencyMs ?? Number.NaN, cost: health.cost ?? Number.NaN },
      },
    ]);
  }

  /** An item leaves without having been worked on. */
  #leave(slot: number, { state, recipient, id, admission }: Occupant): void {
    if (state === "ready") removeFrom(this.#ready.get(recipient)!, slot);
    if (state === "unassigned") removeFrom(this.#unassigned, slot);
    this.#waiting--;
    this.#vacate(slot, id, admission, false);
    this.#release(recipient);
  }

  #vacate(slot: number, itemId: string, admission: AdmissionRequest | undefined, slotFreed: boolean): void {
    this.#occupants.remove(slot);
    if (admission !== undefined) this.constraints.release(admission, itemId, slotFreed);
  }

  /** Keeps an item that has no recipient until something changes. */
  #wait(slot: number, occupant: Occupant, decision: Decision): void {
    const { reason, holdS, nextStepInS } = decision;
    const isHeld = holdS > 0;
    occupant.state = isHeld ? "held" : "unassigned";
    if (!isHeld && capacityReasons.includes(reason)) this.#occupants.insert(this.#unassigned, slot);
    const laterS = isHeld ? holdS : nextStepInS;
    const againMs = laterS > 0 ? laterS * 1000 : reason === "all_ejected" ? retryMs : Number.POSITIVE_INFINITY;
    const isOpen = reason === "awaiting_acceptance" || reason === "awaiting_assignment";
    occupant.acceptance = isOpen ? this.#acceptanceOf(occupant.request!.recorded) : undefined;
    const acceptedMs = occupant.acceptance?.atMs ?? Number.POSITIVE_INFINITY;
    this.#occupants.setDue(slot, Math.min(this.#nowMs + againMs, acceptedMs, occupant.expiresMs));
    if (!mayGetRecipient(decision)) this.#occupants.decided(slot);
  }

  /** How an item was taken, or left the pool; undefined if it is still there. Nobody knows who else would have taken it. */
  #acceptanceOf(recorded: RecordedItem): Acceptance | undefined {
    const { heldBy, startedAtMs, endedAtMs } = recorded;
    const atMs = startedAtMs ?? endedAtMs;
    if (atMs === null) return undefined;
    const recipient = startedAtMs === null ? undefined : this.compiled.indexById.get(heldBy);
    const service = recipient === undefined ? undefined : this.#serviceOf(recorded, recipient);
    return { atMs: Math.max(atMs, this.#nowMs), recipientId: heldBy, service };
  }

  /** Gives an item to the recipient that took it. */
  #accept(slot: number, occupant: Occupant, { recipientId, service }: Acceptance): void {
    if (service === undefined) this.#leave(slot, occupant);
    else this.#give(slot, occupant, this.#assign(recipientId), service);
  }

  #give(slot: number, occupant: Occupant, recipient: number, service: ItemService): void {
    Object.assign(occupant, { recipient, service, acceptance: undefined });
    this.#count(recipient, service);
    this.#occupants.decided(slot);
    this.#makeReady(slot, occupant);
  }

  /** Decides about an item that had no recipient. */
  #decideAgain(slot: number, occupant: Occupant): void {
    const { item, recorded } = occupant.request!;
    removeFrom(this.#unassigned, slot);
    const at = { nowMs: this.#nowMs, seed: recorded.seed, waitedS: (this.#nowMs - occupant.arrivedMs) / 1000 };
    const decision = decide(this.compiled, this.#live, item, at);
    if (decision.outcome !== "routed") {
      this.#wait(slot, occupant, decision);
      return;
    }
    const recipient = this.#assign(decision.recipientId);
    this.#give(slot, occupant, recipient, this.#serviceOf(recorded, recipient));
  }

  /** Tries the items that wait for a recipient with a free place. */
  #assignWaiting(): void {
    for (const slot of this.#unassigned.slice(0, placeTriesMax)) {
      if (this.#live.isFull) return;
      const occupant = this.#occupants.at(slot);
      if (occupant.state === "unassigned") this.#decideAgain(slot, occupant);
    }
  }

  #assign(recipientId: string): number {
    if (recipientId === "") return -1;
    this.#live.assigned(recipientId, this.#nowMs);
    return this.compiled.indexById.get(recipientId)!;
  }

  #release(recipient: number): void {
    if (recipient >= 0) this.#live.released(this.#parts.snapshot.recipients[recipient]!.id);
  }
}

/** Whether an item without a recipient can get one although the pool stays as it is. */
function mayGetRecipient({ reason, holdS, nextStepInS }: Decision): boolean {
  return holdS > 0 || nextStepInS > 0 || reason === "all_ejected" || capacityReasons.includes(reason);
}
