import { backoffMs } from "../../../../platform/backoff/backoff.ts";
import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import { writePersistently } from "../../../../platform/db/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { type ConnectionCache, topicOf } from "../connection-cache.ts";
import { sealCredentials } from "../credentials/sealed-credentials.ts";
import type { Credentials, ReauthReason, SealedConnection } from "../domain/connection.ts";
import { idleRefreshAt, refreshBackoff } from "../domain/refresh-policy.ts";
import { eventData } from "../grant-service.ts";
import { type ConnectionRef, connectionStore, type StoredGrant } from "../store.ts";
import type { TokenGrant, TokenResult } from "../tokens/oauth-request.ts";
import { createLeaseClaims, type RefreshTimes } from "./lease-claims.ts";
import { type LeaseFailure, type LeaseRefusal, leaseStore, type RefreshLease } from "./lease-store.ts";
import type { PreparedRefresh, RefreshPreparation } from "./refresh-preparation.ts";

/** Why a refresh is requested. */
export type RefreshCause = "due" | "requested" | "rejected" | "idle" | "interrupted";

/** A request for credentials that are newer than the spent ones. */
export interface RefreshRequest {
  /** The version of the credentials that the caller cannot use. */
  readonly spentVersion: number;
  readonly cause: RefreshCause;
}

export type RefreshOutcome =
  /** Newer credentials are stored, by this or another node. */
  | { readonly kind: "refreshed" }
  | { readonly kind: "missing" | "revoked" | "needs_account" | "needs_reauth" }
  /** The credentials are not of a kind that can be refreshed. */
  | { readonly kind: "not_refreshable" }
  /** There are no new credentials now. The code is safe to show. */
  | { readonly kind: "failed"; readonly code: string; readonly retryAfterMs: number };

/** Refreshes credentials: one request at a time across all nodes. */
export type Refresher = ReturnType<typeof createRefresher>;

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "log" | "metrics" | "keyring"> {
  readonly events: EventRecorder;
  readonly cache: Pick<ConnectionCache, "changed" | "forget">;
  readonly prepare: RefreshPreparation;
  readonly times?: RefreshTimes;
}

const busyRetryMs = 1000;
const rememberMsMax = 1000;
const recentFailuresMax = 10_000;

