/**
 * Connections: settings and credentials for access to other systems on behalf of a tenant.
 *
 * Connection: settings, which are not secret, and credentials, which are sealed and never returned. Mode: how the provider's
 * manifest authenticates requests. Open: decrypt a connection for use. Refresh: exchange a refresh token, or the fields of a
 * connection, for a new access token; it happens once across all nodes. Lease: the right to send a connection's grant to its
 * provider; its fence tells a late holder from the current one. Spent: sent to the provider, which may not accept it again.
 * needs_account: unusable until one of the accounts that its grant reaches is chosen. needs_reauth: unusable until the end user
 * grants access again. Revoked: permanently unusable, with its credentials erased.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import { sealedTable } from "../../../platform/crypto/index.ts";
import type { Database, Sql } from "../../../platform/db/index.ts";
import type { JobRunner } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Catalogue, GuardedHttp } from "../manifests/index.ts";
import type { ProviderConfigs } from "../provider-configs/index.ts";
import { createConnectionCache } from "./connection-cache.ts";
import {
  type ConnectionFailure,
  createConnectionOpener,
  createPinReader,
  type OpenConnection,
} from "./connection-opener.ts";
import { createConnectionUpdates } from "./connection-updates.ts";
import { createSecretReader } from "./credentials/known-secrets.ts";
import { bindingOf, type Connection, type ConnectionAttempt, type EndUser } from "./domain/connection.ts";
import { createGrantService, type GrantRefusal, type ProvenGrant } from "./grant-service.ts";
import { connectionHandlers } from "./handler.ts";
import type { RefreshTimes } from "./refresh/lease-claims.ts";
import { createRefreshPreparation, createTokenOpener } from "./refresh/refresh-preparation.ts";
import { refreshSweepJob } from "./refresh/refresh-sweep.ts";
import { createRefresher } from "./refresh/refresher.ts";
import { createRejection } from "./refresh/rejected-credentials.ts";
import { revokeGrantJob } from "./revocation.ts";
import { type ConnectionParts, createConnectionService } from "./service.ts";
import { type ConnectionRef, connectionStore } from "./store.ts";
import { createTokenClient } from "./tokens/token-client.ts";
import { createAccountProbe } from "./verification/connection-probe.ts";
import { createConnectionTester } from "./verification/connection-tester.ts";
import { createGrantProver } from "./verification/grant-prover.ts";

export { checkFields, withDefaults } from "./domain/field-check.ts";
export { type GrantProver, isProofFault, type ProofFailure } from "./verification/grant-prover.ts";
export type { Connection, ConnectionAttempt, ConnectionFailure, EndUser, GrantRefusal, OpenConnection, ProvenGrant };

/** Validates settings and credentials of providers that are not in the catalogue. */
export type ConnectionCheck = ConnectionParts["check"];

export type Connections = ReturnType<typeof createConnections>;

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "keyring" | "log" | "metrics"> {
  readonly check: ConnectionCheck;
  /** A separate connection pool for cache reads during calls. */
  readonly cacheLoadDb: Database;
  readonly events: EventRecorder;
  readonly jobs: Pick<JobRunner, "wake">;
  readonly catalogue: Pick<Catalogue, "provider">;
  readonly configs: ProviderConfigs;
  readonly http: GuardedHttp;
  readonly platformTenantId: () => string;
  readonly times?: RefreshTimes;
}

export function createConnections(dependencies: Dependencies) {
  const { db, cacheLoadDb, signals, clock, keyring, catalogue, configs, http, jobs } = dependencies;
  const cache = createConnectionCache({ db: cacheLoadDb, signals });
  const tokens = createTokenClient(http);
  const openForTokens = createTokenOpener({ catalogue, configs, keyring });
  const prepare = createRefreshPreparation(openForTokens, tokens);
  const refresher = createRefresher({ ...dependencies, cache, prepare });
  const open = createConnectionOpener({ cache, clock, keyring, configs, refresher });
  const probeAccount = createAccountProbe(http);
  const asking = { clock, catalogue, open, probe: probeAccount };
  const markRejected = createRejection({ ...asking, db, cache, refresher });
  const test = createConnectionTester({ ...asking, markRejected });
  const prover = createGrantProver({ configs, tokens, probeAccount });
  const service = createConnectionService({ ...dependencies, cache, refresher, wakeJobs: () => jobs.wake() });
  const updates = createConnectionUpdates({ ...dependencies, cache, prover });
  return {
    handlers: connectionHandlers({ service, updates, test }),
    jobs: [
      revokeGrantJob({ ...dependencies, openForTokens, tokens, refresher, cache }),
      refreshSweepJob({ ...dependencies, refresher }),
    ],
    /** Finds a connection in any state, without its credentials. */
    find: (sql: Sql, tenantId: TenantId, connectionId: string) => connectionStore(sql).find(tenantId, connectionId),
    /** Whether a provider has connections that are not revoked. */
    hasProvider: (sql: Sql, tenantId: TenantId, providerKey: string) =>
      connectionStore(sql).hasProvider(tenantId, providerKey),
    /** Opens a connection, from a cache for most calls, and refreshes it when due. Returns a fault if it cannot be used. */
    open,
    /** The version of a provider's manifest that the connection's actions are pinned to; undefined for the newest one. */
    actionVersion: createPinReader({ cache, configs }),
    /** Reads the secrets of a connection, to remove them from what its provider sends. */
    readSecrets: createSecretReader({ cache, keyring, configs }),
    /** Reacts to a provider that rejected the credentials of an open connection. */
    markRejected,
    /**
     * Stores access that an end user granted, in the caller's transaction: in a new connection, or in place of the previous
     * grant. The caller proves the grant with `prover` before.
     */
    storeGrant: createGrantService({ ...dependencies, cache }),
    /** Adds an attempt to the log of a connection. */
    recordAttempt: (sql: Sql, ref: ConnectionRef, attempt: ConnectionAttempt) =>
      connectionStore(sql).recordAttempt(ref, attempt),
    /** Obtains access from providers and proves it. */
    prover,
    /** The credentials, for re-encryption when the master key changes. */
    sealed: sealedTable(db.sql, "connector_connections", bindingOf),
    /** Resolves when no refresh is running on this node. */
    idle: refresher.idle,
    /** Ends waits for other nodes, and resolves when no refresh is running on this node. */
    stop: refresher.stop,
  };
}
