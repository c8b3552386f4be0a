import { unreachable } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Channel } from "../../subscribers/index.ts";
import type { Trigger } from "./trigger.ts";

/**
 * The status of a broadcast: accepted → expanding → completed or failed. A redrive expands a failed one again. Each of them
 * can be cancelled: → cancelling, while waiting deliveries are skipped, → cancelled.
 */
export type BroadcastStatus = "accepted" | "expanding" | "completed" | "failed" | "cancelling" | "cancelled";

/** Decides on a cancellation: begin, refuse because every message was sent, or nothing because it was cancelled before. */
export function cancellationOf(status: BroadcastStatus, hasWaiting: boolean): "begin" | "refuse" | "nothing" {
  switch (status) {
    case "accepted":
    case "expanding":
    case "failed":
      return "begin";
    case "completed":
      return hasWaiting ? "begin" : "refuse";
    case "cancelling":
    case "cancelled":
      return "nothing";
    default:
      return unreachable(status);
  }
}

/** The number of a broadcast's deliveries by status. */
export interface BroadcastProgress {
  readonly queued: number;
  readonly running: number;
  readonly sent: number;
  readonly failed: number;
  readonly skipped: number;
  /** Whether counting stopped early. */
  readonly capped: boolean;
}

/** A message to all subscribers who were members of a topic at its cutoff. */
export interface Broadcast {
  readonly tenantId: TenantId;
  readonly transactionId: string;
  readonly workflowKey: string;
  readonly topicKey: string;
  /** The database snapshot that determines membership. */
  readonly cutoff: string;
  readonly manifest: Manifest;
  readonly status: BroadcastStatus;
  /** The last subscription that was expanded; while it is being cancelled, the last delivery that was looked at. */
  readonly position: string;
  /** The number of members processed. */
  readonly expanded: number;
  /** The number of members; 0 until they are counted. */
  readonly total: number;
  readonly failureCode: string;
  /** Who cancelled it; "" for nobody. */
  readonly cancelledBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A broadcast that was just accepted. */
export function newBroadcast(
  where: Pick<Broadcast, "tenantId" | "transactionId" | "topicKey" | "cutoff">,
  { workflowKey, channels, userId }: Pick<Trigger, "workflowKey" | "channels" | "userId">,
  payloadDigest: string,
  nowMs: number,
): Broadcast {
  return {
    ...where,
    workflowKey,
    manifest: { channels: channels ?? null, userId, payloadDigest },
    status: "accepted",
    position: "",
    expanded: 0,
    total: 0,
    failureCode: "",
    cancelledBy: "",
    createdAt: new Date(nowMs),
    updatedAt: new Date(nowMs),
  };
}

/** The message to every member, without the payload itself. */
export interface Manifest {
  readonly channels: readonly Channel[] | null;
  readonly userId: string;
  /** SHA-256 of the payload, in hexadecimal. */
  readonly payloadDigest: string;
}
