import assert from "node:assert/strict";
import { test } from "node:test";
import { failsWith } from "../../../../../test/harness/context.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { createCatalogue } from "./catalogue.ts";
import { toResultSeries } from "./result.ts";
import { resolveRange } from "./time-range.ts";

const tenant = "t1" as TenantId;
const metric = {
  name: "runs_total",
  type: "counter",
  help: "Runs.",
  labels: ["status"],
  tenantLabel: "tenant_id",
} as const;
const catalogue = createCatalogue([metric], false);
const nowMs = Date.UTC(2026, 0, 31);

test("labels that the scrape added are replaced by a number, so that no address is shown", () => {
  const labels = { __name__: "runs_total", tenant_id: "t1", status: "failed", job: "switchyard" };
  const values = [[1.5, "+Inf"]] as const;
  const shown = toResultSeries(
    [
      { metric: { ...labels, instance: "10.0.0.7:9090" }, values },
      { metric: { ...labels, instance: "10.0.0.8:9090" }, values },
      { metric: { status: "failed" }, values },
    ],
    tenant,
    catalogue,
  );
  assert.deepEqual(
    shown.map((series) => series.labels),
    [{ status: "failed", node: "1" }, { status: "failed", node: "2" }, { status: "failed" }],
  );
  assert.deepEqual(shown[0]!.points, [{ atMs: 1500, value: Number.POSITIVE_INFINITY }]);
});

test("a series of another tenant is never returned, even if the store does", () => {
  const foreign = { metric: { __name__: "runs_total", tenant_id: "t2" }, values: [] };
  assert.throws(() => toResultSeries([foreign], tenant, catalogue), failsWith("INTERNAL"));
});

test("results with too many series or points are refused", () => {
  const many = Array.from({ length: 1001 }, () => ({ metric: {}, values: [] }));
  assert.throws(() => toResultSeries(many, tenant, catalogue), failsWith("INVALID_ARGUMENT", /1001 series/));
  const long = Array.from({ length: 11 }, () => ({ metric: {}, values: Array(10_000).fill([1, "1"]) }));
  assert.throws(() => toResultSeries(long, tenant, catalogue), failsWith("INVALID_ARGUMENT", /110000 points/));
});

test("a range has an end, a start and a step of its own unless they are given, and is bounded", () => {
  const none = { startMs: undefined, endMs: undefined, stepS: 0 };
  assert.deepEqual(resolveRange(none, nowMs), { startMs: nowMs - 3_600_000, endMs: nowMs, stepS: 15 });
  const month = { startMs: nowMs - 31 * 86_400_000, endMs: nowMs };
  assert.equal(resolveRange({ ...month, stepS: 0 }, nowMs).stepS, 11_160);
  assert.equal(resolveRange({ ...month, stepS: 244 }, nowMs).stepS, 244);
  assert.throws(() => resolveRange({ ...month, stepS: 243 }, nowMs), failsWith("INVALID_ARGUMENT", /at least 244/));
  assert.throws(
    () => resolveRange({ ...month, startMs: month.startMs - 1, stepS: 0 }, nowMs),
    failsWith("INVALID_ARGUMENT", /31 days/),
  );
  assert.throws(() => resolveRange({ ...none, startMs: nowMs + 1 }, nowMs), failsWith("INVALID_ARGUMENT", /start/));
});
