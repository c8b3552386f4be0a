import type { TenantId } from "../../../../platform/access/index.ts";
import type { Channel } from "../../subscribers/index.ts";

/** A message to all who were members of a topic at its cutoff. */
export interface Broadcast {
  readonly tenantId: TenantId;
  readonly transactionId: string;
  readonly workflowKey: string;
  readonly topicKey: string;
  /** The database's snapshot in which membership counts. */
  readonly cutoff: string;
  readonly manifest: Manifest;
  readonly status: "accepted" | "expanding" | "completed" | "failed";
  /** The last subscription that was expanded. */
  readonly position: string;
  /** How many members were gone through. */
  readonly expanded: number;
  /** How many members there are; 0 until they were counted. */
  readonly total: number;
  readonly failureCode: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What is sent to every member, but for what it carries. */
export interface Manifest {
  readonly channels: readonly Channel[] | null;
  readonly userId: string;
  /** Of what it carries, in hexadecimal. */
  readonly payloadDigest: string;
}
