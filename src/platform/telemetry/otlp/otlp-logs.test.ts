import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { attributesOf, startOtlpCollector } from "../../../../test/harness/otlp-collector.ts";
import { until } from "../../../../test/harness/until.ts";
import { exporterOptions } from "./otlp-exporter.ts";
import { createOtlpLogs } from "./otlp-logs.ts";

type Sent = ReturnType<Awaited<ReturnType<typeof startOtlpCollector>>["items"]>[number];

const collectorOf = (t: TestContext, status?: number) => startOtlpCollector((stop) => t.after(stop), status);
const time = "2026-11-18T09:30:00.250Z";
const line = (fields: object) =>
  JSON.stringify({ level: "info", time, service: "switchyard", msg: "hello", ...fields });

test("a line reaches the collector with its severity, time, trace, fields and error", async (t) => {
  const collector = await collectorOf(t);
  const logs = createOtlpLogs({ endpoint: collector.endpoint, serviceName: "switchyard" });
  const ids = { trace_id: "0af7651916cd43dd8448eb211c80319c", span_id: "b7ad6b7169203331" };
  logs.write(
    line({ level: "warn", ...ids, took_ms: 12, ids: ["a"], err: { type: "TypeError", message: "x", stack: "at" } }),
  );
  logs.write(line({ trace_id: ids.trace_id }));
  await logs.close();

  const [{ resource, item }, { item: second }] = collector.items("logs") as [Sent, Sent];
  assert.deepEqual(resource, { "service.name": "switchyard" });
  assert.deepEqual([item.severityNumber, item.severityText, item.body.stringValue], [13, "warn", "hello"]);
  assert.equal(BigInt(item.timeUnixNano), BigInt(Date.parse(time)) * 1_000_000n);
  assert.deepEqual([item.traceId, item.spanId], [ids.trace_id, ids.span_id]);
  assert.deepEqual(attributesOf(item.attributes), {
    ...{ took_ms: 12, ids: ["a"] },
    ...{ "exception.type": "TypeError", "exception.message": "x", "exception.stacktrace": "at" },
  });
  assert.equal(second.traceId ?? "", "");
});

test("headers for the collector come from the standard variable", async (t) => {
  const collector = await collectorOf(t);
  process.env.OTEL_EXPORTER_OTLP_HEADERS = "x-token=abc";
  t.after(() => delete process.env.OTEL_EXPORTER_OTLP_HEADERS);
  const logs = createOtlpLogs({ endpoint: collector.endpoint, serviceName: "switchyard" });
  logs.write(line({}));
  await logs.close();
  assert.equal(collector.received[0]?.headers["x-token"], "abc");
});

test("the path of a signal is added to that of the endpoint", () => {
  for (const [path, expected] of [
    ["", "/v1/logs"],
    ["/", "/v1/logs"],
    ["/otlp/", "/otlp/v1/logs"],
    ["/v1/traces", "/v1/logs"],
  ] as const)
    assert.equal(
      exporterOptions({ endpoint: `http://collector:4318${path}`, serviceName: "s" }, "logs").url,
      `http://collector:4318${expected}`,
    );
});

test("while the collector is down, lines wait in bounded memory, and the next ones arrive when it is back", async (t) => {
  const collector = await collectorOf(t);
  await collector.down();
  let failures = 0;
  const logs = createOtlpLogs({ endpoint: collector.endpoint, serviceName: "switchyard", onError: () => failures++ });
  for (let nth = 0; nth < 20_000; nth++) logs.write(line({ nth }));
  await until(() => failures > 0);
  await collector.up();
  await until(() => {
    logs.write(line({ msg: "after" }));
    return collector.items("logs").some(({ item }) => item.body.stringValue === "after");
  });
  await logs.close();
  const kept = collector.items("logs").filter(({ item }) => item.body.stringValue === "hello").length;
  assert.ok(kept <= 4096, `${kept} lines were kept`);
});
