import { randomBytes } from "node:crypto";
import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { requireEnvironment, requireEnvironmentAccess } from "../../../platform/access/index.ts";
import { notFound } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Connections } from "../connections/index.ts";
import type { ProviderConfigs } from "../provider-configs/index.ts";
import {
  type ConnectSession,
  type ConnectSessionId,
  checkNewSession,
  hashOf,
  lifetimeDefaultS,
  type NewConnectSession,
} from "./domain/connect-session.ts";
import { hasEnded, statusAt } from "./domain/session-status.ts";
import type { FindOffer } from "./provider-offers.ts";
import type { SessionEnder } from "./session-end.ts";
import type { SessionMetrics } from "./session-metrics.ts";
import { connectSessionStore } from "./store.ts";

interface Dependencies {
  readonly events: EventRecorder;
  readonly metrics: SessionMetrics;
  readonly ender: SessionEnder;
  readonly findOffer: FindOffer;
  readonly configs: Pick<ProviderConfigs, "find">;
  readonly connections: Pick<Connections, "find">;
  /** Whether every session needs the confirmation of a backend. */
  readonly alwaysComplete: boolean;
  /** Whether the instance has a master key. Without one, no connection can be stored. */
  readonly hasKeyring: boolean;
}

export type ConnectSessionService = ReturnType<typeof createConnectSessionService>;

export function createConnectSessionService(dependencies: Dependencies) {
  const { events, metrics, ender, findOffer, configs, connections, alwaysComplete, hasKeyring } = dependencies;

  /** The providers of a session, as far as its provider config and its connection determine them. */
  async function providerKeysOf(
    context: Context,
    input: NewConnectSession,
    environmentId: string,
  ): Promise<readonly string[]> {
    const { sql, tenantId } = context;
    const { providerConfigId, connectionId, allowedProviderKeys } = input;
    const keys = new Set<string>();
    if (providerConfigId !== "") {
      const config = await configs.find(sql, tenantId, providerConfigId);
      if (config === undefined) throw notFound("provider config");
      requireEnvironmentAccess(context, config.environmentKey);
      if (config.environmentId !== environmentId) {
        throw invalid("provider_config_id", "environment", "must be a config of the session's environment");
      }
      if (config.status !== "active") {
        throw fail("FAILED_PRECONDITION", { public: `The provider config is ${config.status}. Activate it first.` });
      }
      keys.add(config.providerKey);
    }
    if (connectionId !== "") {
      const connection = await connections.find(sql, tenantId, connectionId);
      if (connection === undefined) throw notFound("connection");
      requireEnvironmentAccess(context, connection.environmentKey);
      if (connection.environmentId !== environmentId) {
        throw invalid("connection_id", "environment", "must be a connection of the session's environment");
      }
      if (connection.status === "revoked") {
        throw fail("CONNECTION_UNUSABLE", { public: "The connection is revoked. Connect the account anew." });
      }
      if (connection.endUser !== undefined && connection.endUser.id !== input.endUser.id) {
        throw invalid("end_user.id", "end_user", "must be the end user of the connection");
      }
      if (connection.authMode === "") {
        throw fail("FAILED_PRECONDITION", {
          public:
            "The connection belongs to a provider of notifications, whose credentials are not granted. Create another one.",
        });
      }
      keys.add(connection.providerKey);
    }
    if (keys.size === 0) return allowedProviderKeys;
    const [key] = keys;
    if (keys.size > 1) {
      throw invalid("provider_config_id", "provider", "must be a config of the connection's provider");
    }
    if (allowedProviderKeys.length > 0 && (allowedProviderKeys.length > 1 || allowedProviderKeys[0] !== key)) {
      throw invalid("allowed_provider_keys", "provider", `must be only ${key}, or empty`);
    }
    return [key!];
  }

  return {
    async getConnectSession(context: Context, id: string): Promise<ConnectSession> {
      return requireAccess(context, await connectSessionStore(context.sql).find(context.tenantId, id));
    },

    /** Returns the session with its token, which is shown once. */
    async createConnectSession(context: Context, given: NewConnectSession) {
      const { sql, tenantId, nowMs } = context;
      const input = { ...given, requireCompletion: given.requireCompletion || alwaysComplete };
      checkNewSession(input);
      if (!hasKeyring) {
        throw fail("FAILED_PRECONDITION", {
          public:
            "Connect sessions require a master key: the operator must set connector.encryption_key (for example to the output of: openssl rand -base64 32).",
        });
      }
      const store = connectSessionStore(sql);
      const environment = await requireEnvironment(context, input.environmentId);
      const allowedProviderKeys = await providerKeysOf(context, input, environment.id);
      const { expiresInS, ...details } = input;
      const session: ConnectSession = {
        ...{ ...details, allowedProviderKeys, tenantId, id: ulid(nowMs) as ConnectSessionId },
        ...{ environmentId: environment.id, environmentKey: environment.key, status: "pending" },
        ...{ awaitingCompletion: false, resultConnectionId: "", errorCode: "", errorDetail: "", endedAt: null },
        expiresAt: new Date(nowMs + (expiresInS || lifetimeDefaultS) * 1000),
        ...newStamps(nowMs),
      };
      for (const [at, key] of allowedProviderKeys.entries()) {
        const offer = await findOffer(sql, session, key);
        if (offer === undefined) {
          const message = "must be the key of a provider of the catalogue (for example: github)";
          throw invalid(`allowed_provider_keys[${at}]`, "unknown", message);
        }
        if (offer.modes.length === 0) {
          throw fail("FAILED_PRECONDITION", {
            public: `The provider ${key} needs an active provider config in the environment ${environment.key}. Create and activate one first.`,
          });
        }
      }
      const token = `cst_${randomBytes(32).toString("base64url")}`;
      const stored = await store.insert(session, hashOf(token));
      await events.record(context, "connect_session.created", session.id, {
        end_user_id: session.endUser.id,
        allowed_provider_keys: allowedProviderKeys,
        connection_id: session.connectionId,
      });
      context.afterCommit(() => metrics.created());
      return { session: stored, token };
    },

    /** Revokes an open session. One that has ended stays unchanged. */
    async revokeConnectSession(context: Context, id: string): Promise<ConnectSession> {
      const { sql, tenantId, nowMs } = context;
      const session = requireAccess(context, await connectSessionStore(sql).lock(tenantId, id));
      if (hasEnded(statusAt(session, nowMs))) return session;
      return (await ender.end(context, session, { status: "revoked" }))!;
    },
  };
}

/** Returns a session that the caller may use. Throws if it does not exist or belongs to another environment. */
export function requireAccess<T extends ConnectSession>(
  context: Pick<Context, "principal">,
  session: T | undefined,
): T {
  if (session === undefined) throw notFound("connect session");
  requireEnvironmentAccess(context, session.environmentKey);
  return session;
}
