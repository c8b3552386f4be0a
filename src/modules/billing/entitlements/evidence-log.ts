import { createHash } from "node:crypto";
import type { Database } from "../../../platform/db/index.ts";
import { ulidFrom } from "../../../platform/ids/ulid.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { Evidence } from "./domain/snapshot.ts";
import { entitlementStore } from "./store.ts";

/** Counts evidence in memory and stores it in batches. */
export interface EvidenceLog {
  add(evidence: Omit<Evidence, "id" | "minute" | "count">, nowMs: number): void;
  /** Stores everything that was added before the call. */
  flush(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

interface Parts {
  readonly db: Database;
  readonly log: Log;
  /** Called for every call that is not recorded because too much is waiting to be stored. */
  readonly onDropped: () => void;
  readonly flushMs?: number;
  /** The largest number of different rows in memory. */
  readonly entriesMax?: number;
}

const minuteMs = 60_000;

/**
 * Creates this node's log of evidence. Equal calls of a minute are one row, on all nodes together. A crash loses what was
 * added since the last flush: evidence is a report, not a bill.
 */
export function createEvidenceLog({ db, log, onDropped, flushMs = 10_000, entriesMax = 10_000 }: Parts): EvidenceLog {
  let waiting = new Map<string, Evidence & { count: number }>();
  let flushing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  async function store(batch: ReadonlyMap<string, Evidence>): Promise<void> {
    if (batch.size === 0) return;
    const rows = [...batch.values()].sort((a, b) => (a.tenantId + a.id < b.tenantId + b.id ? -1 : 1));
    try {
      await entitlementStore(db.sql).addEvidence(rows);
    } catch (error) {
      log.warn({ err: error }, "evidence of entitlements cannot be stored; it is stored later");
      for (const [key, row] of batch) merge(key, row);
    }
  }

  function merge(key: string, row: Evidence): void {
    const known = waiting.get(key);
    if (known !== undefined) known.count += row.count;
    else if (waiting.size < entriesMax) waiting.set(key, { ...row });
    else onDropped();
  }

  function flush(): Promise<void> {
    flushing = flushing.then(() => {
      const batch = waiting;
      waiting = new Map();
      return store(batch);
    });
    return flushing;
  }

  return {
    add(evidence, nowMs) {
      const { tenantId, item, operation, mode, verdict, reason, snapshotVersion } = evidence;
      const minute = Math.floor(nowMs / minuteMs) * minuteMs;
      const key = [tenantId, minute, item, operation, mode, verdict, reason, snapshotVersion].join("\0");
      const known = waiting.get(key);
      if (known !== undefined) known.count++;
      else merge(key, { ...evidence, id: idOf(minute, key), minute: new Date(minute), count: 1 });
    },
    flush,
    start() {
      timer = setInterval(flush, flushMs);
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** The id of a row of evidence: equal on all nodes. */
function idOf(minute: number, key: string): string {
  return ulidFrom(minute, createHash("sha256").update(key).digest());
}
