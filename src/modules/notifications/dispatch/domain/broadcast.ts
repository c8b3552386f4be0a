import type { TenantId } from "../../../../platform/access/index.ts";
import type { Channel } from "../../subscribers/index.ts";

/** A message to all subscribers who were members of a topic at its cutoff. */
export interface Broadcast {
  readonly tenantId: TenantId;
  readonly transactionId: string;
  readonly workflowKey: string;
  readonly topicKey: string;
  /** The database snapshot that determines membership. */
  readonly cutoff: string;
  readonly manifest: Manifest;
  readonly status: "accepted" | "expanding" | "completed" | "failed";
  /** The last subscription that was expanded. */
  readonly position: string;
  /** The number of members processed. */
  readonly expanded: number;
  /** The number of members; 0 until they are counted. */
  readonly total: number;
  readonly failureCode: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What is sent to every member, without the payload itself. */
export interface Manifest {
  readonly channels: readonly Channel[] | null;
  readonly userId: string;
  /** SHA-256 of the payload, in hexadecimal. */
  readonly payloadDigest: string;
}
