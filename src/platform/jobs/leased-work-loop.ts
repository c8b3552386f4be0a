import { randomUUID } from "node:crypto";
import { InFlightWork } from "./in-flight-work.ts";
import { createRepeatedTask, type TaskWakes } from "./repeated-task.ts";

/** Share of the concurrency that must be free before more is leased; leasing a few costs hardly more than leasing one. */
const freeShare = 0.25;

/** Parameters of one lease. */
export interface LeaseRequest {
  readonly limit: number;
  /** How many items one tenant gets. */
  readonly each: number;
  /** "" to start with the first tenant. */
  readonly afterTenant: string;
  readonly busyTenants: readonly string[];
  /** New for every lease. */
  readonly token: string;
}

/** The result of one lease. */
export interface Leased<Item> {
  readonly items: readonly Item[];
  /** The last tenant that was looked at; "" when there is no further one. */
  readonly scannedTo: string;
}

interface Options<Item> {
  /** Subscribes the loop to what may cause work; returns the unsubscribe functions. */
  readonly subscribe?: (task: TaskWakes) => readonly (() => void)[];
  /** The longest time between two leases. By default that of repeated tasks. */
  readonly pollMs?: number;
  readonly concurrency: number;
  /** A tenant with this many items in progress gets no more, so that a slow tenant does not block the others. */
  readonly busyAt?: number;
  /** How long items may go on when the loop stops; then their signal aborts. */
  readonly graceMs?: number;
  lease(request: LeaseRequest): Promise<Leased<Item>>;
  onLeaseError(error: unknown): void;
  /** Returns the handler of the items of one lease. */
  handle(items: readonly Item[]): (item: Item, signal: AbortSignal) => Promise<void>;
  /** Reports a failed item, which can be leased again after its lease expires. */
  onItemError(error: unknown, item: Item, signal: AbortSignal): void;
}

/** Leases and handles the due items of all tenants in the background. */
export interface LeasedWorkLoop {
  /** Leases due items now. */
  run(): void;
  /** Starts to lease; resolves after the first lease. */
  start(): Promise<void>;
  /** Leases no further items and waits for those in progress. */
  stop(): Promise<void>;
}

/**
 * Creates this node's loop. Tenants take turns. It leases no more than can be handled immediately: items of a dead node
 * wait until their lease expires.
 */
export function createLeasedWorkLoop<Item extends { readonly tenantId: string }>(
  options: Options<Item>,
): LeasedWorkLoop {
  const { subscribe, pollMs, concurrency, busyAt = concurrency / 2, graceMs = 0 } = options;
  const each = concurrency * freeShare;
  const inFlight = new InFlightWork();
  let afterTenant = "";
  /** Whether there may be due items of tenants that were already looked at. */
  let isStale = false;

  async function leaseDue(): Promise<void> {
    const limit = concurrency - inFlight.size;
    if (limit < each) return;
    if (afterTenant === "") isStale = false;
    const busyTenants = inFlight.busyOwners(busyAt);
    const { items, scannedTo } = await options.lease({ limit, each, afterTenant, busyTenants, token: randomUUID() });
    const byTenant = Map.groupBy(items, ({ tenantId }) => tenantId);
    afterTenant = items.length < limit ? scannedTo : [...byTenant.keys()].sort().at(-1)!;
    if (items.length > 0) startAll(items);
    isStale ||= byTenant.entries().some(([tenantId, { length }]) => length >= each && !isBusy(tenantId));
    if (afterTenant !== "" || isStale) leases.run();
  }

  function startAll(items: readonly Item[]): void {
    const handle = options.handle(items);
    for (const item of items) {
      const work = (signal: AbortSignal) =>
        handle(item, signal).catch((error) => options.onItemError(error, item, signal));
      inFlight.start(item.tenantId, work, () => leaseAfter(item.tenantId));
    }
  }

  /** Leases more after an item has ended, unless its tenant is still busy and others had room before. */
  function leaseAfter(tenantId: string): void {
    const free = concurrency - inFlight.size;
    const hasNewRoom = free >= each && free - 1 < each;
    if (hasNewRoom || !isBusy(tenantId)) run();
  }

  function isBusy(tenantId: string): boolean {
    return inFlight.countOf(tenantId) >= busyAt;
  }

  const leases = createRepeatedTask({
    work: leaseDue,
    ...(pollMs !== undefined && { maxWaitMs: pollMs }),
    onError: options.onLeaseError,
    subscribe: (wakes) => subscribe?.({ ...wakes, run }) ?? [],
  });
  const run = () => {
    isStale = true;
    leases.run();
  };
  return {
    run,
    start: leases.start,
    async stop() {
      await leases.stop();
      await inFlight.drain(graceMs);
    },
  };
}
