import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../config/index.ts";
import { dividedLimits, divideLimits } from "./divided-limits.ts";
import { processCountOf } from "./process-count.ts";

const configOf = (...overrides: string[]) => loadConfig({ overrides: ["server.internal_addr=", ...overrides] }).config;
const everyLimit = Object.keys(dividedLimits).map((key) => `${key}=100`);

test("every limit of a node is divided among its processes, and all other settings stay", () => {
  const config = configOf(...everyLimit);
  const shares = [1, 2, 3].map((number) => divideLimits(config, { number, count: 3 }));
  for (const key of Object.keys(dividedLimits) as (keyof typeof dividedLimits)[]) {
    assert.deepEqual(
      shares.map((each) => each[key]),
      [34, 33, 33],
      key,
    );
  }
  assert.deepEqual(
    { ...shares[2], ...Object.fromEntries(everyLimit.map((each) => [each.split("=")[0], 100])) },
    config,
  );
});

test("no limit stays no limit, a shared counter is not divided, and a process has what it cannot do without", () => {
  const redis = ["cache.backend=redis", "cache.redis_url=redis://127.0.0.1:1", "ratelimit.tenant_rps=10"];
  const config = configOf("database.max_connections=4", "api.max_concurrent_requests=0", ...redis);
  const share = divideLimits(config, { number: 2, count: 4 });
  assert.equal(share["api.max_concurrent_requests"], 0);
  assert.equal(share["ratelimit.tenant_rps"], 10);
  assert.equal(share["database.max_connections"], 3);
});

test("a machine with few processors has one process, unless the setting says otherwise", () => {
  const auto = { "server.processes": "auto" } as const;
  assert.deepEqual(
    [1, 2, 3, 4, 16].map((processors) => processCountOf(auto, processors)),
    [1, 1, 1, 3, 15],
  );
  assert.equal(processCountOf({ "server.processes": 2 }, 1), 2);
});
