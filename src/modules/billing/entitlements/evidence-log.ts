import { createHash } from "node:crypto";
import { ulidFrom } from "../../../platform/ids/ulid.ts";
import { createRepeatedTask } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Evidence } from "./domain/snapshot.ts";
import { entitlementStore } from "./store.ts";

/** Counts evidence in memory and stores it in batches. */
export type EvidenceLog = ReturnType<typeof createEvidenceLog>;

interface Dependencies extends Pick<PlatformServices, "db" | "log"> {
  /** Called for every call that is not recorded because too much is waiting to be stored. */
  readonly onDropped: () => void;
  readonly flushMs?: number;
  /** The largest number of different rows in memory. */
  readonly entriesMax?: number;
}

/** A row whose calls are still being counted. */
type CountedEvidence = Evidence & { count: number };

const minuteMs = 60_000;

/**
 * Creates this node's log of evidence. Equal calls of a minute are one row, on all nodes together. A crash loses what was
 * added since the last flush: evidence is a report, not a bill.
 */
export function createEvidenceLog({ db, log, onDropped, flushMs = 10_000, entriesMax = 10_000 }: Dependencies) {
  let waiting = new Map<string, CountedEvidence>();
  // The last row of each operation and tenant. Most calls count in it, without building a key.
  const recent = new Map<string, Map<string, CountedEvidence>>();
  let flushing: Promise<void> = Promise.resolve();

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

  function merge(key: string, row: Evidence): CountedEvidence | undefined {
    const known = waiting.get(key);
    if (known !== undefined) {
      known.count += row.count;
      return known;
    }
    if (waiting.size >= entriesMax) {
      onDropped();
      return undefined;
    }
    const added = { ...row };
    waiting.set(key, added);
    return added;
  }

  /** Stores everything that was added before the call. */
  function flush(): Promise<void> {
    flushing = flushing.then(() => {
      const batch = waiting;
      waiting = new Map();
      recent.clear();
      return store(batch);
    });
    return flushing;
  }

  const task = createRepeatedTask({ work: flush, maxWaitMs: flushMs, onError: () => {}, runsAtStop: true });

  return {
    add(evidence: Omit<Evidence, "id" | "minute" | "count">, nowMs: number) {
      const { tenantId, item, operation, mode, verdict, reason, snapshotVersion } = evidence;
      const last = recent.get(operation)?.get(tenantId);
      if (last !== undefined && isSame(last, evidence, nowMs)) {
        last.count++;
        return;
      }
      const minute = Math.floor(nowMs / minuteMs) * minuteMs;
      const key = [tenantId, minute, item, operation, mode, verdict, reason, snapshotVersion].join("\0");
      const id = waiting.get(key)?.id ?? idOf(minute, key);
      const row = merge(key, { ...evidence, id, minute: new Date(minute), count: 1 });
      if (row === undefined) return;
      const byTenant = recent.get(operation) ?? new Map<string, CountedEvidence>();
      recent.set(operation, byTenant.set(tenantId, row));
    },
    flush,
    start: task.start,
    stop: task.stop,
  };
}

/** Whether a call counts in a row of evidence of the same operation and tenant. */
function isSame(row: Evidence, call: Omit<Evidence, "id" | "minute" | "count">, nowMs: number): boolean {
  const elapsedMs = nowMs - row.minute.getTime();
  return (
    elapsedMs >= 0 &&
    elapsedMs < minuteMs &&
    row.item === call.item &&
    row.verdict === call.verdict &&
    row.reason === call.reason &&
    row.mode === call.mode &&
    row.snapshotVersion === call.snapshotVersion
  );
}

/** The id of a row of evidence: equal on all nodes. */
function idOf(minute: number, key: string): string {
  return ulidFrom(minute, createHash("sha256").update(key).digest());
}
