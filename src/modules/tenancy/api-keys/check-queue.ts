import { fail } from "../../../errors/index.ts";
import { createWaitingCounts } from "./waiting-counts.ts";

/**
 * How urgent a check is: `known` repeats one that succeeded before; `clean` has no recent wrong secret behind it; `doubtful`
 * comes from an address with recent wrong secrets; `suspect` is for a key with recent wrong secrets.
 */
export type Standing = "known" | "clean" | "doubtful" | "suspect";

/** Whom a check is for. */
export interface CheckFor {
  readonly tenantId: string;
  readonly keyId: string;
  readonly address: string;
  /** Asked again when the check's turn comes: a key may come under suspicion while its checks wait. */
  readonly standing: () => Standing;
  /** Aborts when nobody waits for the result any more. */
  readonly signal?: AbortSignal | undefined;
}

/** Runs expensive checks a few at a time, so that nobody's wrong secrets keep another's key waiting. */
export interface CheckQueue {
  /**
   * Runs a check when its turn comes. Rejects with UNAVAILABLE when too many wait, and with the signal's reason when its
   * callers leave before it starts.
   */
  run<T>(whom: CheckFor, check: () => Promise<T>): Promise<T>;
}

interface Limits {
  /** Checks that run at once. */
  readonly runningMax: number;
  /** Checks of suspect keys that run at once. */
  readonly suspectsRunningMax: number;
  /** Checks that wait for one key from one address. */
  readonly waitingMax: number;
  /** Checks that wait for one key. */
  readonly waitingOfKeyMax: number;
  /** Checks that wait in all. */
  readonly waitingInAllMax: number;
}

interface Waiting {
  readonly whom: CheckFor;
  /** The list that it waits in. */
  standing: Standing;
  readonly start: (standing: Standing) => void;
  readonly refuse: (reason: unknown) => void;
}

type AddressTurns = Map<string, Set<Waiting>>;
type KeyTurns = Map<string, AddressTurns>;
/** Checks by tenant, key and address. A map keeps insertion order: who had a turn goes to the end. */
type TenantTurns = Map<string, KeyTurns>;

const mostUrgentFirst: readonly Standing[] = ["known", "clean", "doubtful", "suspect"];
const leastUrgentFirst = mostUrgentFirst.toReversed();

/**
 * Makes a queue: by standing first, then tenants in turn, then keys, then addresses; one check of a key runs at a time.
 *
 * When a bound is reached, whoever has the most waiting loses: the tenant, then its least urgent checks, then the key and
 * the address with the most of them. So nobody's checks crowd out those of another.
 */
