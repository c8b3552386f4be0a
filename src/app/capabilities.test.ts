import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { ConfigError, loadConfig } from "../config/index.ts";
import { readOperations } from "../definitions/index.ts";
import { createCapabilitySources } from "./capabilities.ts";

function sourcesWith(...overrides: string[]) {
  const { config } = loadConfig({ overrides: ["server.internal_addr=127.0.0.1:0", ...overrides] });
  return createCapabilitySources({
    config,
    keyring: undefined,
    isCacheReachable: undefined,
    areTracesLost: () => false,
  });
}

const modeOf = async (id: string, ...overrides: string[]) =>
  (
    await sourcesWith(...overrides)
      .find((source) => source.id === id)!
      .mode()
  ).mode;

test("every service belongs to one capability, and every capability names services that exist", () => {
  const services = new Set(readOperations().map(({ service }) => service.typeName));
  const claimed = sourcesWith().flatMap((source) => source.services);
  assert.deepEqual(claimed.toSorted(), [...services].toSorted());
});

test("a hidden capability is marked, and an unknown id is refused", () => {
  const hidden = sourcesWith("discovery.hidden_capabilities=billing,saml").filter((source) => source.hidden);
  assert.deepEqual(hidden.map(({ id }) => id).toSorted(), ["billing", "saml"]);
  assert.throws(
    () => sourcesWith("discovery.hidden_capabilities=bills"),
    (error) =>
      error instanceof ConfigError && error.message.startsWith("discovery.hidden_capabilities: bills is unknown"),
  );
});

test("rate limits that are off are disabled, also without a cache that counts", async () => {
  const off = ["ratelimit.global_rps=0", "ratelimit.tenant_rps=0"];
  assert.equal(await modeOf("rate_limits", ...off), "disabled");
  assert.equal(await modeOf("rate_limits", ...off, "cache.backend=none"), "disabled");
  assert.equal(await modeOf("rate_limits", "ratelimit.tenant_rps=5", "cache.backend=none"), "unwired");
});

test("analytics is degraded while Prometheus does not respond", async (t) => {
  const server = createServer((_, response) => void response.end("{}"));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const url = `analytics.prometheus_url=http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  assert.equal(await modeOf("analytics", "analytics.enabled=true", url), "active");
  assert.equal(
    await modeOf("analytics", "analytics.enabled=true", "analytics.prometheus_url=http://127.0.0.1:1"),
    "degraded",
  );
  assert.equal(await modeOf("analytics", "analytics.enabled=false"), "disabled");
});
