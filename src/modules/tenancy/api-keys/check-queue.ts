import { fail } from "../../../errors/index.ts";
import { createEntryCounts } from "./entry-counts.ts";

/**
 * The priority of a check, most urgent first. `known`: the same secret was correct before. `clean`: neither the key nor the
 * address has recent failures. `doubtful`: the address has recent failures. `suspect`: the key has recent failures.
 */
export type CheckPriority = "known" | "clean" | "doubtful" | "suspect";

/** The key and the caller that a check is for. */
export interface CheckSubject {
  readonly tenantId: string;
  readonly keyId: string;
  readonly address: string;
  /** Evaluated again before the check starts, because a key can become suspect while its checks wait. */
  readonly priority: () => CheckPriority;
  /** Aborts when no caller waits for the result any more. */
  readonly signal?: AbortSignal | undefined;
}

interface Limits {
  /** Maximum number of concurrent checks. */
  readonly runningMax: number;
  /** Maximum number of concurrent checks of suspect keys. */
  readonly suspectsRunningMax: number;
  /** Maximum number of waiting checks per key and address. */
  readonly waitingPerAddressMax: number;
  /** Maximum number of waiting checks per key. */
  readonly waitingPerKeyMax: number;
  /** Maximum number of waiting checks in total. */
  readonly waitingTotalMax: number;
}

interface QueuedCheck {
  readonly subject: CheckSubject;
  /** The priority whose queue contains the check. */
  priority: CheckPriority;
  readonly start: (priority: CheckPriority) => void;
  readonly reject: (reason: unknown) => void;
}

type ChecksByAddress = Map<string, Set<QueuedCheck>>;
type ChecksByKey = Map<string, ChecksByAddress>;
/** Checks by tenant, key and address. Maps iterate in insertion order: after each check its entries move to the end. */
type ChecksByTenant = Map<string, ChecksByKey>;

const mostUrgentFirst: readonly CheckPriority[] = ["known", "clean", "doubtful", "suspect"];
const leastUrgentFirst = mostUrgentFirst.toReversed();

/**
 * Creates a queue that limits concurrent bcrypt checks and schedules them fairly, so that wrong secrets of one key do not delay
 * other keys: by priority, then round-robin over tenants, keys and addresses. At most one check of a key runs at a time.
 *
 * When a limit is exceeded, the queue rejects a check of the tenant with the most waiting checks: one of its least urgent
 * checks, from the key and the address with the most of them. So no tenant, key or address crowds out another.
 */
