import { approximateBytes } from "../../../../platform/document/index.ts";
import type { LeasedRow } from "./lease-store.ts";

/** A lease that no worker has received yet. */
export interface BufferedLease {
  readonly row: LeasedRow;
  /** When the statement that leased the item was sent, by the node's monotonic clock. */
  readonly sentAtMs: number;
  /** How much longer than the worker is told the row is leased, if it is handed out immediately. */
  readonly spareMs: number;
  /** The waiting time per point of priority that the counts of the lease were written with. */
  readonly ageingMs: number;
}

/** The leases of one class of requests that no worker has received yet, oldest first. */
export type LeaseBuffer = ReturnType<typeof createLeaseBuffer>;

/**
 * The longest time from the lease statement to the hand-out. Whatever changes after the statement (a pause, a disabled
 * pool, items that precede these) applies to all hand-outs after this time, even if the node never hears of it.
 */
export const ageMaxMs = 80;
/** After this time, a node hands out no item that it leased ahead before, and has given it back if it hears signals. */
export const recallMaxMs = 100;
/** The most leases in a buffer. */
export const bufferItemsMax = 500;
const bufferBytesMax = 4 * 1024 * 1024;
/** Size of an item before any is known. It is measured before the first item is leased ahead. */
const assumedBytes = 8 * 1024;

/** Bytes that all buffers of a node may hold together. */
export interface MemoryBudget {
  bytes: number;
}

export function createMemoryBudget(): MemoryBudget {
  return { bytes: 64 * 1024 * 1024 };
}

interface Entry {
  readonly lease: BufferedLease;
  readonly bytes: number;
}

export function createLeaseBuffer(budget: MemoryBudget, nowMs: () => number) {
  let entries: Entry[] = [];
  let bytes = 0;
  let averageBytes: number | undefined;

  const isYoung = ({ sentAtMs }: BufferedLease, now: number) => now - sentAtMs <= ageMaxMs;
  const measure = (row: LeasedRow) => {
    const size = bytesOf(row);
    averageBytes = averageBytes === undefined ? size : averageBytes + (size - averageBytes) / 8;
    return size;
  };
  const remove = (removed: readonly Entry[]) => {
    for (const each of removed) {
      bytes -= each.bytes;
      budget.bytes += each.bytes;
    }
    return removed.map(({ lease }) => lease);
  };

  return {
    get size() {
      return entries.length;
    },
    /** When the oldest lease is too old to be handed out; undefined when the buffer is empty. */
    get staleAtMs() {
      return entries[0] && entries[0].lease.sentAtMs + ageMaxMs;
    },
    /** Adds leases; returns those that do not fit or are too old. */
    add(leases: readonly BufferedLease[]): BufferedLease[] {
      const refused: BufferedLease[] = [];
      const now = nowMs();
      for (const lease of leases) {
        const entry = { lease, bytes: measure(lease.row) };
        const fits =
          entries.length < bufferItemsMax && bytes + entry.bytes <= bufferBytesMax && entry.bytes <= budget.bytes;
        if (!fits || !isYoung(lease, now)) {
          refused.push(lease);
          continue;
        }
        bytes += entry.bytes;
        budget.bytes -= entry.bytes;
        entries.push(entry);
      }
      // Leases that come back from a disconnected worker are older than the last ones. The sort is stable.
      entries.sort((a, b) => a.lease.sentAtMs - b.lease.sentAtMs);
      return refused;
    },
    /** Removes up to `max` leases that are young enough and that the predicate accepts. */
    take(max: number, accepts: (row: LeasedRow) => boolean): BufferedLease[] {
      const taken: Entry[] = [];
      const skipped: Entry[] = [];
      const now = nowMs();
      let at = 0;
      for (; at < entries.length && taken.length < max; at++) {
        const entry = entries[at]!;
        (isYoung(entry.lease, now) && accepts(entry.lease.row) ? taken : skipped).push(entry);
      }
      if (taken.length > 0) entries = skipped.length === 0 ? entries.slice(at) : [...skipped, ...entries.slice(at)];
      return remove(taken);
    },
    /** Removes and returns the leases that are too old. */
    removeStale(): BufferedLease[] {
      const now = nowMs();
      const firstYoung = entries.findIndex(({ lease }) => isYoung(lease, now));
      return remove(entries.splice(0, firstYoung === -1 ? entries.length : firstYoung));
    },
    /** Removes and returns all leases. */
    clear(): BufferedLease[] {
      const all = entries;
      entries = [];
      return remove(all);
    },
    /** The number of average items that still fit. */
    room(): number {
      const average = averageBytes ?? assumedBytes;
      const room = Math.floor(Math.min(bufferBytesMax - bytes, budget.bytes) / average);
      return Math.min(bufferItemsMax - entries.length, room);
    },
    /** Includes an item in the average size. */
    sample: measure,
  };
}

/**
 * The item as a worker receives it. Its lease starts at the hand-out: the spare time that is left is subtracted from the
 * end of the row's lease. That end is by the database's clock and the rest is a duration, so clocks need not agree, and
 * no worker is told a later end than the row has.
 */
export function toHandedOut({ row, sentAtMs, spareMs }: BufferedLease, nowMs: number): LeasedRow {
  const leftMs = spareMs - (nowMs - sentAtMs);
  return leftMs <= 0 ? row : { ...row, leaseUntil: new Date(row.leaseUntil.getTime() - leftMs) };
}

const rowBytes = 400;

/** The memory of an item, roughly. */
function bytesOf({ type, key, attributes, payload, after }: LeasedRow): number {
  const contentBytes =
    approximateBytes(attributes) + approximateBytes(payload) + (after === undefined ? 0 : approximateBytes(after));
  return rowBytes + 2 * (type.length + key.length) + contentBytes;
}
