import assert from "node:assert/strict";
import perfHooks from "node:perf_hooks";
import { test } from "node:test";
import { Histogram, Registry } from "prom-client";
import { Failure } from "../../errors/index.ts";
import { createMetrics } from "./index.ts";

const operation = "service.api.PoolService/CreatePool";

test("a call is recorded in the histogram by operation, protocol, plane and code", async () => {
  const metrics = createMetrics();
  metrics.calls.begin("rest", "external");
  metrics.calls.begin("rest", "external");
  metrics.calls.end(operation, "rest", "external", "OK", 0.003);
  metrics.calls.end(operation, "rest", "external", "NOT_FOUND", 20);
  const text = await metrics.render();
  const labels = `operation="${operation}",protocol="rest",plane="external"`;
  for (const line of [
    "# TYPE rpc_server_call_duration_seconds histogram",
    `rpc_server_call_duration_seconds_bucket{${labels},code="OK",le="0.0025"} 0`,
    `rpc_server_call_duration_seconds_bucket{${labels},code="OK",le="0.005"} 1`,
    `rpc_server_call_duration_seconds_bucket{${labels},code="OK",le="+Inf"} 1`,
    `rpc_server_call_duration_seconds_sum{${labels},code="OK"} 0.003`,
    `rpc_server_call_duration_seconds_count{${labels},code="OK"} 1`,
    `rpc_server_call_duration_seconds_bucket{${labels},code="NOT_FOUND",le="5"} 0`,
    `rpc_server_call_duration_seconds_bucket{${labels},code="NOT_FOUND",le="+Inf"} 1`,
  ]) {
    assert.ok(text.includes(`${line}\n`), `${line}\nis missing in\n${text}`);
  }
});

test("the histogram counts like prom-client's own, at and around every bound", async () => {
  const metrics = createMetrics();
  const registry = new Registry();
  const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
  const peer = new Histogram({
    name: "rpc_server_call_duration_seconds",
    help: "Time from a call's arrival to its response, by operation, protocol, plane and code.",
    labelNames: ["operation", "protocol", "plane", "code"],
    buckets: bounds,
    registers: [registry],
  });
  for (const seconds of [0, 1e-9, ...bounds.flatMap((bound) => [bound * 0.999, bound, bound * 1.001]), 1e6]) {
    metrics.calls.end(operation, "grpc", "internal", "OK", seconds);
    peer.observe({ operation, protocol: "grpc", plane: "internal", code: "OK" }, seconds);
  }
  // The order of labels may differ; the numbers may not.
  const sortLabels = (line: string): string =>
    line.replace(/\{(.*)\}/, (_, inner: string) => `{${inner.split(",").sort().join()}}`);
  const linesOf = (text: string): string[] =>
    text
      .split("\n")
      .filter((line) => line.includes("call_duration"))
      .map(sortLabels);
  assert.deepEqual(linesOf(await metrics.render()), linesOf(await registry.metrics()));
});

test("the gauge of active calls goes up and down", async () => {
  const metrics = createMetrics();
  metrics.calls.begin("connect", "external");
  metrics.calls.begin("connect", "external");
  metrics.calls.end(operation, "connect", "external", "OK", 0.1);
  assert.match(await metrics.render(), /^rpc_server_active_calls\{protocol="connect",plane="external"\} 1$/m);
  metrics.calls.end(operation, "connect", "external", "INTERNAL", 0.1);
  assert.match(await metrics.render(), /^rpc_server_active_calls\{protocol="connect",plane="external"\} 0$/m);
});

test("the process is measured once, however many registries there are", (t) => {
  createMetrics();
  const observe = t.mock.method(perfHooks.PerformanceObserver.prototype, "observe");
  const monitor = t.mock.method(perfHooks, "monitorEventLoopDelay");
  createMetrics();
  assert.equal(observe.mock.callCount() + monitor.mock.callCount(), 0);
});

test("process metrics are included, and two registries are independent", async () => {
  const [one, two] = [createMetrics(), createMetrics()];
  one.counter({ name: "things_total", help: "Things." }).inc(3);
  one.gauge({ name: "depth", help: "Depth.", labels: ["kind"], collect: (gauge) => gauge.set({ kind: "a" }, 7) });
  one.histogram({ name: "size_bytes", help: "Sizes.", buckets: [1, 10] }).observe(5);
  const text = await one.render();
  for (const pattern of [
    /^process_cpu_seconds_total /m,
    /^nodejs_eventloop_lag_seconds /m,
    /^things_total 3$/m,
    /^depth\{kind="a"\} 7$/m,
    /^size_bytes_count 1$/m,
  ]) {
    assert.match(text, pattern);
  }
  assert.doesNotMatch(await two.render(), /things_total/);
  assert.match(one.contentType, /^text\/plain; version=0\.0\.4/);
});