export function createCheckQueue(limits: Limits) {
  const queues: Readonly<Record<CheckPriority, ChecksByTenant>> = {
    known: new Map(),
    clean: new Map(),
    doubtful: new Map(),
    suspect: new Map(),
  };
  const tenantCounts = createEntryCounts();
  const runningKeys = new Set<string>();
  let suspectsRunning = 0;

  function queueOf(priority: CheckPriority, { tenantId, keyId, address }: CheckSubject): Set<QueuedCheck> | undefined {
    return queues[priority].get(tenantId)?.get(keyId)?.get(address);
  }

  function add(queued: QueuedCheck): void {
    const { tenantId, keyId, address } = queued.subject;
    const keys = entryOf(queues[queued.priority], tenantId, (): ChecksByKey => new Map());
    const addresses = entryOf(keys, keyId, (): ChecksByAddress => new Map());
    entryOf(addresses, address, () => new Set<QueuedCheck>()).add(queued);
    tenantCounts.add(tenantId);
  }

  /** Removes a check from the queue; false when it is not in the queue any more. */
  function remove(queued: QueuedCheck): boolean {
    const { tenantId, keyId, address } = queued.subject;
    const tenants = queues[queued.priority];
    const keys = tenants.get(tenantId);
    const addresses = keys?.get(keyId);
    const queue = addresses?.get(address);
    if (!queue?.delete(queued)) return false;
    if (queue.size === 0) addresses!.delete(address);
    if (addresses!.size === 0) keys!.delete(keyId);
    if (keys!.size === 0) tenants.delete(tenantId);
    tenantCounts.remove(tenantId);
    return true;
  }

  /** The next check of a priority. Skips keys with a running check, of which there are few. */
  function first(priority: CheckPriority): QueuedCheck | undefined {
    for (const keys of queues[priority].values()) {
      for (const [keyId, addresses] of keys) {
        if (runningKeys.has(keyId)) continue;
        return firstOf(firstOf(addresses.values())!);
      }
    }
    return undefined;
  }

  /** The most urgent check that can run now. A check that has become less urgent moves to the queue of its new priority. */
  function next(): QueuedCheck | undefined {
    for (const priority of mostUrgentFirst) {
      if (priority === "suspect" && suspectsRunning >= limits.suspectsRunningMax) return undefined;
      for (let found = first(priority); found !== undefined; found = first(priority)) {
        const current = found.subject.priority();
        if (mostUrgentFirst.indexOf(current) <= mostUrgentFirst.indexOf(priority)) return found;
        remove(found);
        found.priority = current;
        add(found);
      }
    }
    return undefined;
  }

  function startNext(): void {
    while (runningKeys.size < limits.runningMax) {
      const found = next();
      if (found === undefined) return;
      const { tenantId, keyId, address } = found.subject;
      const tenants = queues[found.priority];
      const keys = tenants.get(tenantId)!;
      remove(found);
      moveToEnd(keys.get(keyId), address);
      moveToEnd(keys, keyId);
      moveToEnd(tenants, tenantId);
      found.start(found.priority);
    }
  }

  /** The check to reject when too many of a tenant, key or address wait: the newest of the least urgent ones. */
  function leastUrgent({
    tenantId,
    keyId,
    address,
  }: Partial<CheckSubject> & Pick<CheckSubject, "tenantId">): QueuedCheck {
    for (const priority of leastUrgentFirst) {
      const keys = queues[priority].get(tenantId);
      const addresses = keys?.get(keyId ?? largestOf(keys, sizeOf));
      const queue = addresses?.get(address ?? largestOf(addresses, ({ size }) => size));
      const newest = queue && [...queue].at(-1);
      if (newest !== undefined) return newest;
    }
    throw new Error("the tenant has no waiting check");
  }

  function reject(queued: QueuedCheck, message: string): void {
    remove(queued);
    queued.reject(fail("UNAVAILABLE", { public: message, headers: { "retry-after": "1" } }));
  }

  /** Enforces the limits after a check was added. */
  function rejectExcess({ subject }: QueuedCheck): void {
    const { tenantId, keyId, address } = subject;
    let addressCount = 0;
    let keyCount = 0;
    for (const priority of mostUrgentFirst) {
      addressCount += queueOf(priority, subject)?.size ?? 0;
      keyCount += sizeOf(queues[priority].get(tenantId)?.get(keyId));
    }
    const tooManyOfKey = "Too many concurrent checks of this API key. Try again in a second.";
    if (addressCount > limits.waitingPerAddressMax) reject(leastUrgent({ tenantId, keyId, address }), tooManyOfKey);
    else if (keyCount > limits.waitingPerKeyMax) reject(leastUrgent({ tenantId, keyId }), tooManyOfKey);
    else if (tenantCounts.total > limits.waitingTotalMax) {
      const largest = tenantCounts.largest(tenantId);
      reject(leastUrgent({ tenantId: largest }), "Too many concurrent checks of API keys. Try again in a second.");
    }
  }

  return {
    /**
     * Runs a check when it is scheduled. Rejects with UNAVAILABLE when too many checks wait, and with the signal's reason when
     * the signal aborts before the check starts.
     */
    run<T>(subject: CheckSubject, check: () => Promise<T>) {
      return new Promise<T>((resolve, reject) => {
        const { keyId, signal } = subject;
        if (signal?.aborted) return reject(signal.reason);
        const leave = () => {
          if (remove(queued)) reject(signal!.reason);
        };
        const queued: QueuedCheck = {
          subject,
          priority: subject.priority(),
          start(priority) {
            signal?.removeEventListener("abort", leave);
            runningKeys.add(keyId);
            if (priority === "suspect") suspectsRunning++;
            check()
              .then(resolve, reject)
              .finally(() => {
                runningKeys.delete(keyId);
                if (priority === "suspect") suspectsRunning--;
                startNext();
              });
          },
          reject(reason) {
            signal?.removeEventListener("abort", leave);
            reject(reason);
          },
        };
        signal?.addEventListener("abort", leave, { once: true });
        add(queued);
        startNext();
        rejectExcess(queued);
      });
    },
  };
}

function entryOf<T>(entries: Map<string, T>, name: string, create: () => T): T {
  const known = entries.get(name);
  if (known !== undefined) return known;
  const created = create();
  entries.set(name, created);
  return created;
}

function firstOf<T>(values: Iterable<T>): T | undefined {
  for (const value of values) return value;
  return undefined;
}

function moveToEnd<T>(entries: Map<string, T> | undefined, name: string): void {
  const entry = entries?.get(name);
  if (entry === undefined) return;
  entries!.delete(name);
  entries!.set(name, entry);
}

function sizeOf(addresses: ChecksByAddress | undefined): number {
  let size = 0;
  for (const queue of addresses?.values() ?? []) size += queue.size;
  return size;
}

/** The name of the largest entry; the last one among equals; "" without entries. */
function largestOf<T>(entries: ReadonlyMap<string, T> | undefined, size: (entry: T) => number): string {
  let largest = "";
  let most = 0;
  for (const [name, entry] of entries ?? []) {
    if (size(entry) < most) continue;
    most = size(entry);
    largest = name;
  }
  return largest;
}
