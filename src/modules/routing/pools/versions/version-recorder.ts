import type { Context } from "../../../../chain/call.ts";
import type { PoolId } from "../domain/pool.ts";
import { digestOfText, encodeContent } from "../domain/pool-content.ts";
import { versionStore } from "./version-store.ts";

/** How many captured versions of a pool are kept. */
const capturedMax = 500;

/**
 * Records what a pool has after a change as its active version. The caller holds the lock of the pool. A content that the pool
 * had before gets its version again.
 */
export async function recordPoolVersion({ sql, tenantId, principal, nowMs }: Context, poolId: PoolId) {
  const store = versionStore(sql);
  const [content, active] = await Promise.all([
    store.liveContent(tenantId, poolId),
    store.findActive(tenantId, poolId),
  ]);
  if (content === undefined) return undefined;
  const text = encodeContent(content);
  const digest = digestOfText(text);
  if (active?.digest === digest) return active;
  const known = await store.findByDigest(tenantId, poolId, digest);
  const origin = "change" as const;
  const stamp = { origin, message: "", createdBy: principal.subject, createdAt: new Date(nowMs) };
  const recorded = known ?? (await store.insert({ tenantId, poolId, digest, content: text, ...stamp }));
  await store.setActive(tenantId, poolId, recorded);
  if (known === undefined && recorded.version > capturedMax) {
    await store.deleteOldest(tenantId, poolId, capturedMax);
  }
  return { version: recorded.version, digest };
}