/** Creates the refresher of this node. */
export function createRefresher(dependencies: Dependencies) {
  const { db, signals, clock, log, metrics, keyring, events, cache, prepare, times } = dependencies;
  const flights = new Map<string, Promise<RefreshOutcome>>();
  const leases = leaseStore(db.sql);
  const connections = connectionStore(db.sql);
  const recentFailures = new BoundedCache<string, { readonly outcome: RefreshOutcome; readonly untilMs: number }>(
    recentFailuresMax,
  );
  const claims = createLeaseClaims({ leases, signals, times });
  const outcomes = metrics.counter({
    name: "connector_refreshes_total",
    help: "Refreshes of connections, by cause and outcome. shared: another node refreshed the credentials meanwhile.",
    labels: ["cause", "outcome"],
  });
  const durations = metrics.histogram({
    name: "connector_token_request_seconds",
    help: "Time of a token request to a provider, by outcome.",
    labels: ["outcome"],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  });

  /** Returns the outcome without a refresh; undefined if the stored credentials are still the spent ones. */
  function settledBy(
    sealed: SealedConnection | undefined,
    { spentVersion }: RefreshRequest,
  ): RefreshOutcome | undefined {
    if (sealed === undefined) return { kind: "missing" };
    if (sealed.status !== "active") return { kind: sealed.status };
    return sealed.credentialVersion > spentVersion ? { kind: "refreshed" } : undefined;
  }

  async function run(ref: ConnectionRef, request: RefreshRequest): Promise<RefreshOutcome> {
    const force = request.cause === "requested";
    for (;;) {
      const claimed = await claims.claim(ref, force, async () =>
        settledBy(await connections.findSealed(ref.tenantId, ref.id), request),
      );
      if (!("fence" in claimed)) {
        // The signal of the node that changed the connection may arrive later than its commit was seen.
        cache.forget(ref);
        const outcome = "waitMs" in claimed ? await failureOf(ref, claimed) : claimed;
        outcomes.inc({ cause: request.cause, outcome: outcome.kind === "refreshed" ? "shared" : outcome.kind });
        return outcome;
      }
      const outcome = await refreshWith(ref, request, claimed);
      if (outcome === "lease_lost") continue;
      outcomes.inc({ cause: request.cause, outcome: outcome.kind });
      return outcome;
    }
  }

  async function failureOf(ref: ConnectionRef, { kind, waitMs }: LeaseRefusal): Promise<RefreshOutcome> {
    if (kind === "held") return failed("refresh_busy", busyRetryMs);
    // The failure that a back-off follows says more than the back-off.
    const connection = await connections.find(ref.tenantId, ref.id);
    return failed(connection?.lastRefreshError || kind, waitMs);
  }

  async function refreshWith(
    ref: ConnectionRef,
    request: RefreshRequest,
    lease: RefreshLease,
  ): Promise<RefreshOutcome | "lease_lost"> {
    const { fence } = lease;
    // Another node may have finished between the first look and the claim.
    const sealed = await connections.findSealed(ref.tenantId, ref.id);
    const settled = settledBy(sealed, request);
    if (settled !== undefined) {
      cache.forget(ref);
      await leases.release(ref, fence);
      return settled;
    }
    const current = sealed!;
    const { credentialVersion: version } = current;
    // The outcome of an earlier request with these credentials is unknown, and stays so until a request has one.
    const isRepeat = lease.attemptedVersion === version;
    const prepared = await prepare(current, clock.now());
    if (prepared.kind === "not_refreshable") {
      const isUnusable = request.cause === "rejected" || isExpired(current, clock.now());
      if (isUnusable && prepared.reason !== undefined) return markNeedsReauth(ref, fence, version, prepared.reason);
      await leases.giveBack(ref, fence);
      return { kind: "not_refreshable" };
    }
    if (prepared.kind === "failed" && prepared.code === "decrypt_failed") {
      // Only this node lacks the master key. Others must not back off.
      await leases.giveBack(ref, fence);
      return failed(prepared.code, busyRetryMs);
    }
    if (prepared.kind === "failed") {
      await logAttempt(ref, request.cause, { kind: "refused", code: prepared.code });
      return recordFailure(ref, lease, prepared.code, undefined, isRepeat);
    }
    if (!(await leases.begin(ref, fence, version))) return "lease_lost";
    const startedAtMs = performance.now();
    const result = await prepared.request();
    durations.observe({ outcome: result.kind }, (performance.now() - startedAtMs) / 1000);
    const outcome = await settle(ref, lease, prepared, result, isRepeat);
    await logAttempt(ref, request.cause, result);
    return outcome;
  }

  /** Stores the result of a token request. */
  async function settle(
    ref: ConnectionRef,
    lease: RefreshLease,
    prepared: PreparedRefresh,
    result: TokenResult,
    isRepeat: boolean,
  ): Promise<RefreshOutcome | "lease_lost"> {
    const { fence } = lease;
    switch (result.kind) {
      case "granted":
        return storeGrant(ref, fence, prepared, result);
      case "refused": {
        const reason = reauthReason(prepared, result, isRepeat);
        if (reason === undefined) return recordFailure(ref, lease, result.code, undefined, isRepeat);
        return markNeedsReauth(ref, fence, prepared.sealed.credentialVersion, reason);
      }
      case "malformed":
        return recordFailure(ref, lease, result.code, undefined, true);
      case "unavailable":
        return recordFailure(ref, lease, result.code, result.retryAfterMs, result.mayHaveArrived || isRepeat);
    }
  }

  /** Adds an attempt to the log. A log that cannot be written changes nothing about the refresh. */
  async function logAttempt(
    ref: ConnectionRef,
    cause: RefreshCause,
    { kind, code = "" }: { readonly kind: TokenResult["kind"]; readonly code?: string },
  ): Promise<void> {
    const outcome = kind === "granted" ? "succeeded" : kind;
    const attempt = { at: new Date(clock.now()), kind: "refresh", cause, connectSessionId: "", outcome, code } as const;
    await connections
      .recordAttempt(ref, attempt)
      .catch((error) => log.warn({ err: error, connection: ref.id }, "an attempt could not be logged"));
  }

  async function storeGrant(
    ref: ConnectionRef,
    fence: string,
    { sealed, credentials, auth }: PreparedRefresh,
    grant: TokenGrant,
  ): Promise<RefreshOutcome> {
    const nowMs = clock.now();
    const merged: Credentials = {
      ...credentials,
      access_token: grant.accessToken,
      // An answer without a refresh token leaves the previous one valid.
      ...(grant.refreshToken !== undefined && { refresh_token: grant.refreshToken }),
    };
    const stored = {
      ...sealCredentials(keyring, sealed, merged),
      expiresAt: grant.expiresAt,
      idleRefreshAt: auth.mode === "oauth2" ? idleRefreshAt(auth.refresh.idleS, nowMs) : null,
      captured: { ...sealed.captured, ...grant.captured },
      scopes: grant.scopes ?? sealed.scopes,
    };
    // The provider may no longer accept the spent grant. Without these tokens, the end user would have to grant access again.
    await writePersistently(
      () => storeTokens(ref, fence, sealed.credentialVersion, stored, new Date(nowMs)),
      (error) => log.warn({ err: error, connection: ref.id }, "storing refreshed credentials failed"),
    );
    cache.changed(ref);
    return { kind: "refreshed" };
  }

  async function storeTokens(
    ref: ConnectionRef,
    fence: string,
    spentVersion: number,
    grant: StoredGrant,
    now: Date,
  ): Promise<void> {
    if (await leases.storeGrant(ref, fence, spentVersion, grant, now)) return;
    // The lease ended before the answer came. If no newer credentials are stored, these are the only valid ones.
    const again = await claims.claim(ref, true);
    if ("fence" in again && !(await leases.storeGrant(ref, again.fence, spentVersion, grant, now))) {
      await leases.release(ref, again.fence);
    }
  }

  async function markNeedsReauth(
    ref: ConnectionRef,
    fence: string,
    version: number,
    reason: ReauthReason,
  ): Promise<RefreshOutcome | "lease_lost"> {
    const nowMs = clock.now();
    const outcome = await db.transaction(async (tx): Promise<RefreshOutcome | "lease_lost"> => {
      const store = connectionStore(tx);
      // The connection is locked before its lease, as by those who replace or revoke its grant, to avoid deadlocks.
      await store.lock(ref.tenantId, ref.id);
      if (!(await leaseStore(tx).release(ref, fence))) return "lease_lost";
      // Whoever stored other credentials in the meantime knows better.
      const marked = await store.markNeedsReauth(ref, version, reason, new Date(nowMs));
      if (marked === undefined) {
        const current = await store.findSealed(ref.tenantId, ref.id);
        return settledBy(current, { spentVersion: version, cause: "due" }) ?? { kind: "needs_reauth" };
      }
      const data = { ...eventData(marked), reason };
      await events.record({ ...ref, sql: tx, nowMs }, "connection.needs_reauth", ref.id, data);
      return { kind: "needs_reauth" };
    });
    cache.changed(ref);
    return outcome;
  }

  async function recordFailure(
    ref: ConnectionRef,
    lease: RefreshLease,
    code: string,
    retryAfterMs: number | undefined,
    outcomeUnknown: boolean,
  ): Promise<RefreshOutcome> {
    const failures = lease.failures + 1;
    const retryInMs = Math.max(retryAfterMs ?? 0, backoffMs(refreshBackoff, failures));
    const failure: LeaseFailure = { failures, retryInMs, outcomeUnknown };
    await leases.recordError(ref, code, new Date(clock.now()));
    await leases.release(ref, lease.fence, failure);
    cache.changed(ref);
    log.warn({ connection: ref.id, code, failures }, "the credentials of a connection could not be refreshed");
    return failed(code, retryInMs);
  }

  function refresh(ref: ConnectionRef, request: RefreshRequest): Promise<RefreshOutcome> {
    const key = topicOf(ref);
    const running = flights.get(key);
    if (running !== undefined) return running;
    const recent = recentFailures.get(key);
    if (recent !== undefined) {
      if (request.cause === "due" && performance.now() < recent.untilMs) return Promise.resolve(recent.outcome);
      recentFailures.delete(key);
    }
    const flight = run(ref, request)
      .then((outcome) => {
        if (outcome.kind === "failed") remember(key, outcome);
        return outcome;
      })
      .finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  }

  /** Spares the database the same question for every call while a provider is unavailable. */
  function remember(key: string, outcome: RefreshOutcome & { readonly kind: "failed" }): void {
    recentFailures.set(key, { outcome, untilMs: performance.now() + Math.min(outcome.retryAfterMs, rememberMsMax) });
  }

  async function idle(): Promise<void> {
    await Promise.allSettled(flights.values());
  }

  return {
    /** Resolves when newer credentials are stored, or with the reason why there are none. */
    refresh,
    /** Starts a refresh in the background. */
    refreshLater(ref: ConnectionRef, request: RefreshRequest) {
      refresh(ref, request).catch((error) => log.warn({ err: error, connection: ref.id }, "a refresh failed"));
    },
    /** Marks a connection that a refresh cannot repair, unless it has newer credentials than these. */
    async giveUp(ref: ConnectionRef, credentialVersion: number, reason: ReauthReason) {
      for (;;) {
        const claimed = await claims.claim(ref, true);
        if (!("fence" in claimed)) return failed("refresh_busy", busyRetryMs);
        const outcome = await markNeedsReauth(ref, claimed.fence, credentialVersion, reason);
        if (outcome !== "lease_lost") return outcome;
      }
    },
    /** Runs work while no node refreshes the connection; undefined if the lease does not get free in time. */
    async withLease<T>(ref: ConnectionRef, work: () => Promise<T>) {
      const claimed = await claims.claim(ref, true);
      if (!("fence" in claimed)) return undefined;
      try {
        return await work();
      } finally {
        await leases.release(ref, claimed.fence);
      }
    },
    /** Resolves when no refresh is running on this node. */
    idle,
    /** Ends waits for other nodes, and resolves when no refresh is running on this node. */
    async stop() {
      claims.stop();
      await idle();
    },
  };
}

function failed(code: string, retryAfterMs: number) {
  return { kind: "failed", code, retryAfterMs } as const;
}

function isExpired({ expiresAt }: SealedConnection, nowMs: number): boolean {
  return expiresAt !== null && expiresAt.getTime() <= nowMs;
}

/** Whether only the end user can repair a refused refresh, and why; undefined if the provider config is to be repaired. */
function reauthReason(
  { auth }: PreparedRefresh,
  { what }: TokenResult & { readonly kind: "refused" },
  isRepeat: boolean,
): ReauthReason | undefined {
  if (auth.mode !== "oauth2") return what === "request" ? undefined : "credentials_rejected";
  if (what !== "grant") return undefined;
  return isRepeat ? "refresh_interrupted" : "grant_rejected";
}
