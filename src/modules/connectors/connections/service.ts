import type { Context } from "../../../chain/call.ts";
import { fail, invalid, type Violation } from "../../../errors/index.ts";
import { requireEnvironment, requireEnvironmentAccess } from "../../../platform/access/index.ts";
import type { Keyring } from "../../../platform/crypto/index.ts";
import { notFound } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { enqueueJobs } from "../../../platform/jobs/index.ts";
import { newStamps } from "../../../platform/records/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { AuthMode, Catalogue, Provider } from "../manifests/index.ts";
import type { ProviderConfigs } from "../provider-configs/index.ts";
import type { ConnectionCache } from "./connection-cache.ts";
import { sealCredentials } from "./credentials/sealed-credentials.ts";
import {
  type Connection,
  type ConnectionId,
  type Credentials,
  canRenew,
  checkNewConnection,
  connectionsMax,
  hasTokens,
  type NewConnection,
} from "./domain/connection.ts";
import { fitFields } from "./domain/field-check.ts";
import { grantEnd, idleRefreshAt } from "./domain/refresh-policy.ts";
import { eventData } from "./grant-service.ts";
import { leaseStore } from "./refresh/lease-store.ts";
import type { Refresher } from "./refresh/refresher.ts";
import { revocationAttemptsMax, revokeGrantKind } from "./revocation.ts";
import { connectionStore } from "./store.ts";
import type { TestResult } from "./verification/connection-tester.ts";

export interface ConnectionParts {
  readonly events: EventRecorder;
  readonly catalogue: Pick<Catalogue, "provider">;
  readonly configs: Pick<ProviderConfigs, "hold">;
  /** Undefined if the instance has no master key. Then no connection can be created. */
  readonly keyring: Keyring | undefined;
  /** Validates settings and credentials of providers that are not in the catalogue. */
  readonly check: (
    providerKey: string,
    settings: Readonly<Record<string, unknown>>,
    credentials: Credentials,
  ) => readonly Violation[];
  readonly cache: Pick<ConnectionCache, "changed">;
  readonly refresher: Pick<Refresher, "refresh">;
  /** Wakes the nodes that run jobs. */
  readonly wakeJobs: () => void;
}

export type ConnectionService = ReturnType<typeof createConnectionService>;

/** The mode of a connection, with the manifest that describes it. */
interface Fit extends Pick<NewConnection, "settings" | "credentials"> {
  readonly mode: AuthMode | "";
  readonly provider: Provider | undefined;
}

