import assert from "node:assert/strict";
import { test } from "node:test";
import { attributesOf, startOtlpCollector } from "../harness/otlp-collector.ts";
import { restClient } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { key, pidsOf, readMetric, startProcesses } from "./process-fixture.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const failureLine = /"process":(\d+|"supervisor").*"signal":"(\w+)".*telemetry could not be sent/g;

test("every process sends its traces, metrics and log lines under an instance id of its own, also after the collector was away", async (t) => {
  const collector = await startOtlpCollector((stop) => t.after(stop));
  const { machine } = await startProcesses(t, {
    "telemetry.otlp_endpoint": collector.endpoint,
    "telemetry.otlp_signals": "traces,metrics,logs",
    "telemetry.otlp_metrics_interval_s": "1",
    "api.slow_request_ms": "0",
    "log.level": "info",
  });
  await pidsOf(machine);
  const admin = restClient(machine.baseUrl, key);
  const call = (headers = {}) =>
    admin.call("GET", "/api/tenants", undefined, { connection: "close", ...headers }).then(({ status }) => status);
  const instances = (signal: "metrics" | "logs") =>
    new Set(collector.items(signal).map(({ resource }) => resource["service.instance.id"]));
  assert.equal(await call({ traceparent: `00-${traceId}-b7ad6b7169203331-01` }), 200);
  await until(() => instances("metrics").size === 2);
  // The supervisor counts nothing, but it has a log.
  await until(() => instances("logs").size === 3);
  const ofTrace = (signal: "traces" | "logs") => collector.items(signal).filter(({ item }) => item.traceId === traceId);
  const [span] = await until(
    () => ofTrace("traces"),
    (found) => found.length > 0,
  );
  const [line] = await until(
    () => ofTrace("logs"),
    (found) => found.length > 0,
  );
  assert.equal(line!.item.spanId, span!.item.spanId);
  assert.equal(line!.item.body.stringValue, "slow request");
  assert.equal(line!.resource["service.instance.id"], span!.resource["service.instance.id"]);
  assert.ok(!JSON.stringify(collector.received).includes(key), "no secret is sent");

  await collector.down();
  const failures = async () => (await readMetric(machine, "telemetry_export_failures_total")).get('signal="metrics"');
  await until(failures, (count = 0) => count >= 6);
  assert.equal(await call(), 200, "calls do not need the collector");
  const named = Array.from(machine.output().matchAll(failureLine), ([, process, signal]) => `${process} ${signal}`);
  assert.ok(named.includes("1 metrics"), machine.output());
  assert.equal(new Set(named).size, named.length, "each process names a failing signal once a minute");

  await collector.up();
  for (let nth = 0; nth < 8; nth++) assert.equal(await call(), 200);
  machine.process.kill("SIGTERM");
  assert.equal(await machine.exited, 0);
  const calls = new Map<unknown, number>();
  for (const { resource, item } of collector.items("metrics"))
    if (item.name === "process_calls_total")
      calls.set(resource["service.instance.id"], item.sum.dataPoints[0].asDouble);
  assert.equal(
    [...calls.values()].reduce((sum, count) => sum + count),
    10,
    "the last export has all calls",
  );
  const ends = collector.items("logs").map(({ item }) => attributesOf(item.attributes).process);
  assert.deepEqual([...new Set(ends)].sort(), [1, 2, "supervisor"]);
});
