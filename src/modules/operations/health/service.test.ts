import assert from "node:assert/strict";
import { test } from "node:test";
import { contextFor, failsWith, freshTenant, testDatabase } from "../../../../test/harness/context.ts";
import type { HealthSource, HealthSources } from "../../health-source.ts";
import type { Report } from "./domain/report.ts";
import { createReportCache } from "./report-cache.ts";
import { createHealthService } from "./service.ts";

const db = await testDatabase();

/** A service that counts what it reads. Each tenant has the environments production and staging. */
function serviceOf(change: Partial<HealthSources> = {}) {
  const reads: string[] = [];
  const cached: string[] = [];
  const logged: object[] = [];
  const time = { nowMs: 0 };
  const source = <T>(name: string, value: T): HealthSource<T> => ({
    lastPassMs: () => undefined,
    async read(_sql, { tenantId, environmentId }) {
      reads.push(`${name} ${tenantId} ${environmentId}`);
      return value;
    },
  });
  const sources: HealthSources = {
    workflow_runs: source("runs", { ended: {}, overdue: {}, letters: {} }),
    workflow_tasks: source("tasks", { ready: 0, oldestReadyMs: 0, incompatible: 0 }),
    queue_items: source("items", { ready: 0, oldestReadyMs: 0 }),
    ...change,
  };
  const cache = createReportCache<Report>(() => time.nowMs);
  const owners = new Map<string, string>();
  const service = createHealthService({
    environments: {
      async find(_sql, tenantId, idOrKey) {
        const id = `${tenantId}-${idOrKey}`;
        if (idOrKey === "production" || idOrKey === "staging") return { id, key: idOrKey };
        return owners.get(idOrKey) === tenantId ? { id: idOrKey, key: "production" } : undefined;
      },
      list: async () => ({ rows: [], total: undefined, isCut: false }),
    },
    sources: () => sources,
    cache: {
      get(key, compute) {
        cached.push(key);
        return cache.get(key, compute);
      },
    },
    metrics: { counter: () => ({ inc() {} }) } as never,
    log: { warn: (fields: object) => void logged.push(fields) } as never,
    retentionDays: 30,
  });
  return { service, reads, cached, logged, time, owners };
}

test("an environment of another tenant is refused before any query and any look into the cache", async () => {
  const { service, reads, cached, owners } = serviceOf();
  const [own, foreign] = [freshTenant(), freshTenant()];
  owners.set("their-environment", foreign);
  await service.getReport(contextFor(db, { tenantId: foreign }), "their-environment", "1h");
  reads.length = 0;
  cached.length = 0;
  await assert.rejects(
    service.getReport(contextFor(db, { tenantId: own }), "their-environment", "1h"),
    failsWith("NOT_FOUND"),
  );
  assert.deepEqual([reads, cached], [[], []]);
});

test("an environment that the caller may not use is refused, even if its report is in the cache", async () => {
  const { service, reads, cached } = serviceOf();
  const tenantId = freshTenant();
  await service.getReport(contextFor(db, { tenantId }), "production", "1h");
  reads.length = 0;
  cached.length = 0;
  const restricted = contextFor(db, { tenantId, environmentMode: "non_production_only" });
  for (const environment of ["production", ""]) {
    await assert.rejects(service.getReport(restricted, environment, "1h"), failsWith("PERMISSION_DENIED"));
  }
  assert.deepEqual([reads, cached], [[], []]);
  await service.getReport(restricted, "staging", "1h");
});

test("a report is computed once in 15 seconds for each tenant, environment and period", async () => {
  const { service, reads, time } = serviceOf();
  const [own, other] = [freshTenant(), freshTenant()];
  const get = (tenantId: typeof own, environment: string, period: string) =>
    service.getReport(contextFor(db, { tenantId }), environment, period);
  const [first, same] = await Promise.all([get(own, "production", "1h"), get(own, "", "60m")]);
  assert.equal(first, same);
  assert.equal(reads.length, 3);
  await get(own, "staging", "1h");
  await get(own, "production", "2h");
  await get(other, "production", "1h");
  assert.equal(reads.length, 12);
  time.nowMs = 14_999;
  assert.equal(await get(own, "production", "1h"), first);
  time.nowMs = 15_000;
  assert.notEqual(await get(own, "production", "1h"), first);
});

test("a source that cannot be read makes its signals unknown; its error is logged and not reported", async () => {
  const broken: HealthSource<never> = {
    lastPassMs: () => undefined,
    read: () => Promise.reject(new Error("password=hunter2")),
  };
  const { service, logged } = serviceOf({ workflow_tasks: broken });
  const report = await service.getReport(contextFor(db), "production", "1h");
  assert.equal(report.verdict, "unknown");
  const unavailable = report.signals.filter(({ code }) => code === "SOURCE_UNAVAILABLE").map(({ name }) => name);
  assert.deepEqual(unavailable, ["ready_queue_depth", "oldest_ready_item", "incompatible_attempts"]);
  assert.doesNotMatch(JSON.stringify(report), /hunter2/);
  assert.equal(logged.length, 1);
});

test("a period is a duration from five minutes to seven days", async () => {
  const { service } = serviceOf();
  const periodOf = async (text: string) => {
    const { window } = await service.getReport(contextFor(db), "production", text);
    assert.equal(window.endMs % 15_000, 0);
    return window.endMs - window.startMs;
  };
  assert.equal(await periodOf(""), 3_600_000);
  assert.equal(await periodOf("5m"), 300_000);
  assert.equal(await periodOf("7d"), 7 * 86_400_000);
  for (const text of ["299s", "604801s", "1500ms", "0h", "300500ms"]) {
    await assert.rejects(periodOf(text), failsWith("INVALID_ARGUMENT", /period: must be a duration.*5m to 7d/), text);
  }
});
