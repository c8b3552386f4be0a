import { createActionMetrics } from "../../../src/modules/connectors/actions/action-metrics.ts";
import { createActionExecutor } from "../../../src/modules/connectors/actions/execution/action-executor.ts";
import { createRateLimits } from "../../../src/modules/connectors/actions/execution/rate-limits.ts";
import { createUnrecordedActions } from "../../../src/modules/connectors/actions/execution/unrecorded-action.ts";
import type { OpenConnection } from "../../../src/modules/connectors/connections/index.ts";
import { createGuardedHttp, type Provider } from "../../../src/modules/connectors/manifests/index.ts";
import { accountOf, type Contract, withKeys } from "../../../src/modules/connectors/manifests/testing/contract.ts";
import type { MockProvider } from "../../../src/modules/connectors/manifests/testing/mock-provider.ts";
import { createMessaging } from "../../../src/modules/connectors/messaging/index.ts";
import { createMetrics } from "../../../src/platform/telemetry/index.ts";

/** The time of contracts. */
export const contractMs = Date.UTC(2026, 0, 1);

/** Messaging whose requests reach the mock of a provider. Its connections are pinned to an earlier version if there is one. */
export function messagingWith(
  provider: Provider,
  mock: Pick<MockProvider, "egress">,
  nowMs = contractMs,
  pinned?: Provider,
) {
  const clock = { now: () => nowMs };
  const http = createGuardedHttp(mock.egress);
  const connections = { open: async () => "needs_reauth" as const, markRejected: async () => "rejected" as const };
  const rateLimits = createRateLimits(clock);
  const metrics = createActionMetrics(createMetrics());
  const executor = createActionExecutor({ clock, http, connections, rateLimits, metrics, random: () => 0 });
  const catalogue = {
    provider: async (_tenantId: string, _key: string, version = provider.version) =>
      [provider, pinned].find((each) => each?.version === version),
    messageProviders: async () => [provider],
  };
  const perform = createUnrecordedActions({ clock, executor, rateLimits });
  const pins = { actionVersion: async () => pinned?.version };
  return createMessaging({ clock, http, catalogue, connections: pins, perform });
}

let connections = 0;

/** A connection as a contract describes it, with an id of its own, so that limits of others do not block it. */
export function connectionOf(provider: Provider, contract: Contract): OpenConnection {
  const { settings, credentials } = contract.notifications!;
  const account = accountOf(contract, provider);
  return {
    ...account,
    id: `connection-${++connections}` as OpenConnection["id"],
    tenantId: "tenant" as OpenConnection["tenantId"],
    providerKey: provider.key,
    providerConfigId: "",
    manifestVersion: provider.version,
    manifestDigest: provider.digest,
    scopes: [],
    credentialVersion: 1,
    settings: { ...account.settings, ...settings },
    credentials: { ...account.credentials, ...withKeys(credentials) },
  };
}
