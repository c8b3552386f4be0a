import type { Ceilings } from "./pins.ts";
import type { AckedPosition, StreamHead } from "./stream.ts";

/** How much of a stream is kept and unread. */
export interface Usage {
  readonly items: number;
  readonly bytes: number;
  readonly unreadItems: number;
  readonly unreadBytes: number;
}

type HeadPosition = Pick<StreamHead, "firstSequence" | "lastSequence" | "firstCumBytes" | "lastCumBytes">;

/** Counts from durable positions only. Records that retention removed are neither kept nor unread. */
export function usageOf(head: HeadPosition, acked: AckedPosition): Usage {
  const { firstSequence, lastSequence, firstCumBytes, lastCumBytes } = head;
  return {
    items: lastSequence - firstSequence + 1,
    bytes: lastCumBytes - firstCumBytes,
    unreadItems: lastSequence - Math.max(acked.ackedSequence, firstSequence - 1),
    unreadBytes: lastCumBytes - Math.max(acked.ackedCumBytes, firstCumBytes),
  };
}

/** Why a record does not fit. */
export type FullReason = "total_full" | "unread_full";

/** Why a record of this size does not fit now; undefined if it does. The total is checked first: waiting does not help. */
export function fullReason(usage: Usage, bytes: number, ceilings: Ceilings): FullReason | undefined {
  if (usage.items + 1 > ceilings.total_items || usage.bytes + bytes > ceilings.total_bytes) return "total_full";
  if (usage.unreadItems + 1 > ceilings.unread_items || usage.unreadBytes + bytes > ceilings.unread_bytes) {
    return "unread_full";
  }
  return undefined;
}
