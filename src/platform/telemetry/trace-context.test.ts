import assert from "node:assert/strict";
import { test } from "node:test";
import { createNonRecordingTracing, formatTraceparent, parseTraceparent } from "./index.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";
const header = `00-${traceId}-${spanId}-01`;

test("a valid traceparent is parsed, and formatted back unchanged", () => {
  assert.deepEqual(parseTraceparent(header), { traceId, spanId, sampled: true });
  assert.equal(parseTraceparent(`00-${traceId}-${spanId}-00`)?.sampled, false);
  assert.equal(parseTraceparent(`00-${traceId}-${spanId}-03`)?.sampled, true);
  assert.equal(formatTraceparent(parseTraceparent(header)!), header);
});

test("the known fields of a later version are parsed", () => {
  assert.equal(parseTraceparent(`01-${traceId}-${spanId}-01-more`)?.traceId, traceId);
});

test("an invalid traceparent is ignored", () => {
  for (const bad of [
    undefined,
    "",
    "garbage",
    `ff-${traceId}-${spanId}-01`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId}-${spanId}`,
    `01-${traceId}-${spanId}-01more`,
    `${header}${" ".repeat(10_000)}`,
  ]) {
    assert.equal(parseTraceparent(bad), undefined, String(bad).slice(0, 80));
  }
});

test("without an endpoint spans still have ids, of the caller's trace or of a new one", async () => {
  const tracing = createNonRecordingTracing();
  const child = tracing.startSpan("call", { kind: "server", parent: header });
  assert.equal(child.traceId, traceId);
  assert.match(child.spanId, /^[0-9a-f]{16}$/);
  assert.notEqual(child.spanId, spanId);
  assert.equal(child.traceparent, `00-${traceId}-${child.spanId}-01`);
  assert.equal(child.spanId, child.spanId, "an id, once read, stays");
  const root = tracing.startSpan("call", { kind: "server", parent: "garbage" });
  assert.match(root.traceId, /^[0-9a-f]{32}$/);
  assert.notEqual(root.traceId, tracing.startSpan("call", { kind: "server" }).traceId);
  root.setAttribute("a", 1);
  root.recordError(new Error("x"));
  root.end();
  await tracing.close();
});

test("without an endpoint the SDK is not loaded", async () => {
  const { spawnSync } = await import("node:child_process");
  const door = JSON.stringify(new URL("./index.ts", import.meta.url).href);
  const script = `
    import { registerHooks } from "node:module";
    registerHooks({ resolve(name, context, next) { if (/opentelemetry.(sdk|exporter|otlp|resources)/.test(name)) console.log(name); return next(name, context); } });
    const { openTelemetryExport } = await import(${door});
    const { tracing } = await openTelemetryExport({ endpoint: "", signals: ["traces", "metrics", "logs"] });
    tracing.startSpan("call", { kind: "server" }).end();
  `;
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    encoding: "utf8",
  });
  assert.deepEqual({ stdout, stderr, status }, { stdout: "", stderr: "", status: 0 });
});
