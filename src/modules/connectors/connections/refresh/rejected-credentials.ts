import type { TenantId } from "../../../../platform/access/index.ts";
import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Database } from "../../../../platform/db/index.ts";
import type { ConnectionCache } from "../connection-cache.ts";
import { hasTokens } from "../domain/connection.ts";
import { isFreshlyRefreshed } from "../domain/refresh-policy.ts";
import { connectionStore } from "../store.ts";
import type { Refresher, RefreshOutcome } from "./refresher.ts";

/**
 * What became of a connection whose credentials a provider rejected. `renewed`: open it again, it has newer credentials.
 * `refresh_failed`: it may work later. `rejected`: the credentials belong to no manifest, and nothing was changed.
 */
export type Rejection = "renewed" | "needs_reauth" | "revoked" | "connection_missing" | "refresh_failed" | "rejected";

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly cache: Pick<ConnectionCache, "forget">;
  readonly refresher: Pick<Refresher, "refresh" | "giveUp">;
}

/** Creates the reaction to rejected credentials: they are refreshed once, else the connection needs reauthorization. */
export function createRejection({ db, clock, cache, refresher }: Parts) {
  return async function markRejected(
    tenantId: TenantId,
    connectionId: string,
    credentialVersion: number,
  ): Promise<Rejection> {
    const ref = { tenantId, id: connectionId };
    const connection = await connectionStore(db.sql).find(tenantId, connectionId);
    // The signal of the node that changed the connection may arrive later than its commit was seen.
    if (connection?.status !== "active" || connection.credentialVersion > credentialVersion) cache.forget(ref);
    if (connection === undefined) return "connection_missing";
    if (connection.status !== "active") return connection.status;
    if (connection.credentialVersion > credentialVersion) return "renewed";
    if (connection.authMode === "") return "rejected";
    const isHopeless = hasTokens(connection.authMode) && isFreshlyRefreshed(connection.lastRefreshedAt, clock.now());
    return rejectionOf(
      isHopeless
        ? await refresher.giveUp(ref, credentialVersion, "credentials_rejected")
        : await refresher.refresh(ref, { spentVersion: credentialVersion, cause: "rejected" }),
    );
  };
}

function rejectionOf({ kind }: RefreshOutcome): Rejection {
  switch (kind) {
    case "refreshed":
      return "renewed";
    case "needs_reauth":
    case "revoked":
      return kind;
    case "missing":
      return "connection_missing";
    case "failed":
    case "not_refreshable":
      return "refresh_failed";
  }
}
