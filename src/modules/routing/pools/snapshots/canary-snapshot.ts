import type { PoolContent } from "../domain/pool-content.ts";
import type { PoolSnapshot } from "../domain/snapshot.ts";
import { contentSnapshot } from "./canary-content.ts";
import { withDigest } from "./snapshot-codec.ts";

/** The snapshot of a pool with another content. */
export function deriveSnapshot(snapshot: PoolSnapshot, content: PoolContent): Promise<PoolSnapshot> {
  return withDigest(contentSnapshot(snapshot, content));
}
