import type { TenantId } from "../../../platform/access/index.ts";
import type { Job, JobKind } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { ConnectionCache } from "./connection-cache.ts";
import type { SealedConnection } from "./domain/connection.ts";
import type { OpenForTokens } from "./refresh/refresh-preparation.ts";
import type { Refresher } from "./refresh/refresher.ts";
import { connectionStore } from "./store.ts";
import type { TokenClient } from "./tokens/token-client.ts";

/** The kind of the job that revokes a grant at its provider. */
export const revokeGrantKind = "connector.revoke_grant";

/** After this many attempts the grant stays at the provider, and the credentials are erased. */
export const revocationAttemptsMax = 6;

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "metrics"> {
  readonly openForTokens: OpenForTokens;
  readonly tokens: Pick<TokenClient, "revoke">;
  readonly refresher: Pick<Refresher, "withLease">;
  readonly cache: Pick<ConnectionCache, "changed">;
}

/** Revokes the grant of a revoked connection at its provider, then erases the credentials. */
export function revokeGrantJob({ db, clock, metrics, openForTokens, tokens, refresher, cache }: Dependencies): JobKind {
  const store = connectionStore(db.sql);
  const outcomes = metrics.counter({
    name: "connector_revocations_total",
    help: "Revocations of grants at providers, by outcome.",
    labels: ["outcome"],
  });

  async function revoke(sealed: SealedConnection, isLast: boolean): Promise<"succeeded" | "failed" | "not_offered"> {
    const opened = await openForTokens(sealed, clock.now());
    // Another node may have the master key that this one lacks.
    if (opened === "decrypt_failed" && !isLast) throw new Error("The credentials cannot be decrypted.");
    if (typeof opened === "string") return "failed";
    if (opened.auth.mode !== "oauth2") return "not_offered";
    const result = await tokens.revoke(opened.auth, opened.call);
    if (result.kind === "revoked") return "succeeded";
    if (result.kind === "unavailable" && !isLast) throw new Error(`The provider is unavailable: ${result.code}.`);
    return result.kind === "not_offered" ? "not_offered" : "failed";
  }

  return {
    kind: revokeGrantKind,
    async handler({ tenantId, payload, attempt }: Job) {
      const ref = { tenantId: tenantId as TenantId, id: (payload as { connectionId: string }).connectionId };
      // A refresh in progress ends first: its new tokens are revoked too.
      const done = await refresher.withLease(ref, async () => {
        const sealed = await store.findSealed(ref.tenantId, ref.id);
        if (sealed?.providerRevocation !== "pending") return true;
        const outcome = await revoke(sealed, attempt >= revocationAttemptsMax);
        await store.eraseRevoked(ref, outcome, new Date(clock.now()));
        outcomes.inc({ outcome });
        cache.changed(ref);
        return true;
      });
      if (done === undefined) throw new Error("A refresh of the connection is still running.");
    },
  };
}
