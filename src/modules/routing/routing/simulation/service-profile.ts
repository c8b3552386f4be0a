import { ulidMs } from "../../../../platform/ids/ulid.ts";
import type { ItemOutcome } from "../domain/facts/outlier.ts";
import { Draws } from "../domain/structures/seeded-random.ts";
import type { RecordedItem } from "./recorded-item-store.ts";

/** How a recipient worked on an item. */
export interface ItemService extends Omit<ItemOutcome, "status"> {
  /** Infinity for an item that did not end. */
  readonly durationMs: number;
  /** Undefined without an outcome. */
  readonly status: ItemOutcome["status"] | undefined;
}

/** What was recorded of a recipient. */
interface RecordedWork {
  items: number;
  /** A random sample of the items that ended. */
  readonly services: ItemService[];
  served: number;
  /** Items that waited for a worker for longer than it takes to fetch work. */
  delayed: number;
  readonly starts: number[];
  readonly ends: number[];
}

const samplesMax = 256;
const poolSamplesMax = 4096;
/** Workers that are free fetch an item within this time. */
const pickupMs = 1000;
/** A recipient whose items wait this often has no free worker. */
const delayedShareMin = 0.05;

const unending: ItemService = { durationMs: Number.POSITIVE_INFINITY, status: undefined };

/**
 * The recorded service times of a pool's recipients, from which those of a simulation are taken: an item that goes to the
 * recipient that had it takes as long as it did, and any other item as long as a random one of its recipient.
 */
export class ServiceProfile {
  readonly #recipients = new Map<string, RecordedWork>();
  readonly #all = emptyWork();
  readonly #draws = new Draws(1);

  add(item: RecordedItem): void {
    const { id, heldBy, outcome, startedAtMs, endedAtMs } = item;
    if (heldBy === "") return;
    let work = this.#recipients.get(heldBy);
    if (work === undefined) {
      work = emptyWork();
      this.#recipients.set(heldBy, work);
    }
    work.items++;
    if (startedAtMs !== null) {
      work.starts.push(startedAtMs);
      work.ends.push(endedAtMs ?? Number.POSITIVE_INFINITY);
      if (outcome === "routed" && startedAtMs - ulidMs(id) > pickupMs) work.delayed++;
    }
    const service = serviceOf(item);
    if (service === unending) return;
    this.#sample(work, service, samplesMax);
    this.#sample(this.#all, service, poolSamplesMax);
  }

  /** How a recipient would work on an item. */
  serviceFor(item: RecordedItem, recipientId: string): ItemService {
    if (item.heldBy === recipientId) return serviceOf(item);
    const work = this.#recipients.get(recipientId);
    // A recipient that ended none of its items would not end this one.
    const { services } = work === undefined ? this.#all : work;
    return services.length === 0 ? unending : services[item.seed % services.length]!;
  }

  /** How many items a recipient works on at once; Infinity if nothing shows a limit. */
  workersOf(recipientId: string): number {
    const work = this.#recipients.get(recipientId);
    // Nobody fetches its items.
    if (work !== undefined && work.served === 0 && work.starts.length === 0) return 0;
    if (work === undefined || work.delayed < work.items * delayedShareMin) return Number.POSITIVE_INFINITY;
    return Math.max(1, peakOf(work));
  }

  /** Keeps a random sample of bounded size, in which every item has the same chance. */
  #sample(work: RecordedWork, service: ItemService, max: number): void {
    work.served++;
    if (work.services.length < max) {
      work.services.push(service);
      return;
    }
    const at = this.#draws.below(work.served);
    if (at < max) work.services[at] = service;
  }
}

function emptyWork(): RecordedWork {
  return { items: 0, services: [], served: 0, delayed: 0, starts: [], ends: [] };
}

function serviceOf({ id, startedAtMs, endedAtMs, status, latencyMs, cost }: RecordedItem): ItemService {
  if (endedAtMs === null) return unending;
  return {
    durationMs: Math.max(0, endedAtMs - (startedAtMs ?? ulidMs(id))),
    status: status ?? undefined,
    latencyMs: latencyMs ?? undefined,
    cost: cost ?? undefined,
  };
}

/** The most items that were worked on at once. */
function peakOf({ starts, ends }: RecordedWork): number {
  const [from, until] = [Float64Array.from(starts).sort(), Float64Array.from(ends).sort()];
  let peak = 0;
  for (let started = 0, ended = 0; started < from.length; started++) {
    while (until[ended]! <= from[started]!) ended++;
    peak = Math.max(peak, started + 1 - ended);
  }
  return peak;
}
