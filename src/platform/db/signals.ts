import type { Database } from "./database.ts";

/** Wake signals between nodes. A signal is only a hint: whoever waits also polls. */
export interface Signals {
  /**
   * Wakes the listeners of a topic here at once, and on other nodes within milliseconds. Throws a RangeError for a topic
   * that does not fit into a notification.
   */
  wake(topic: string): void;
  /** Calls back at every wake of a topic, and when wakes may have been lost; answers with the way to stop. */
  onWake(topic: string, listener: () => void): () => void;
  /**
   * Calls back at every wake of a topic that begins with a prefix, with the rest of it. Calls `onLost` when wakes of any
   * such topic may have been lost. Answers with the way to stop.
   */
  onWakeUnder(prefix: string, listener: (rest: string) => void, onLost: () => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const channel = "switchyard_wake";
const coalesceMs = 20;
/** A notification takes no more. */
const payloadBytesMax = 7900;

interface PrefixListener {
  readonly prefix: string;
  readonly listener: (rest: string) => void;
  readonly onLost: () => void;
}

/** Signals over NOTIFY: on a connection of its own and coalesced, because a pending NOTIFY serialises commits. */
export function createSignals(db: Database): Signals {
  const listeners = new Map<string, Set<() => void>>();
  const prefixes = new Set<PrefixListener>();
  const pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let listening: { unlisten(): Promise<void> } | undefined;
  let isStopped = false;

  const tell = (topic: string) => {
    for (const listener of listeners.get(topic) ?? []) listener();
    for (const { prefix, listener } of prefixes) if (topic.startsWith(prefix)) listener(topic.slice(prefix.length));
  };
  const send = () => {
    timer = undefined;
    const topics: string[] = [];
    let room = payloadBytesMax;
    for (const topic of pending) {
      const bytes = Buffer.byteLength(topic);
      if (bytes > room) break;
      // One more for the comma.
      room -= bytes + 1;
      topics.push(topic);
      pending.delete(topic);
    }
    db.sql`select pg_notify(${channel}, ${topics.join(",")})`.catch(() => {
      // Other nodes poll as well.
    });
    if (pending.size > 0) timer = setTimeout(send, coalesceMs);
  };

  return {
    wake(topic) {
      const bytes = Buffer.byteLength(topic);
      if (bytes > payloadBytesMax) {
        throw new RangeError(
          `A signal topic has at most ${payloadBytesMax} bytes; ${topic.slice(0, 40)}… has ${bytes}.`,
        );
      }
      tell(topic);
      // A timer would outlive the stop, and the connections are about to be closed.
      if (isStopped) return;
      pending.add(topic);
      timer ??= setTimeout(send, coalesceMs);
    },
    onWake(topic, listener) {
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(topic) === set) listeners.delete(topic);
      };
    },
    onWakeUnder(prefix, listener, onLost) {
      const entry = { prefix, listener, onLost };
      prefixes.add(entry);
      return () => prefixes.delete(entry);
    },
    async start() {
      isStopped = false;
      timer = undefined;
      // After a lost connection anything may have happened meanwhile.
      const tellAll = () => {
        for (const set of listeners.values()) for (const listener of set) listener();
        for (const { onLost } of prefixes) onLost();
      };
      listening = await db.listen(channel, (payload) => payload.split(",").forEach(tell), tellAll);
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await listening?.unlisten().catch(() => {});
    },
  };
}

/** Resolves at the next wake of a topic, when the time is up, or when whoever waits leaves or cancels. Always cancel it. */
export function nextWake(signals: Signals, topic: string, signal: AbortSignal, waitMs: number) {
  const { promise: reason, resolve } = Promise.withResolvers<"signal" | "time">();
  const leave = () => resolve("time");
  const timer = setTimeout(leave, waitMs);
  const stop = signals.onWake(topic, () => resolve("signal"));
  signal.addEventListener("abort", leave);
  let sooner: NodeJS.Timeout | undefined;
  /** The same, but no later than after so many milliseconds from now. */
  const within = (ms: number | undefined) => {
    if (ms !== undefined) sooner = setTimeout(leave, ms);
    return reason;
  };
  const cancel = () => {
    clearTimeout(timer);
    clearTimeout(sooner);
    stop();
    signal.removeEventListener("abort", leave);
    leave();
  };
  return { reason, within, cancel };
}
