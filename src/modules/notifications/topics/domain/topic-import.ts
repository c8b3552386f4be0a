import type { TenantId } from "../../../../platform/access/index.ts";

/** An import of members into a topic. */
export interface TopicImport {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly topicKey: string;
  readonly contextKeys: readonly string[];
  /** running → completed, cancelled, or failed when the topic was deleted or it failed too often. */
  readonly status: "running" | "completed" | "cancelled" | "failed";
  /** The number of names. */
  readonly total: number;
  readonly processed: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  /** The number of names that belong to no subscriber. */
  readonly unknown: number;
  /** The first of them. */
  readonly unknownNames: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The outcome of one batch of names. */
export interface ImportedBatch extends Pick<TopicImport, "added" | "changed" | "unchanged" | "unknownNames"> {
  readonly size: number;
}

const unknownNamesMax = 100;

/** The import after one more batch. */
export function advanceImport(current: TopicImport, batch: ImportedBatch, now: Date): TopicImport {
  const processed = current.processed + batch.size;
  return {
    ...current,
    status: processed >= current.total ? "completed" : "running",
    processed,
    added: current.added + batch.added,
    changed: current.changed + batch.changed,
    unchanged: current.unchanged + batch.unchanged,
    unknown: current.unknown + batch.unknownNames.length,
    unknownNames: [...current.unknownNames, ...batch.unknownNames].slice(0, unknownNamesMax),
    updatedAt: now,
  };
}
