/**
 * How urgent a check is: `known` repeats one that succeeded before; `clean` has no recent wrong secret behind it; `doubtful`
 * comes from an address with recent wrong secrets; `suspect` is for a key with recent wrong secrets.
 */
export type Standing = "known" | "clean" | "doubtful" | "suspect";

/** Whom a check is for. */
export interface CheckFor {
  readonly keyId: string;
  readonly address: string;
  readonly standing: Standing;
}

/** Runs expensive checks a few at a time, so that nobody's wrong secrets keep another's key waiting. */
export interface CheckQueue {
  /** Runs a check when its turn comes; undefined when too many wait for this key from this address. */
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

type Start = () => void;
/** Waiting checks of one key by address; keys and addresses take turns, in the order of the maps. */
type Lanes = Map<string, Map<string, Start[]>>;

const standings: readonly Standing[] = ["known", "clean", "doubtful", "suspect"];

/** Makes a queue: by standing first, then keys in turn, then addresses in turn; one check of a key runs at a time. */
export function createCheckQueue(limits: Limits): CheckQueue {
  const waiting: Readonly<Record<Standing, Lanes>> = {
    known: new Map(),
    clean: new Map(),
    doubtful: new Map(),
    suspect: new Map(),
  };
  const runningKeys = new Set<string>();
  let suspectsRunning = 0;

  function nextStart(): Start | undefined {
    for (const standing of standings) {
      if (standing === "suspect" && suspectsRunning >= limits.suspectsRunningMax) continue;
      for (const keyId of waiting[standing].keys()) {
        if (!runningKeys.has(keyId)) return takeNext(waiting[standing], keyId);
      }
    }
    return undefined;
  }

  function startNext(): void {
    while (runningKeys.size < limits.runningMax) {
      const start = nextStart();
      if (start === undefined) return;
      start();
    }
  }

  return {
    run<T>({ keyId, address, standing }: CheckFor, check: () => Promise<T>) {
      const lanes = waiting[standing];
      const lane = lanes.get(keyId) ?? new Map<string, Start[]>();
      const queue = lane.get(address) ?? [];
      if (queue.length >= limits.waitingMax || waitingIn(lane) >= limits.waitingOfKeyMax) return undefined;
      const { promise, resolve, reject } = Promise.withResolvers<Awaited<T>>();
      queue.push(() => {
        runningKeys.add(keyId);
        if (standing === "suspect") suspectsRunning++;
        check()
          .then((result) => resolve(result as Awaited<T>), reject)
          .finally(() => {
            runningKeys.delete(keyId);
            if (standing === "suspect") suspectsRunning--;
            startNext();
          });
      });
      lanes.set(keyId, lane.set(address, queue));
      startNext();
      return promise;
    },
  };
}

function waitingIn(lane: ReadonlyMap<string, readonly Start[]>): number {
  let count = 0;
  for (const queue of lane.values()) count += queue.length;
  return count;
}

/** Takes the first check of a key's first address; both go behind the others. */
function takeNext(lanes: Lanes, keyId: string): Start {
  const lane = lanes.get(keyId)!;
  const [address, queue] = lane.entries().next().value!;
  const start = queue.shift()!;
  lanes.delete(keyId);
  lane.delete(address);
  if (queue.length > 0) lane.set(address, queue);
  if (lane.size > 0) lanes.set(keyId, lane);
  return start;
}