export function createConnectionService(dependencies: ConnectionParts) {
  const { events, catalogue, configs, keyring, check, cache, refresher, wakeJobs } = dependencies;

  /** Finds the mode that the fields fit: of the catalogue, or else of a provider of notifications. */
  async function fitOf({ tenantId }: Context, input: NewConnection): Promise<Fit> {
    const { providerKey, authMode, settings, credentials } = input;
    const provider = await catalogue.provider(tenantId, providerKey);
    const fit = provider && fitFields(provider, authMode, settings, credentials);
    if (fit !== undefined && "mode" in fit) return { ...fit, provider };
    // A provider of messages may also take settings of its own, whatever its manifest says.
    const violations = check(providerKey, settings, credentials);
    if (violations.length === 0 && authMode === "") return { mode: "", settings, credentials, provider: undefined };
    if (fit !== undefined || violations.length > 0) throw invalidFields(fit ?? violations);
    const message = "must be empty: the provider is not one of the catalogue and has no modes";
    throw invalid("auth_mode", "unsupported", message);
  }

  async function checkConfig(
    context: Context,
    { providerConfigId, providerKey }: NewConnection,
    environmentId: string,
  ): Promise<void> {
    if (providerConfigId === "") return;
    const config = await configs.hold(context.sql, context.tenantId, providerConfigId);
    if (config === undefined) throw notFound("provider config");
    requireEnvironmentAccess(context, config.environmentKey);
    if (config.environmentId !== environmentId) {
      throw invalid("provider_config_id", "environment", "must be a config of the connection's environment");
    }
    if (config.status === "archived") {
      throw fail("FAILED_PRECONDITION", { public: "The provider config is archived. Use another one." });
    }
    if (config.providerKey !== providerKey) {
      const message = `must be a config of the provider ${providerKey}, not of ${config.providerKey}`;
      throw invalidFields([{ field: "provider_config_id", rule: "provider", message }]);
    }
  }

  async function getConnection(context: Context, id: string): Promise<Connection> {
    return requireAccess(context, await connectionStore(context.sql).find(context.tenantId, id));
  }

  return {
    getConnection,

    async createConnection(context: Context, input: NewConnection): Promise<Connection> {
      const { sql, tenantId, nowMs } = context;
      checkNewConnection(input, nowMs);
      const { mode, provider, settings, credentials } = await fitOf(context, input);
      const environment = await requireEnvironment(context, input.environmentId);
      await checkConfig(context, input, environment.id);
      const id = ulid(nowMs) as ConnectionId;
      const sealed = sealCredentials(keyring, { tenantId, id }, credentials);
      const store = connectionStore(sql);
      if (!(await store.countNew(tenantId, connectionsMax))) {
        throw fail("FAILED_PRECONDITION", {
          public: `A tenant can have at most ${connectionsMax} connections. Revoke one first.`,
        });
      }
      const { credentials: _, authMode: __, ...details } = input;
      // Without a token, the first use fetches one.
      const isDue = hasTokens(mode) && credentials.access_token === undefined;
      const times = refreshTimesOf(provider, mode);
      const renewal = { canRenew: canRenew(mode, credentials), lifetimeS: times?.lifetimeS };
      const end = grantEnd({ ...renewal, expiresAt: input.expiresAt }, nowMs);
      const connection = await store.insert(
        {
          ...{ ...details, settings, tenantId, id, authMode: mode, status: "active", statusReason: "" },
          ...{ environmentId: environment.id, environmentKey: environment.key },
          expiresAt: isDue ? new Date(nowMs) : input.expiresAt,
          grantExpiresAt: end.grantExpiresAt,
          manifestVersion: provider?.version ?? "",
          manifestDigest: provider?.digest ?? "",
          ...{ account: { id: "", label: "" }, captured: {}, accountChoices: [], credentialVersion: 1 },
          ...{ providerRevocation: "", lastRefreshedAt: null, lastRefreshError: "", revokedAt: null },
          ...{ lastTestedAt: null, lastTestClass: "" },
          ...sealed,
          ...newStamps(nowMs),
        },
        {
          idleRefreshAt: credentials.refresh_token === undefined ? null : idleRefreshAt(times?.idleS, nowMs),
          reauthNoticeAt: end.reauthNoticeAt,
        },
      );
      await events.record(context, "connection.created", id, eventData(connection));
      return connection;
    },

    /** Refreshes a connection before the transaction of the call, because no transaction may be open during the request. */
    async refreshConnection(context: Context, id: string): Promise<void> {
      const { tenantId } = context;
      const { credentialVersion: spentVersion } = await getConnection(context, id);
      const outcome = await refresher.refresh({ tenantId, id }, { spentVersion, cause: "requested" });
      switch (outcome.kind) {
        case "refreshed":
          return;
        case "missing":
          throw notFound("connection");
        case "revoked":
          throw fail("CONNECTION_UNUSABLE", { public: "The connection is revoked. Create another one." });
        case "needs_account":
          throw fail("CONNECTION_UNUSABLE", { public: "Choose one of account_choices first, with UpdateConnection." });
        case "needs_reauth":
          throw fail("CONNECTION_UNUSABLE", { public: "The end user must grant access again." });
        case "not_refreshable":
          throw fail("FAILED_PRECONDITION", {
            public:
              "The credentials of the connection cannot be refreshed: they have no refresh token, or do not expire.",
          });
        case "failed":
          throw fail("CONNECTOR_UNAVAILABLE", {
            public: `The credentials could not be refreshed: ${outcome.code}.`,
            headers: { "retry-after": String(Math.max(1, Math.ceil(outcome.retryAfterMs / 1000))) },
          });
      }
    },

    /** Records the result of a test. Credentials that were rejected before and are accepted now can be used again. */
    async recordTest(context: Context, id: string, { ok, class: testClass, account }: TestResult): Promise<Connection> {
      const { sql, tenantId, nowMs, afterCommit } = context;
      const store = connectionStore(sql);
      const current = requireAccess(context, await store.lock(tenantId, id));
      const isRepaired = ok && current.statusReason === "credentials_rejected";
      const connection = await store.recordTest(current, { class: testClass, account, isRepaired }, new Date(nowMs));
      if (isRepaired) {
        await events.record(context, "connection.updated", id, { ...eventData(connection), fields: ["status"] });
      }
      afterCommit(() => cache.changed(current));
      return connection;
    },

    /** Revokes a connection permanently. A second revocation changes nothing. */
    async revokeConnection(context: Context, id: string): Promise<Connection> {
      const { sql, tenantId, nowMs, afterCommit } = context;
      const store = connectionStore(sql);
      const current = requireAccess(context, await store.lock(tenantId, id));
      if (current.status === "revoked") return current;
      const offersRevocation = await canRevoke(current);
      const revocation = offersRevocation ? "pending" : "not_offered";
      const revoked = await store.revoke(tenantId, id, revocation, new Date(nowMs));
      await store.countRevoked(tenantId);
      await leaseStore(sql).reset(current);
      if (offersRevocation) {
        const job = { tenantId, kind: revokeGrantKind, payload: { connectionId: id }, runAt: new Date(nowMs) };
        await enqueueJobs(sql, [{ ...job, dedupeKey: id, maxAttempts: revocationAttemptsMax }], nowMs);
        afterCommit(wakeJobs);
      }
      await events.record(context, "connection.revoked", id, eventData(revoked!));
      afterCommit(() => cache.changed(current));
      return revoked!;
    },
  };

  async function canRevoke({ tenantId, providerKey, authMode }: Connection): Promise<boolean> {
    if (authMode !== "oauth2") return false;
    const auth = (await catalogue.provider(tenantId, providerKey))?.auth("oauth2");
    return auth?.mode === "oauth2" && auth.revoke !== undefined;
  }
}

/** Returns a connection that the caller may use. Throws if it does not exist or belongs to another environment. */
export function requireAccess<C extends Connection>(context: Pick<Context, "principal">, connection: C | undefined): C {
  if (connection === undefined) throw notFound("connection");
  requireEnvironmentAccess(context, connection.environmentKey);
  return connection;
}

function refreshTimesOf(provider: Provider | undefined, mode: AuthMode | "") {
  const auth = mode === "" ? undefined : provider?.auth(mode);
  return auth?.mode === "oauth2" ? auth.refresh : undefined;
}

/** The failure of a request with invalid fields. */
export function invalidFields(violations: readonly Violation[]) {
  const [{ field, message }] = violations as readonly [Violation, ...Violation[]];
  return fail("INVALID_ARGUMENT", { public: `${field}: ${message}`, violations });
}
