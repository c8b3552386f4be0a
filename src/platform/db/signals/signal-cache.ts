import { BoundedCache } from "../../cache/bounded-cache.ts";
import { createBatcher } from "../batcher.ts";
import type { Signals } from "./signals.ts";

/** Caches single records on this node. A change of one record invalidates only that one, on every node. */
export interface SignalCache<Ref, Value> {
  /** The record, or a promise when it must be read first; undefined if there is none. */
  get(ref: Ref): Value | undefined | Promise<Value | undefined>;
  /** Invalidates a record on this node, after it was seen to have changed. */
  forget(ref: Ref): void;
  /** Invalidates a record on every node, after the commit that changed it. */
  changed(ref: Ref): void;
}

interface Options<Ref, Value> {
  readonly signals: Signals;
  /** The prefix of the signal topics. */
  readonly prefix: string;
  /** Names a record within the prefix. */
  readonly keyOf: (ref: Ref) => string;
  /** Reads records, in the order of their references. */
  readonly readMany: (refs: readonly Ref[]) => Promise<(Value | undefined)[]>;
  /** A monotonic clock. */
  readonly nowMs?: (() => number) | undefined;
}

interface Entry<Value> {
  readonly value: Value;
  /** When the statement that read it was sent. */
  readonly readAtMs: number;
}

/** Entries that are older are read again in the background while they are in use. */
const refreshAfterMs = 400;
/** Entries that are older are not used. A change whose signal is lost takes effect within this time. */
const usableMs = 1000;
const entriesMax = 10_000;

/** Creates the cache of this node. Signals invalidate entries at once; their age covers lost signals. */
export function createSignalCache<Ref, Value>(options: Options<Ref, Value>): SignalCache<Ref, Value> {
  const { signals, prefix, keyOf, readMany, nowMs = () => performance.now() } = options;
  const entries = new BoundedCache<string, Entry<Value>>(entriesMax);
  const reads = new Map<string, Promise<Value | undefined>>();
  const reader = createBatcher<Ref, Value | undefined>({ lanes: 2, flush: (refs) => readMany(refs) });
  const topicOf = (ref: Ref) => prefix + keyOf(ref);

  function invalidate(topic: string): void {
    entries.delete(topic);
    // A read that started before the change must neither be cached nor be shared with later callers.
    reads.delete(topic);
  }

  signals.onWakeUnder(
    prefix,
    (rest) => invalidate(prefix + rest),
    () => {
      entries.clear();
      reads.clear();
    },
  );

  function read(topic: string, ref: Ref): Promise<Value | undefined> {
    const readAtMs = nowMs();
    const promise = reader.run(ref).then(
      (value) => {
        if (reads.get(topic) === promise) {
          reads.delete(topic);
          if (value === undefined) entries.delete(topic);
          else entries.set(topic, { value, readAtMs });
        }
        return value;
      },
      (error) => {
        if (reads.get(topic) === promise) reads.delete(topic);
        throw error;
      },
    );
    reads.set(topic, promise);
    return promise;
  }

  return {
    get(ref) {
      const topic = topicOf(ref);
      const entry = entries.get(topic);
      const ageMs = entry === undefined ? usableMs : nowMs() - entry.readAtMs;
      if (ageMs < refreshAfterMs) return entry!.value;
      const reading = reads.get(topic) ?? read(topic, ref);
      if (ageMs >= usableMs) return reading;
      // The entry stays usable. If the read fails, the next one reports it.
      reading.catch(() => {});
      return entry!.value;
    },
    forget: (ref) => invalidate(topicOf(ref)),
    changed(ref) {
      const topic = topicOf(ref);
      invalidate(topic);
      signals.wake(topic);
    },
  };
}
