import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { attributesOf, startOtlpCollector } from "../../../../test/harness/otlp-collector.ts";
import { until } from "../../../../test/harness/until.ts";
import { createMetrics } from "../metrics.ts";
import { createOtlpMetrics } from "./otlp-metrics.ts";

const collectorOf = (t: TestContext, status?: number) => startOtlpCollector((stop) => t.after(stop), status);

interface Point {
  readonly attributes: Parameters<typeof attributesOf>[0];
  readonly asDouble: number;
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
}

test("the collector gets the counters, gauges and histograms of the registry, with their labels", async (t) => {
  const collector = await collectorOf(t);
  const metrics = createMetrics({ tenantsMax: 2 });
  metrics
    .tenantCounter({ name: "runs_total", help: "Runs.", labels: ["status"] })
    .inc("t1", { status: 'a "b"\\\nc' }, 3);
  metrics.gauge({ name: "depth", help: "Depth." }).set(-1.5);
  const sizes = metrics.histogram({ name: "sizes", help: "Sizes.", buckets: [1, 10], labels: ["kind"] });
  for (const size of [0.5, 1, 7, 100]) sizes.observe({ kind: "x" }, size);
  sizes.observe({ kind: "y" }, 2);
  metrics.calls.end("op", "rest", "external", "OK", 0.003, "t1");
  const export_ = createOtlpMetrics(
    { endpoint: collector.endpoint, serviceName: "switchyard", resource: { "service.instance.id": "one" } },
    3_600_000,
    metrics.families,
  );
  await export_.stop();

  assert.deepEqual(collector.items("metrics")[0]!.resource, {
    "service.name": "switchyard",
    "service.instance.id": "one",
  });
  const byName = new Map(collector.items("metrics").map(({ item }) => [item.name, item]));
  assert.deepEqual(
    [...byName.keys()].sort(),
    metrics.describe().map(({ name }) => name),
    "every metric of the registry is sent",
  );
  const { sum, description } = byName.get("runs_total");
  assert.deepEqual([description, sum.isMonotonic, sum.aggregationTemporality], ["Runs.", true, 2]);
  const [point] = sum.dataPoints as [Point];
  assert.deepEqual(attributesOf(point.attributes), { status: 'a "b"\\\nc', tenant_id: "t1" });
  assert.equal(point.asDouble, 3);
  assert.ok(BigInt(point.startTimeUnixNano) < BigInt(point.timeUnixNano));
  assert.equal(byName.get("depth").gauge.dataPoints[0].asDouble, -1.5);
  const histograms = byName.get("sizes").histogram.dataPoints;
  assert.deepEqual(
    // biome-ignore lint/suspicious/noExplicitAny: a decoded request.
    histograms.map((each: any) => [
      attributesOf(each.attributes),
      each.bucketCounts,
      each.explicitBounds,
      each.count,
      each.sum,
    ]),
    [
      [{ kind: "x" }, [2, 1, 1], [1, 10], 4, 108.5],
      [{ kind: "y" }, [0, 1, 0], [1, 10], 1, 2],
    ],
  );
  const [call] = byName.get("rpc_server_call_duration_seconds").histogram.dataPoints;
  assert.deepEqual(attributesOf(call.attributes), { operation: "op", protocol: "rest", plane: "external", code: "OK" });
  assert.deepEqual(call.bucketCounts, [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
});

test("after the collector was down, the next export has what was counted meanwhile", async (t) => {
  const collector = await collectorOf(t);
  await collector.down();
  const metrics = createMetrics();
  const things = metrics.counter({ name: "things_total", help: "Things." });
  const errors: string[] = [];
  const export_ = createOtlpMetrics(
    { endpoint: collector.endpoint, serviceName: "switchyard", onError: (_, signal) => errors.push(signal) },
    100,
    metrics.families,
  );
  await until(() => errors.includes("metrics"));
  things.inc(5);
  await collector.up();
  const sent = () => collector.items("metrics").findLast(({ item }) => item.name === "things_total");
  await until(() => sent()?.item.sum.dataPoints[0].asDouble === 5);
  things.inc(2);
  await export_.stop();
  assert.equal(sent()!.item.sum.dataPoints[0].asDouble, 7, "the last export has the last counts");
});
