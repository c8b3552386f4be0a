/**
 * How urgent a check is: `known` repeats one that succeeded before; `clean` has no recent wrong secret behind it; `doubtful`
 * comes from an address with recent wrong secrets; `suspect` is for a key with recent wrong secrets.
 */
export type Standing = "known" | "clean" | "doubtful" | "suspect";

/** Whom a check is for. */
export interface CheckFor {
  readonly keyId: string;
  readonly address: string;
  /** Asked whenever a place is free: a key may come under suspicion while its checks wait. */
  readonly standing: () => Standing;
}

/** Runs expensive checks a few at a time, so that nobody's wrong secrets keep another's key waiting. */
export interface CheckQueue {
  /** Runs a check when its turn comes; undefined when too many wait for this key, in all or from this address. */
  run<T>(whom: CheckFor, check: () => Promise<T>): Promise<Awaited<T>> | undefined;
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
}

interface Waiting {
  readonly whom: CheckFor;
  readonly start: (standing: Standing) => void;
}

/** Waiting checks of one key by address; keys and addresses take turns, in the order of the maps. */
type Lane = Map<string, Waiting[]>;

const ranks: Readonly<Record<Standing, number>> = { known: 0, clean: 1, doubtful: 2, suspect: 3 };

/** Makes a queue: by standing first, then keys in turn, then addresses in turn; one check of a key runs at a time. */
export function createCheckQueue(limits: Limits): CheckQueue {
  const lanes = new Map<string, Lane>();
  const runningKeys = new Set<string>();
  let suspectsRunning = 0;

  /** The most urgent check that may run now, the first in turn among equals. */
  function next(): { readonly waiting: Waiting; readonly standing: Standing } | undefined {
    let best: ReturnType<typeof next>;
    for (const [keyId, lane] of lanes) {
      if (runningKeys.has(keyId)) continue;
      for (const queue of lane.values()) {
        for (const waiting of queue) {
          const standing = waiting.whom.standing();
          if (standing === "suspect" && suspectsRunning >= limits.suspectsRunningMax) continue;
          if (best === undefined || ranks[standing] < ranks[best.standing]) best = { waiting, standing };
        }
      }
    }
    return best;
  }

  function startNext(): void {
    while (runningKeys.size < limits.runningMax) {
      const found = next();
      if (found === undefined) return;
      take(lanes, found.waiting);
      found.waiting.start(found.standing);
    }
  }

  return {
    run<T>(whom: CheckFor, check: () => Promise<T>) {
      const { keyId, address } = whom;
      const lane: Lane = lanes.get(keyId) ?? new Map();
      const queue = lane.get(address) ?? [];
      if (queue.length >= limits.waitingMax || waitingIn(lane) >= limits.waitingOfKeyMax) return undefined;
      const { promise, resolve, reject } = Promise.withResolvers<Awaited<T>>();
      const start = (standing: Standing) => {
        runningKeys.add(keyId);
        if (standing === "suspect") suspectsRunning++;
        check()
          .then((result) => resolve(result as Awaited<T>), reject)
          .finally(() => {
            runningKeys.delete(keyId);
            if (standing === "suspect") suspectsRunning--;
            startNext();
          });
      };
      queue.push({ whom, start });
      lanes.set(keyId, lane.set(address, queue));
      startNext();
      return promise;
    },
  };
}

function waitingIn(lane: Lane): number {
  let count = 0;
  for (const queue of lane.values()) count += queue.length;
  return count;
}

/** Takes a check out of its lane; its key and its address go behind the others. */
function take(lanes: Map<string, Lane>, waiting: Waiting): void {
  const { keyId, address } = waiting.whom;
  const lane = lanes.get(keyId)!;
  const queue = lane.get(address)!;
  queue.splice(queue.indexOf(waiting), 1);
  lanes.delete(keyId);
  lane.delete(address);
  if (queue.length > 0) lane.set(address, queue);
  if (lane.size > 0) lanes.set(keyId, lane);
}
