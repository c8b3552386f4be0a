/**
 * Connectors: access to other systems on behalf of a tenant.
 *
 * manifests: providers, actions and triggers as data, and the catalogue of them.
 * provider-configs: a tenant's own OAuth apps and other settings for providers.
 * connections: the settings and sealed credentials of a tenant's accounts in other systems.
 * connect-sessions: the hosted page on which end users connect their accounts.
 * actions: the execution of actions, with records.
 * triggers: subscriptions to events in those accounts.
 * messaging: notifications that are sent through actions.
 * marketplace: packs of manifests, workflows, notifications and rules, and their installations.
 */
import type { OperationCaller } from "../../chain/operation-caller.ts";
import type { Area, PlatformServices } from "../area.ts";
import type { EventRecorder } from "../operations/index.ts";
import type { Quotas } from "../tenancy/index.ts";
import { createActions, executionUsage } from "./actions/index.ts";
import { createConnectSessions } from "./connect-sessions/index.ts";
import { type ConnectionCheck, createConnections } from "./connections/index.ts";
import { createGuardedHttp, createManifests } from "./manifests/index.ts";
import { createMarketplace, type MarketplaceSources } from "./marketplace/index.ts";
import { createMessaging } from "./messaging/index.ts";
import { connectorNames } from "./name-sources.ts";
import { createProviderConfigs } from "./provider-configs/index.ts";
import { type CompileTemplate, createTriggers, type EnvironmentLookup, type FindPoolId } from "./triggers/index.ts";

export type { Connection, ConnectionFailure, Connections, OpenConnection } from "./connections/index.ts";
export { packName, readPackFile, readSignedPack, signPack, writeSignedPack } from "./marketplace/index.ts";
export type { MessageEvent, MessageOutcome, MessageProvider, Messaging } from "./messaging/index.ts";

interface Dependencies extends PlatformServices {
  readonly events: EventRecorder;
  /** Validates connections of providers that are not in the catalogue. */
  readonly check: ConnectionCheck;
  /** The URL at which callers reach the service. */
  readonly publicUrl: () => string;
  /** The quotas of tenants, which are composed later. */
  readonly quotas: () => Quotas;
  readonly environments: EnvironmentLookup;
  readonly compileTemplate: CompileTemplate;
  readonly findPoolId: FindPoolId;
  /** Performs operations of other areas. */
  readonly call: OperationCaller;
  /** The marketplace's dependencies on other areas. */
  readonly marketplace: Omit<MarketplaceSources, "findConnection">;
}

export function createConnectors(dependencies: Dependencies) {
  const http = createGuardedHttp(dependencies.egress);
  const manifests = createManifests({
    ...dependencies,
    configStates: (tenantId) => configs.states(tenantId),
    async findUse(sql, tenantId, providerKey) {
      if (await connections.hasProvider(sql, tenantId, providerKey)) return "connections";
      if (await triggers.hasProvider(sql, tenantId, providerKey)) return "trigger subscriptions";
      return (await configs.hasProvider(sql, tenantId, providerKey)) ? "provider configs" : undefined;
    },
    isPinned: (sql, tenantId, ...manifest) => configs.pinsManifest(sql, tenantId, ...manifest),
  });
  const { catalogue } = manifests;
  const configs = createProviderConfigs({ ...dependencies, catalogue });
  const connections = createConnections({ ...dependencies, catalogue, configs, http });
  const alwaysComplete = dependencies.config.security_profile === "enterprise";
  const connectSessions = createConnectSessions({ ...dependencies, catalogue, configs, connections, alwaysComplete });
  const actions = createActions({
    ...{ ...dependencies, catalogue, connections, http },
    retentionDays: dependencies.config["connector.execution_retention_days"],
    callTimeoutMs: dependencies.config["api.request_timeout_s"] * 1000,
  });
  const triggers = createTriggers({
    ...dependencies,
    catalogue,
    connections,
    http,
    retentionDays: dependencies.config["connector.trigger_event_retention_days"],
    idempotencyMs: dependencies.config["idempotency.ttl_hours"] * 3_600_000,
  });
  const messaging = createMessaging({ ...dependencies, catalogue, connections, http, perform: actions.perform });
  const { packRecords, findUses, ...sources } = dependencies.marketplace;
  const marketplace = createMarketplace({
    ...dependencies,
    sources: {
      ...sources,
      findConnection: connections.find,
      packRecords: () => [manifests.packRecords, ...packRecords()],
      findUses: () => [triggers.findUses, ...findUses()],
    },
  });
  return {
    handlers: {
      "service.api.ProviderConfigService": configs.handlers,
      "service.api.ConnectionService": connections.handlers,
      "service.api.ConnectSessionService": connectSessions.handlers,
      "service.api.ConnectorCatalogService": manifests.handlers.catalogue,
      "service.api.ConnectorManifestService": manifests.handlers.manifests,
      "service.api.ConnectorActionService": actions.handlers,
      "service.api.TriggerSubscriptionService": triggers.handlers,
      "service.api.MarketplaceService": marketplace.handlers,
    },
    jobs: [...connections.jobs, ...connectSessions.jobs, ...actions.jobs, ...triggers.jobs],
    workers: [actions.sweeper, triggers.worker],
    names: connectorNames,
    connections,
    /** Sends notifications through the actions of manifests. */
    messaging,
    /** The pages on which end users connect their accounts. */
    connectPages: connectSessions.pages,
    /** Whether a tenant can execute an action. */
    checkActionUse: actions.checkUse,
    /** Activated by promotions. */
    artifacts: [configs.artifacts],
    backlogs: [triggers.backlog],
    usageSources: [executionUsage],
    explainers: [actions.explainer],
    /** Receives the webhook deliveries of providers. */
    receiveWebhook: triggers.receive,
    /** Values that are re-encrypted when the master key changes. */
    sealed: [configs.sealed, connections.sealed, ...triggers.sealed],
    async idle() {
      await actions.idle();
      await triggers.idle();
      await connections.stop();
    },
  } satisfies Area & Record<string, unknown>;
}
