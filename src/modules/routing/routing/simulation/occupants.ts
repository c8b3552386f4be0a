import type { AdmissionRequest } from "../../admission/index.ts";
import type { RoutableItem } from "../domain/item.ts";
import { IndexHeap } from "../domain/structures/index-heap.ts";
import type { RecordedItem } from "./recorded-item-store.ts";
import type { ItemService } from "./service-profile.ts";

/** How an item that a worker has to request, or somebody to assign, was taken. */
export interface Acceptance {
  readonly atMs: number;
  readonly recipientId: string;
  /** Undefined if it left the pool instead, or if its recipient is not in the pool any more. */
  readonly service: ItemService | undefined;
}

/** An item that is in the pool. */
export interface Occupant {
  readonly id: string;
  /** What decides about the item; undefined once nothing decides about it any more, because it may be large. */
  request: { readonly recorded: RecordedItem; readonly item: RoutableItem } | undefined;
  readonly arrivedMs: number;
  readonly rank: number;
  readonly expiresMs: number;
  readonly admission: AdmissionRequest | undefined;
  /** Whether the service knows when it ends. */
  readonly isTracked: boolean;
  /** The index of its recipient; -1 for none. */
  recipient: number;
  /** held: by a rule or a debounce. unassigned: no recipient takes it. ready: it waits for a worker. */
  state: "held" | "unassigned" | "ready" | "running";
  service: ItemService | undefined;
  /** Undefined unless it waits to be requested or assigned. */
  acceptance?: Acceptance | undefined;
}

/** The items that can be in a pool at the same time. Further ones are decided, but neither wait nor work. */
const occupantsMax = 100_000;
/** As many of them can wait for a decision. */
const requestsMax = 10_000;

/** The items of a simulated pool, each with a slot and with the time at which it has to be looked at. */
export class Occupants {
  readonly #slots: (Occupant | undefined)[] = [];
  readonly #free: number[] = [];
  #requests = 0;
  readonly #dueMs = new Float64Array(occupantsMax);
  readonly #due = new IndexHeap(occupantsMax, (one, other) => this.#dueMs[one]! < this.#dueMs[other]!);
  /** The slots of items with constraints, by their ids: other items may replace them. */
  readonly #constrained = new Map<string, number>();

  /** Gives an item a slot; undefined if all are taken. */
  add(occupant: Occupant): number | undefined {
    if (occupant.request !== undefined && this.#requests >= requestsMax) return undefined;
    const slot = this.#free.pop() ?? this.#slots.length;
    if (slot >= occupantsMax) return undefined;
    this.#slots[slot] = occupant;
    if (occupant.request !== undefined) this.#requests++;
    if (occupant.admission !== undefined) this.#constrained.set(occupant.id, slot);
    return slot;
  }

  at(slot: number): Occupant {
    return this.#slots[slot]!;
  }

  /** The slot of an item with constraints; undefined if it is not in the pool any more. */
  slotOf(itemId: string): number | undefined {
    return this.#constrained.get(itemId);
  }

  remove(slot: number): void {
    this.#due.remove(slot);
    const { id } = this.at(slot);
    this.decided(slot);
    this.#constrained.delete(id);
    this.#slots[slot] = undefined;
    this.#free.push(slot);
  }

  /** Nothing decides about an item any more: it has a recipient, or none can take it. */
  decided(slot: number): void {
    const occupant = this.at(slot);
    if (occupant.request === undefined) return;
    occupant.request = undefined;
    this.#requests--;
  }

  setDue(slot: number, atMs: number): void {
    this.#due.remove(slot);
    this.#dueMs[slot] = atMs;
    if (atMs < Number.POSITIVE_INFINITY) this.#due.add(slot);
  }

  /** Takes the next item that is due by a time; undefined for none. */
  takeDue(untilMs: number): { readonly slot: number; readonly dueMs: number } | undefined {
    const slot = this.#due.first;
    if (slot < 0 || this.#dueMs[slot]! > untilMs) return undefined;
    this.#due.remove(slot);
    return { slot, dueMs: this.#dueMs[slot]! };
  }

  /** Inserts an item into a queue in the order of ranks. */
  insert(queue: number[], slot: number): void {
    const { rank } = this.at(slot);
    let [low, high] = [0, queue.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at(queue[middle]!).rank <= rank) low = middle + 1;
      else high = middle;
    }
    queue.splice(low, 0, slot);
  }
}

/** Takes an item out of a queue; nothing happens if it is not there. */
export function removeFrom(queue: number[], slot: number): void {
  const at = queue.indexOf(slot);
  if (at >= 0) queue.splice(at, 1);
}
