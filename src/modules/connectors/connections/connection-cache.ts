import { createBatcher, type Database, type Signals } from "../../../platform/db/index.ts";
import type { SealedConnection } from "./domain/connection.ts";
import { type ConnectionRef, connectionStore } from "./store.ts";

/** Caches sealed connections on this node. A change of one connection invalidates only that one, on every node. */
export interface ConnectionCache {
  /** The connection, or a promise when it must be read first; undefined if there is none. */
  get(ref: ConnectionRef): SealedConnection | undefined | Promise<SealedConnection | undefined>;
  /** Invalidates a connection on this node, after it was seen to have changed. */
  forget(ref: ConnectionRef): void;
  /** Invalidates a connection on every node, after the commit that changed it. */
  changed(ref: ConnectionRef): void;
}

interface Entry {
  readonly sealed: SealedConnection;
  /** When the statement that read it was sent. */
  readonly readAtMs: number;
}

interface Parts {
  readonly db: Database;
  readonly signals: Signals;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

/** Entries that are older are read again in the background while they are in use. */
const refreshAfterMs = 400;
/** Entries that are older are not used. A change whose signal is lost takes effect within this time. */
const usableMs = 1000;
const entriesMax = 10_000;

const prefix = "connection:";

/** The signal topic of changes of a connection. */
export function topicOf({ tenantId, id }: ConnectionRef): string {
  return `${prefix}${tenantId}:${id}`;
}

/** Creates the cache of this node. Signals invalidate entries at once; their age covers lost signals. */
export function createConnectionCache({ db, signals, nowMs = () => performance.now() }: Parts): ConnectionCache {
  const entries = new Map<string, Entry>();
  const reads = new Map<string, Promise<SealedConnection | undefined>>();
  const reader = createBatcher<ConnectionRef, SealedConnection | undefined>({
    lanes: 2,
    async flush(refs) {
      const found = await connectionStore(db.sql).findManySealed(refs);
      const byKey = new Map(found.map((each) => [topicOf(each), each]));
      return refs.map((ref) => byKey.get(topicOf(ref)));
    },
  });

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

  function read(topic: string, ref: ConnectionRef): Promise<SealedConnection | undefined> {
    const readAtMs = nowMs();
    const promise = reader.run(ref).then(
      (sealed) => {
        if (reads.get(topic) === promise) {
          reads.delete(topic);
          entries.delete(topic);
          if (sealed !== undefined) store(topic, { sealed, readAtMs });
        }
        return sealed;
      },
      (error) => {
        if (reads.get(topic) === promise) reads.delete(topic);
        throw error;
      },
    );
    reads.set(topic, promise);
    return promise;
  }

  function store(topic: string, entry: Entry): void {
    if (entries.size >= entriesMax) entries.delete(entries.keys().next().value!);
    entries.set(topic, entry);
  }

  return {
    get(ref) {
      const topic = topicOf(ref);
      const entry = entries.get(topic);
      const ageMs = entry === undefined ? usableMs : nowMs() - entry.readAtMs;
      if (ageMs < refreshAfterMs) return entry!.sealed;
      const reading = reads.get(topic) ?? read(topic, ref);
      if (ageMs >= usableMs) return reading;
      // The entry stays usable. If the read fails, the next one reports it.
      reading.catch(() => {});
      return entry!.sealed;
    },
    forget: (ref) => invalidate(topicOf(ref)),
    changed(ref) {
      const topic = topicOf(ref);
      invalidate(topic);
      signals.wake(topic);
    },
  };
}
