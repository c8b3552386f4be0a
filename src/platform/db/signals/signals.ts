import type { Database } from "../database.ts";
import { createDueWork, type DueListener, type NextDue } from "./due-work.ts";

/** Wake-up signals between nodes. A signal is only a hint: every listener must also poll, or use `onDue`. */
export interface Signals {
  /**
   * Wakes the listeners of a topic on this node immediately, and on other nodes within milliseconds. Throws a RangeError
   * for a topic that does not fit into a notification.
   */
  wake(topic: string): void;
  /** Calls the listener at every wake-up of a topic, and when wake-ups may have been lost. Returns the unsubscribe function. */
  onWake(topic: string, listener: () => void): () => void;
  /**
   * Calls the listener at every wake-up of a topic with the prefix, with the rest of the topic. Calls `onLost` when such
   * wake-ups may have been lost. Returns the unsubscribe function.
   */
  onWakeUnder(prefix: string, listener: (rest: string) => void, onLost: () => void): () => void;
  /**
   * Calls the listener with the time of a loop's next work, every half second while there is any; also when that time cannot be
   * read. This finds work whose signal was lost or never sent. Returns the unsubscribe function.
   */
  onDue(nextDue: NextDue, listener: DueListener): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Carries signals between nodes. It may lose them. */
export interface SignalTransport {
  /** Sends a payload to all nodes, this one included. */
  send(payload: string): Promise<unknown>;
  /** Calls `onPayload` for every payload, and `onListen` whenever listening starts or resumes. */
  listen(onPayload: (payload: string) => void, onListen: () => void): Promise<{ unlisten(): Promise<void> }>;
}

/** The channel of NOTIFY. */
export const signalChannel = "switchyard_wake";
const coalesceMs = 20;
/** PostgreSQL's limit of a notification payload is 8000 bytes. */
const payloadBytesMax = 7900;

interface PrefixListener {
  readonly prefix: string;
  readonly listener: (rest: string) => void;
  readonly onLost: () => void;
}

/** Signals over NOTIFY, outside of transactions, because a pending NOTIFY serialises commits. */
function notifyTransport(db: Database): SignalTransport {
  return {
    send: (payload) => db.sql`select pg_notify(${signalChannel}, ${payload})`.then(),
    listen: (onPayload, onListen) => db.listen(signalChannel, onPayload, onListen),
  };
}

/** Creates coalesced signals, over NOTIFY unless another transport is given. */
export function createSignals(db: Database, transport = notifyTransport(db)): Signals {
  const listeners = new Map<string, Set<() => void>>();
  const prefixes = new Set<PrefixListener>();
  const pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let listening: { unlisten(): Promise<void> } | undefined;
  let isStopped = false;

  const notify = (topic: string) => {
    for (const listener of listeners.get(topic) ?? []) listener();
    for (const { prefix, listener } of prefixes) if (topic.startsWith(prefix)) listener(topic.slice(prefix.length));
  };
  const send = () => {
    timer = undefined;
    const topics: string[] = [];
    let remainingBytes = payloadBytesMax;
    for (const topic of pending) {
      const bytes = Buffer.byteLength(topic);
      if (bytes > remainingBytes) break;
      // One more byte for the comma.
      remainingBytes -= bytes + 1;
      topics.push(topic);
      pending.delete(topic);
    }
    transport.send(topics.join(",")).catch(() => {
      // Other nodes also poll.
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
      notify(topic);
      // After stop() the connections are about to be closed, so no timer may start.
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
    onDue: createDueWork(db),
    async start() {
      isStopped = false;
      timer = undefined;
      // Signals during a lost connection are unknown.
      const notifyAll = () => {
        for (const set of listeners.values()) for (const listener of set) listener();
        for (const { onLost } of prefixes) onLost();
      };
      listening = await transport.listen((payload) => payload.split(",").forEach(notify), notifyAll);
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await listening?.unlisten().catch(() => {});
    },
  };
}

/** Waits for the next wake-up of a topic, the timeout, the abort signal or `cancel`. The caller must always call `cancel`. */
export function nextWake(signals: Signals, topic: string, signal: AbortSignal, waitMs: number) {
  const { promise: reason, resolve } = Promise.withResolvers<"signal" | "time">();
  const finish = () => resolve("time");
  const timer = setTimeout(finish, waitMs);
  const stop = signals.onWake(topic, () => resolve("signal"));
  signal.addEventListener("abort", finish);
  let sooner: NodeJS.Timeout | undefined;
  /** Like `reason`, with an additional timeout from now. */
  const within = (ms: number | undefined) => {
    if (ms !== undefined) sooner = setTimeout(finish, ms);
    return reason;
  };
  const cancel = () => {
    clearTimeout(timer);
    clearTimeout(sooner);
    stop();
    signal.removeEventListener("abort", finish);
    finish();
  };
  return { reason, within, cancel };
}
