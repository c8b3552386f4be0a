import assert from "node:assert/strict";
import { before, test } from "node:test";
import { freshDatabase } from "../harness/postgres.ts";
import { type RedisServer, startRedis, whyNoRedis } from "../harness/redis.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestSettings } from "../harness/service.ts";
import { until } from "../harness/until.ts";

let redis: RedisServer | undefined;
before(async () => {
  redis = await startRedis();
});

const key = "sk_test_shared_0123456789abcdef";
const limited = (url: string, failMode: string): TestSettings => ({
  "auth.bootstrap_api_key": key,
  "cache.backend": "redis",
  "cache.redis_url": url,
  "ratelimit.tenant_rps": "1",
  "ratelimit.burst_s": "20",
  "ratelimit.fail_mode": failMode,
});

test("nodes with one Redis share a tenant's limit, and without Redis follow their setting", async (t) => {
  if (redis === undefined) return t.skip(whyNoRedis());
  const { url, drop } = await freshDatabase();
  t.after(drop);
  const open = await startService(limited(redis.url, "open"), url);
  const closed = await startService(limited(redis.url, "closed"), url);
  const nodes = [open, closed].map(({ baseUrl }) => restClient(baseUrl, key));

  const startedMs = performance.now();
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, i) => nodes[i % 2]!.call("GET", "/api/events/01J00000000000000000000000")),
  );
  // When Redis was too slow, a node answered without a limit header, and Redis may have taken the token all the same.
  const judged = responses.filter(({ headers }) => headers.has("x-ratelimit-limit"));
  const passed = judged.filter(({ status }) => status === 404).length;
  const unjudged = responses.length - judged.length;
  const passedMax = 21 + (performance.now() - startedMs) / 1000;
  assert.ok(passed + unjudged >= 20 && passed <= passedMax, `${passed} of ${judged.length} passed a bucket of 20`);
  assert.ok(judged.every(({ status }) => status === 404 || status === 429));
  // The bucket is empty for both.
  const statuses = async (node: number) =>
    (await nodes[node]!.call("GET", "/api/events/01J00000000000000000000000")).status;
  for (const node of [0, 1]) await until(async () => (await statuses(node)) === 429);

  await redis.stop();
  // A node caches an empty bucket for a moment.
  await until(async () => (await statuses(0)) !== 429 && (await statuses(1)) !== 429);
  assert.equal(await statuses(0), 404, "open: calls pass while the limiter is unavailable");
  assert.equal(await statuses(1), 503, "closed: calls are rejected while the limiter is unavailable");
  assert.equal((await restClient(open.baseUrl).call("GET", "/ready")).body.status, "degraded");
  assert.equal((await restClient(closed.baseUrl).call("GET", "/ready")).status, 503);
  await open.stop();
  await closed.stop();
});
