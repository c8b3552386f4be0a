import type { Next, Plane, ServiceHandlers } from "../chain/call.ts";
import { composeChain } from "../chain/compose.ts";
import { createExecutor } from "../chain/execute.ts";
import { createAccessRecheck, createChain } from "../chain/order.ts";
import type { Operation } from "../definitions/index.ts";
import type { AreaParts } from "../modules/area.ts";
import type { Tenancy } from "../modules/tenancy/index.ts";
import { createAuthenticators } from "./authenticators.ts";
import type { Foundation } from "./foundation.ts";
import { readInstanceSecret } from "./storage.ts";

interface Parts extends Foundation, AreaParts {
  readonly tenancy: Tenancy;
  readonly definitions: readonly Operation[];
  /** Handlers by full service name. */
  readonly handlers: Readonly<Record<string, ServiceHandlers>>;
}

/** Creates the function of each plane that runs a call through the chain and its handler. */
export async function createInvokers(parts: Parts): Promise<Readonly<Record<Plane, Next>>> {
  const { config, db, metrics, definitions } = parts;
  const { tenants, members, apiKeys } = parts.tenancy;
  const deprecatedCalls = metrics.counter({
    name: "deprecated_calls_total",
    help: "Calls to deprecated operations.",
    labels: ["operation"],
  });
  const takeQuota = tenants.quotas.take;
  const chainParts = {
    ...parts,
    authenticators: createAuthenticators({ ...parts, apiKeys: apiKeys.verifier, members }),
    readTenantState: tenants.readTenantState,
    takeQuota,
    observeDeprecated: (operation: string) => deprecatedCalls.inc({ operation }),
  };
  const execute = createExecutor(definitions, {
    ...parts,
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
  };
}
