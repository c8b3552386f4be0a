import type { TenantId } from "../../../../platform/access/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { Catalogue } from "../../manifests/index.ts";
import { type ConnectionCache, topicOf } from "../connection-cache.ts";
import type { OpenConnections } from "../connection-opener.ts";
import { hasTokens } from "../domain/connection.ts";
import { isFreshlyRefreshed } from "../domain/refresh-policy.ts";
import { connectionStore } from "../store.ts";
import type { ProbeAccount } from "../verification/connection-probe.ts";
import type { Refresher, RefreshOutcome } from "./refresher.ts";

/**
 * The state of a connection whose credentials a provider rejected. `renewed`: open it again, it has newer credentials.
 * `accepted`: the provider accepts them for its account request, so that only the one resource is refused. `refresh_failed`: it
 * may work later. `rejected`: the credentials belong to no manifest, and nothing was changed.
 */
export type Refusal =
  | "renewed"
  | "accepted"
  | "needs_account"
  | "needs_reauth"
  | "revoked"
  | "connection_missing"
  | "refresh_failed"
  | "rejected";

/** The provider's verdict on credentials. `unclear`: it gave none. */
type Verdict = "accepted" | "rejected" | "unclear";

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly cache: Pick<ConnectionCache, "forget">;
  readonly catalogue: Pick<Catalogue, "provider">;
  readonly open: OpenConnections;
  readonly probe: ProbeAccount;
  readonly refresher: Pick<Refresher, "refresh" | "giveUp">;
}

/**
 * Creates the reaction to rejected credentials: the provider is asked for the account, and if it rejects that request too, the
 * credentials are refreshed once, else the connection needs reauthorization.
 */
export function createRejection({ db, clock, cache, catalogue, open, probe, refresher }: Dependencies) {
  const questions = new Map<string, Promise<Verdict>>();

  async function ask(tenantId: TenantId, connectionId: string): Promise<Verdict> {
    const opened = await open(tenantId, connectionId);
    if (typeof opened === "string") return "unclear";
    const provider = await catalogue.provider(tenantId, opened.providerKey);
    if (provider === undefined) return "rejected";
    const result = await probe(provider, opened, clock.now());
    if (result.kind === "ok") return "accepted";
    // Without an account request, the refused request is all that is known.
    if (result.kind === "unverified" || result.class === "unusable" || result.class === "auth_expired")
      return "rejected";
    return "unclear";
  }

  /** Asks once for all callers that were refused at the same time. */
  function askOnce(tenantId: TenantId, id: string): Promise<Verdict> {
    const key = topicOf({ tenantId, id });
    const asking = questions.get(key) ?? ask(tenantId, id).finally(() => questions.delete(key));
    questions.set(key, asking);
    return asking;
  }

  /** Reacts to a rejection. The verdict is the one of the account request, for a caller that has sent it. */
  return async function markRejected(
    tenantId: TenantId,
    connectionId: string,
    credentialVersion: number,
    known?: Verdict,
  ): Promise<Refusal> {
    const ref = { tenantId, id: connectionId };
    const connection = await connectionStore(db.sql).find(tenantId, connectionId);
    // The signal of the node that changed the connection may arrive later than its commit was seen.
    if (connection?.status !== "active" || connection.credentialVersion > credentialVersion) cache.forget(ref);
    if (connection === undefined) return "connection_missing";
    if (connection.status !== "active") return connection.status;
    if (connection.credentialVersion > credentialVersion) return "renewed";
    if (connection.authMode === "") return "rejected";
    const verdict = known ?? (await askOnce(tenantId, connectionId));
    if (verdict === "accepted") return "accepted";
    const isHopeless = hasTokens(connection.authMode) && isFreshlyRefreshed(connection.lastRefreshedAt, clock.now());
    if (isHopeless && verdict === "unclear") return "refresh_failed";
    // A rejection that the provider did not confirm condemns no credentials that cannot be refreshed.
    const cause = verdict === "rejected" ? "rejected" : "due";
    const outcome = isHopeless
      ? await refresher.giveUp(ref, credentialVersion, "credentials_rejected")
      : await refresher.refresh(ref, { spentVersion: credentialVersion, cause });
    return refusals[outcome.kind];
  };
}

const refusals: Readonly<Record<RefreshOutcome["kind"], Refusal>> = {
  refreshed: "renewed",
  needs_account: "needs_account",
  needs_reauth: "needs_reauth",
  revoked: "revoked",
  missing: "connection_missing",
  failed: "refresh_failed",
  not_refreshable: "refresh_failed",
};