test("the event loop delay is reported by quantile, and a stall shows only in the next scrape", async () => {
  const metrics = createMetrics();
  const delayS = async (quantile: string) =>
    Number(
      new RegExp(`^nodejs_eventloop_delay_seconds\\{quantile="${quantile}"\\} (\\S+)$`, "m").exec(
        await metrics.render(),
      )![1],
    );
  const tick = () => new Promise((resolve) => setTimeout(resolve, 30));
  await tick();
  const endMs = performance.now() + 300;
  while (performance.now() < endMs);
  await tick();
  const stalled = await delayS("1");
  assert.ok(stalled >= 0.2, `${stalled}`);
  await delayS("0.999");
  // Nothing has been measured since the previous scrape.
  assert.equal(await delayS("1"), 0);
});

test("a label that would contain ids or free text is refused", () => {
  const metrics = createMetrics();
  for (const label of ["tenant_id", "id", "pool_key", "tenant", "path", "message", "user"]) {
    assert.throws(
      () => metrics.counter({ name: "x_total", help: "X.", labels: [label] }),
      (error: unknown) => {
        return error instanceof Failure && error.code === "INTERNAL";
      },
      label,
    );
  }
});

test("a histogram has at most twelve buckets, and only operations that were called have any", async () => {
  const metrics = createMetrics();
  const buckets = Array.from({ length: 12 }, (_, nth) => nth);
  assert.throws(() => metrics.histogram({ name: "large_seconds", help: "Large.", buckets }), Failure);
  assert.doesNotMatch(await metrics.render(), /^rpc_server_call_duration_seconds/m);
  metrics.calls.end(operation, "rest", "external", "OK", 0.1);
  const calls = (await metrics.render()).match(/^rpc_server_call_duration_seconds_bucket\{.*$/gm);
  assert.equal(calls?.length, 12);
});

test("a tenant counter names the first tenants up to the bound, and counts all others together", async () => {
  const metrics = createMetrics({ tenantsMax: 2 });
  const counter = metrics.tenantCounter({ name: "runs_total", help: "Runs.", labels: ["status"] });
  for (const tenant of ["a", "b", "c", "d", "a"]) counter.inc(tenant, { status: "ended" });
  metrics.calls.end(operation, "rest", "external", "OK", 0.1, "a");
  metrics.calls.end(operation, "rest", "external", "UNAUTHENTICATED", 0.1);
  const lines = (await metrics.render()).split("\n").filter((line) => /^(?:runs|api_calls)_total/.test(line));
  assert.deepEqual(lines.sort(), [
    'api_calls_total{code="OK",tenant_id="a"} 1',
    'runs_total{status="ended",tenant_id="a"} 2',
    'runs_total{status="ended",tenant_id="b"} 1',
    'runs_total{status="ended",tenant_id="other"} 2',
  ]);
});

test("the number of series does not depend on the number of tenants", async () => {
  const seriesOf = async (tenantCount: number) => {
    const metrics = createMetrics({ tenantsMax: 20 });
    const counter = metrics.tenantCounter({ name: "runs_total", help: "Runs.", labels: ["status"] });
    for (let nth = 0; nth < tenantCount; nth++) {
      for (const status of ["ended", "failed"]) counter.inc(`t${nth}`, { status });
      metrics.calls.end(operation, "rest", "external", "OK", 0.1, `t${nth}`);
    }
    return (await metrics.render()).split("\n").filter((line) => /^(?:runs|api_calls|rpc)_/.test(line)).length;
  };
  assert.equal(await seriesOf(10_000), await seriesOf(21));
});

test("without a bound no series names a tenant", async () => {
  const metrics = createMetrics();
  const counter = metrics.tenantCounter({ name: "runs_total", help: "Runs." });
  assert.match(await metrics.render(), /^runs_total 0$/m);
  for (const tenant of ["a", "b"]) counter.inc(tenant);
  metrics.calls.end(operation, "rest", "external", "OK", 0.1, "a");
  const text = await metrics.render();
  assert.match(text, /^runs_total 2$/m);
  assert.doesNotMatch(text, /tenant_id|api_calls_total/);
});

test("every metric is described with its labels and whether it has a tenant", () => {
  const metrics = createMetrics({ tenantsMax: 1 });
  metrics.tenantCounter({ name: "runs_total", help: "Runs.", labels: ["status"] });
  const described = new Map(metrics.describe().map((metric) => [metric.name, metric]));
  assert.deepEqual(described.get("runs_total"), {
    ...{ name: "runs_total", type: "counter", help: "Runs.", labels: ["status"], tenantLabel: "tenant_id" },
  });
  const { labels, type, tenantLabel } = described.get("rpc_server_call_duration_seconds")!;
  assert.deepEqual([labels, type, tenantLabel], [["operation", "protocol", "plane", "code"], "histogram", undefined]);
  assert.equal(described.get("process_cpu_seconds_total")!.tenantLabel, undefined);
});
