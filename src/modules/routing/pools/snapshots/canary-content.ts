import type { PoolSettings } from "../domain/config-settings.ts";
import { decodeContent, type PoolContent, withContent, withStrategyOf } from "../domain/pool-content.ts";
import type { PoolSnapshot } from "../domain/snapshot.ts";
import type { LoadedCanary } from "./snapshot-store.ts";

type Content = Omit<PoolSnapshot, "digest" | "canary" | "candidateId">;

/** The pool of a snapshot with the content of a version. Recipients are the same objects, so that their state is shared. */
export function contentSnapshot(snapshot: Content, content: PoolContent): Content {
  const { pool, environmentKey, environmentMode, recipients, revision } = snapshot;
  const { tenantId, id: poolId } = pool;
  const rules = content.rules
    .filter(({ enabled }) => enabled)
    .map((rule) => ({ ...rule, tenantId, poolId, updatedAt: rule.createdAt, recordVersion: 1 }));
  return { pool: withContent(pool, content), environmentKey, environmentMode, recipients, rules, revision };
}

/** The pool as a canary sees it. */
export function canaryContent(snapshot: Content, settings: PoolSettings, canary: LoadedCanary): Content {
  const content = decodeContent(canary.content);
  if (canary.artifactKind === "routing") return contentSnapshot(snapshot, content);
  // A strategy leaves everything else as it is.
  const live = { strategy: snapshot.pool.strategy, settings, rules: [] };
  return { ...snapshot, pool: withContent(snapshot.pool, withStrategyOf(live, content)) };
}