export function createCheckQueue(limits: Limits): CheckQueue {
  const turns: Readonly<Record<Standing, TenantTurns>> = {
    known: new Map(),
    clean: new Map(),
    doubtful: new Map(),
    suspect: new Map(),
  };
  const tenantCounts = createWaitingCounts();
  const runningKeys = new Set<string>();
  let suspectsRunning = 0;

  function queueOf(standing: Standing, { tenantId, keyId, address }: CheckFor): Set<Waiting> | undefined {
    return turns[standing].get(tenantId)?.get(keyId)?.get(address);
  }

  function add(waiting: Waiting): void {
    const { tenantId, keyId, address } = waiting.whom;
    const keys = entryOf(turns[waiting.standing], tenantId, (): KeyTurns => new Map());
    const addresses = entryOf(keys, keyId, (): AddressTurns => new Map());
    entryOf(addresses, address, () => new Set<Waiting>()).add(waiting);
    tenantCounts.add(tenantId);
  }

  /** Takes a check out; false when it does not wait any more. */
  function remove(waiting: Waiting): boolean {
    const { tenantId, keyId, address } = waiting.whom;
    const tenants = turns[waiting.standing];
    const keys = tenants.get(tenantId);
    const addresses = keys?.get(keyId);
    const queue = addresses?.get(address);
    if (!queue?.delete(waiting)) return false;
    if (queue.size === 0) addresses!.delete(address);
    if (addresses!.size === 0) keys!.delete(keyId);
    if (keys!.size === 0) tenants.delete(tenantId);
    tenantCounts.remove(tenantId);
    return true;
  }

  /** The check whose turn it is among those of one standing. Passes over running keys, which are few. */
  function first(standing: Standing): Waiting | undefined {
    for (const keys of turns[standing].values()) {
      for (const [keyId, addresses] of keys) {
        if (runningKeys.has(keyId)) continue;
        return firstOf(firstOf(addresses.values())!);
      }
    }
    return undefined;
  }

  /** The most urgent check that may run now. A check that has become less urgent moves to the list where it belongs. */
  function next(): Waiting | undefined {
    for (const standing of mostUrgentFirst) {
      if (standing === "suspect" && suspectsRunning >= limits.suspectsRunningMax) return undefined;
      for (let found = first(standing); found !== undefined; found = first(standing)) {
        const current = found.whom.standing();
        if (mostUrgentFirst.indexOf(current) <= mostUrgentFirst.indexOf(standing)) return found;
        remove(found);
        found.standing = current;
        add(found);
      }
    }
    return undefined;
  }

  function startNext(): void {
    while (runningKeys.size < limits.runningMax) {
      const found = next();
      if (found === undefined) return;
      const { tenantId, keyId, address } = found.whom;
      const tenants = turns[found.standing];
      const keys = tenants.get(tenantId)!;
      remove(found);
      moveToEnd(keys.get(keyId), address);
      moveToEnd(keys, keyId);
      moveToEnd(tenants, tenantId);
      found.start(found.standing);
    }
  }

  /** The check that is refused when too many of a tenant, a key or an address wait: the newest of the least urgent. */
  function leastUrgent({ tenantId, keyId, address }: Partial<CheckFor> & Pick<CheckFor, "tenantId">): Waiting {
    for (const standing of leastUrgentFirst) {
      const keys = turns[standing].get(tenantId);
      const addresses = keys?.get(keyId ?? largestOf(keys, sizeOf));
      const queue = addresses?.get(address ?? largestOf(addresses, ({ size }) => size));
      const newest = queue && [...queue].at(-1);
      if (newest !== undefined) return newest;
    }
    throw new Error("nothing waits");
  }

  function refuse(waiting: Waiting, why: string): void {
    remove(waiting);
    waiting.refuse(fail("UNAVAILABLE", { public: why, headers: { "retry-after": "1" } }));
  }

  /** Keeps what waits within the bounds, after a check was added. */
  function refuseExcess({ whom }: Waiting): void {
    const { tenantId, keyId, address } = whom;
    let fromAddress = 0;
    let ofKey = 0;
    for (const standing of mostUrgentFirst) {
      fromAddress += queueOf(standing, whom)?.size ?? 0;
      ofKey += sizeOf(turns[standing].get(tenantId)?.get(keyId));
    }
    const ofThisKey = "Too many secrets of this API key are being checked.";
    if (fromAddress > limits.waitingMax) refuse(leastUrgent({ tenantId, keyId, address }), ofThisKey);
    else if (ofKey > limits.waitingOfKeyMax) refuse(leastUrgent({ tenantId, keyId }), ofThisKey);
    else if (tenantCounts.total > limits.waitingInAllMax) {
      const largest = tenantCounts.largest(tenantId);
      refuse(leastUrgent({ tenantId: largest }), "Too many API keys are being checked.");
    }
  }

  return {
    run<T>(whom: CheckFor, check: () => Promise<T>) {
      return new Promise<T>((resolve, reject) => {
        const { keyId, signal } = whom;
        if (signal?.aborted) return reject(signal.reason);
        const leave = () => {
          if (remove(waiting)) reject(signal!.reason);
        };
        const waiting: Waiting = {
          whom,
          standing: whom.standing(),
          start(standing) {
            signal?.removeEventListener("abort", leave);
            runningKeys.add(keyId);
            if (standing === "suspect") suspectsRunning++;
            check()
              .then(resolve, reject)
              .finally(() => {
                runningKeys.delete(keyId);
                if (standing === "suspect") suspectsRunning--;
                startNext();
              });
          },
          refuse(reason) {
            signal?.removeEventListener("abort", leave);
            reject(reason);
          },
        };
        signal?.addEventListener("abort", leave, { once: true });
        add(waiting);
        startNext();
        refuseExcess(waiting);
      });
    },
  };
}

function entryOf<T>(entries: Map<string, T>, name: string, make: () => T): T {
  const known = entries.get(name);
  if (known !== undefined) return known;
  const made = make();
  entries.set(name, made);
  return made;
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

function sizeOf(addresses: AddressTurns | undefined): number {
  let size = 0;
  for (const queue of addresses?.values() ?? []) size += queue.size;
  return size;
}

/** The name of the largest entry, the last one among equals; "" when there is none. */
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
