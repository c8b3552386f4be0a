import type { Next, Plane, ServiceHandlers } from "../chain/call.ts";
import { composeChain } from "../chain/compose.ts";
import type { EntitlementCheck } from "../chain/entitlement.ts";
import { createExecutor } from "../chain/execute.ts";
import { createOperationCaller, type OperationCaller } from "../chain/operation-caller.ts";
import { createAccessRecheck, createChain } from "../chain/order.ts";
import { currentVersion } from "../chain/steps/api-version.ts";
import type { Operation } from "../definitions/index.ts";
import { accessHandlers, accessOperation } from "../gateway/mcp/index.ts";
import type { PlatformServices } from "../modules/area.ts";
import { type SessionAuthenticator, scimOperations } from "../modules/identity/index.ts";
import { createKeyedRecordFinder, type NameSource } from "../modules/name-source.ts";
import type { SubscriberTokens } from "../modules/notifications/index.ts";
import type { Tenancy } from "../modules/tenancy/index.ts";
import { createAuthenticators } from "./authenticators.ts";
import type { Foundation } from "./foundation.ts";
import { readInstanceSecret } from "./storage.ts";

interface Dependencies extends Foundation, PlatformServices {
  readonly tenancy: Tenancy;
  /** Identifies callers by their browser session. */
  readonly sessions: SessionAuthenticator;
  /** Identifies subscribers by their tokens. */
  readonly subscriberTokens: SubscriberTokens;
  readonly definitions: readonly Operation[];
  readonly names: readonly NameSource[];
  /** Checks the entitlements of calls. */
  readonly checkEntitlement: EntitlementCheck;
  /** Handlers by full service name. */
  readonly handlers: Readonly<Record<string, ServiceHandlers>>;
}

/** Runs calls: those of callers through the chain of their plane, and those of the service itself. */
interface Invokers extends Readonly<Record<Plane, Next>> {
  readonly call: OperationCaller;
}

/** Creates the functions that run calls. */
export async function createInvokers(dependencies: Dependencies): Promise<Invokers> {
  const { config, db, metrics, definitions } = dependencies;
  const { tenants, members, apiKeys } = dependencies.tenancy;
  const deprecatedCalls = metrics.counter({
    name: "deprecated_calls_total",
    help: "Calls to deprecated operations.",
    labels: ["operation"],
  });
  const takeQuota = tenants.quotas.take;
  const chainParts = {
    ...dependencies,
    authenticators: createAuthenticators({ ...dependencies, apiKeys: apiKeys.verifier, members }),
    readTenantState: tenants.readTenantState,
    takeQuota,
    findKeyedRecords: createKeyedRecordFinder(db.sql, dependencies.names),
    observeDeprecated: (operation: string) => deprecatedCalls.inc({ operation }),
  };
  const execute = createExecutor([...definitions, accessOperation, ...Object.values(scimOperations)], {
    ...dependencies,
    handlers: { ...dependencies.handlers, ...accessHandlers },
    takeQuota,
    timeoutMs: config["api.request_timeout_s"] * 1000,
    recheckAccess: {
      external: createAccessRecheck("external", chainParts),
      internal: createAccessRecheck("internal", chainParts),
    },
    fingerprintSecret: (await readInstanceSecret(db.sql, "fingerprint_secret")).toString("base64"),
  });
  return {
    external: composeChain(createChain("external", chainParts), execute),
    internal: composeChain(createChain("internal", chainParts), execute),
    call: createOperationCaller({
      operations: definitions,
      execute,
      readTenantState: tenants.readTenantState,
      apiVersion: currentVersion,
      checkEntitlement: dependencies.checkEntitlement,
    }),
  };
}
