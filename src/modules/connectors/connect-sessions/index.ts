/**
 * Connect sessions: end users connect their accounts on a hosted page.
 *
 * Session: the permission for one end user to connect one account, within minutes. Token: opens the session once; it is in the
 * fragment of the link, which browsers do not send. Cookie: binds the session to the browser that opened it. Authorization: the
 * visit to the provider's own page. State: identifies an authorization, once and only in the same browser. Callback: the return
 * from the provider. Hold: to wait until the tenant's backend confirms the end user. Offer: a provider with its usable modes.
 */

import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Connections } from "../connections/index.ts";
import type { Catalogue } from "../manifests/index.ts";
import type { ProviderConfigs } from "../provider-configs/index.ts";
import { expiredSessionsJob } from "./expired-sessions-job.ts";
import { createCallbackFlow } from "./flow/callback-flow.ts";
import { createCompletion } from "./flow/completion.ts";
import { createSessionFlow } from "./flow/session-flow.ts";
import { createViewBuilder } from "./flow/view-builder.ts";
import { connectSessionHandlers } from "./handler.ts";
import { createConnectPages } from "./page/page-handler.ts";
import { createOfferFinder } from "./provider-offers.ts";
import { createConnectSessionService } from "./service.ts";
import { createSessionEnder } from "./session-end.ts";
import { createSessionMetrics } from "./session-metrics.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "keyring" | "log" | "metrics"> {
  readonly events: EventRecorder;
  readonly catalogue: Pick<Catalogue, "provider" | "providerByDigest">;
  readonly configs: ProviderConfigs;
  readonly connections: Connections;
  /** Whether every session needs the confirmation of a backend. */
  readonly alwaysComplete: boolean;
  /** The URL at which browsers reach the service. */
  readonly publicUrl: () => string;
  readonly platformTenantId: () => string;
}

export function createConnectSessions(dependencies: Dependencies) {
  const { db, keyring, publicUrl } = dependencies;
  const metrics = createSessionMetrics(dependencies.metrics);
  const ender = createSessionEnder({ ...dependencies, metrics });
  const findOffer = createOfferFinder(dependencies);
  const { prover } = dependencies.connections;
  const completion = createCompletion({ ...dependencies, ender, prover });
  const views = createViewBuilder({ sql: db.sql, findOffer });
  const shared = { ...dependencies, metrics, ender, findOffer, prover, completion, views };
  const service = createConnectSessionService({ ...shared, hasKeyring: keyring !== undefined });
  const connectUrlOf = (id: string, token: string) => `${publicUrl()}/connect/${id}#token=${token}`;
  return {
    handlers: connectSessionHandlers({ service, completion, connectUrlOf }),
    jobs: [expiredSessionsJob(shared)],
    /** The pages that end users see. */
    pages: createConnectPages({
      flow: createSessionFlow(shared),
      receiveCallback: createCallbackFlow(shared),
      publicUrl,
    }),
  };
}
