import assert from "node:assert/strict";
import { after } from "node:test";
import { createEgress } from "../../../../platform/egress/index.ts";
import { createLog } from "../../../../platform/log/log.ts";
import { createMetrics } from "../../../../platform/telemetry/index.ts";
import type { Messaging, OpenConnection } from "../../../connectors/index.ts";
import { createProviders, type OutgoingMessage, type SendResult } from "../index.ts";

interface Options {
  readonly nowMs?: () => number;
  /** CA certificates for mail servers. */
  readonly ca?: string;
  /** Whether egress to loopback is allowed; true by default. */
  readonly open?: boolean;
}

/** An egress that reaches loopback; all host names except those under .invalid resolve to it. */
export function startEgress({ nowMs = Date.now, open = true }: Options = {}) {
  const egress = createEgress({
    mode: "enforce",
    allowedDomains: [],
    allowedIpNets: open ? ["127.0.0.0/8"] : [],
    log: createLog("silent"),
    metrics: createMetrics(),
    clock: { now: nowMs },
    resolver: async (host) => {
      if (host.endsWith(".invalid")) throw new Error("ENOTFOUND");
      return [{ address: "127.0.0.1", family: 4 as const }];
    },
  });
  after(() => egress.close());
  return egress;
}

/** A catalogue without providers that send notifications. */
const noManifests: Messaging = {
  find: async () => undefined,
  builtin: async () => [],
  send: async () => assert.fail("no manifest sends"),
  receive: async () => "refused",
};

/** Providers with an egress to loopback. */
export function startProviders(options: Options = {}) {
  const { nowMs = Date.now, ca } = options;
  const egress = startEgress(options);
  const clock = { now: nowMs };
  const log = createLog("silent");
  const providers = createProviders({ egress, clock, log, messaging: noManifests, ...(ca !== undefined && { ca }) });
  after(() => providers.close());
  return providers;
}

export function connectionTo(
  providerKey: string,
  settings: Readonly<Record<string, unknown>>,
  credentials: Readonly<Record<string, string>> = {},
): OpenConnection {
  return {
    id: "01JZZZZZZZZZZZZZZZZZZZZZZZ" as OpenConnection["id"],
    tenantId: "01JXXXXXXXXXXXXXXXXXXXXXXX" as OpenConnection["tenantId"],
    ...{ providerKey, settings, credentials, providerConfigId: "", manifestVersion: "", manifestDigest: "" },
    ...{ mode: "none", scopes: [], captured: {}, account: { id: "", label: "" }, credentialVersion: 1, config: {} },
  };
}

/** A message with default values for fields that are not given. */
export function message(more: Partial<Omit<OutgoingMessage, "to">> & { readonly to?: string } = {}): OutgoingMessage {
  const { to = "ada@example.com", ...rest } = more;
  return {
    deliveryId: "01JYYYYYYYYYYYYYYYYYYYYYYY",
    key: "01JYYYYYYYYYYYYYYYYYYYYYYY",
    channel: "email",
    to: { identity: to, metadata: {} },
    subject: "A test",
    title: "A title",
    text: "Hello Ada",
    html: "",
    data: {},
    attachments: [],
    ...rest,
  };
}

/** Summarises a result: "accepted", or the failure with its consequences. */
export function outcome(result: SendResult): string {
  if (result.kind === "accepted") return "accepted";
  const { phase, code, retryable, failover, mayHaveArrived, suppressEndpoint } = result;
  const notes = [
    retryable && "retry",
    failover && "failover",
    mayHaveArrived && "maybe_arrived",
    suppressEndpoint && "suppress",
  ].filter(Boolean);
  return [`${phase}/${code}`, ...notes].join(" ");
}

export const neverAborted = new AbortController().signal;
