import assert from "node:assert/strict";
import { test } from "node:test";
import { failsWith } from "../../../../../test/harness/context.ts";
import {
  configViolations,
  effectiveConfig,
  mergeSettings,
  type PoolSettings,
  resetSettings,
} from "./config-settings.ts";

const brokenFields = (settings: PoolSettings) =>
  configViolations(effectiveConfig(settings, "priority"), "priority").map(({ field }) => field);

test("unset fields have defaults, and constraints are absent unless set", () => {
  const config = effectiveConfig({}, "weighted_random");
  assert.deepEqual(config.selection, { hashKey: "", choiceCount: 2, slowStartS: 60, skillChoice: "best_skilled" });
  assert.deepEqual(config.fallback, { steps: [], onNoMatch: "queue", redirectPoolId: "" });
  assert.deepEqual(config.lease, { durationS: 30, heartbeatS: 10 });
  const itemBounds = { itemMaxAttempts: 100, itemMaxMs: 604_800_000 };
  assert.deepEqual(config.retry, {
    ...{ maxAttempts: 5, initialMs: 1000, factor: 2, maxMs: 60_000, jitter: 0.5 },
    ...itemBounds,
  });
  assert.deepEqual(config.dlq, { maxRetries: 3, retentionDays: 14 });
  assert.deepEqual(config.outlier, { consecutiveFailures: 5, ejectS: 30, maxEjectedPct: 50 });
  assert.deepEqual(config.admission, {});
  assert.deepEqual([config.queue.order, config.queue.ageingS], ["aged_priority", 60]);
  assert.deepEqual([config.itemEvents, config.acceptsUnaddressed, config.anomaly.autoResume], [false, false, false]);
  assert.equal(config.reservation, undefined);
  assert.deepEqual(configViolations(config, "weighted_random"), []);
});

test("set fields are combined with the defaults of their section", () => {
  const config = effectiveConfig(
    { lease: { durationS: 120 }, admission: { throttle: { key: "'a'", limit: 3 } } },
    "priority",
  );
  assert.deepEqual(config.lease, { durationS: 120, heartbeatS: 10 });
  assert.deepEqual(config.admission, {
    throttle: { key: "'a'", limit: 3, periodS: 0, burst: 0, cost: 1, onLimit: "delay" },
  });
});

test("fallback steps are ordered by time and inherit the pool's strategy unless they set one", () => {
  const steps = [
    { afterS: 60, condition: "", strategy: "manual" },
    { afterS: 5, condition: "true", strategy: "" },
  ] as const;
  assert.deepEqual(effectiveConfig({ fallback: { steps } }, "round_robin").fallback.steps, [
    { afterS: 5, condition: "true", strategy: "round_robin" },
    { afterS: 60, condition: "", strategy: "manual" },
  ]);
});

test("a change updates only its own fields; a list is replaced", () => {
  const before: PoolSettings = {
    lease: { durationS: 120, heartbeatS: 20 },
    anomaly: { methods: ["zscore", "iqr"] },
    admission: { singleton: { key: "'a'", ttlS: 9 } },
  };
  const change: PoolSettings = {
    lease: { heartbeatS: 30 },
    anomaly: { methods: ["pattern"] },
    admission: { singleton: { mode: "skip" } },
    itemEvents: true,
  };
  assert.deepEqual(mergeSettings(before, change), {
    lease: { durationS: 120, heartbeatS: 30 },
    anomaly: { methods: ["pattern"] },
    admission: { singleton: { key: "'a'", ttlS: 9, mode: "skip" } },
    itemEvents: true,
  });
  assert.deepEqual(before.lease, { durationS: 120, heartbeatS: 20 }, "the input is not modified");
});

test("reset restores the defaults of a section, a field or a constraint", () => {
  const before: PoolSettings = {
    lease: { durationS: 120, heartbeatS: 20 },
    fallback: { steps: [{ afterS: 1, condition: "", strategy: "" }], onNoMatch: "reject" },
    admission: { singleton: { key: "'a'" } },
    itemEvents: true,
  };
  assert.deepEqual(resetSettings(before, ["lease", "fallback.steps", "admission.singleton", "item_events", "retry"]), {
    fallback: { onNoMatch: "reject" },
  });
  assert.deepEqual(resetSettings(before, ["lease.heartbeat_s"]).lease, { durationS: 120 });
});

test("resetting a field of the reservation neither ends offers nor begins them", () => {
  assert.deepEqual(resetSettings({ reservation: { timeoutS: 5 } }, ["reservation.timeout_s"]), { reservation: {} });
  assert.deepEqual(resetSettings({}, ["reservation.timeout_s"]), {});
  assert.deepEqual(resetSettings({ reservation: { timeoutS: 5 } }, ["reservation"]), {});
});

test("an unknown path is rejected by its index, including names that every object has", () => {
  for (const path of ["moon", "lease.moon", "item_events.x", "constructor", "lease.constructor", "__proto__"]) {
    assert.throws(
      () => resetSettings({}, ["lease", path]),
      failsWith("INVALID_ARGUMENT", /^reset_config\[1\]: must be a section or field/),
      path,
    );
  }
});

test("contradicting fields are reported", () => {
  assert.deepEqual(brokenFields({ lease: { heartbeatS: 30 } }), ["config.lease.heartbeat_s"]);
  assert.deepEqual(brokenFields({ retry: { maxMs: 10 } }), ["config.retry.max_ms"]);
  assert.deepEqual(brokenFields({ fallback: { onNoMatch: "redirect_pool" } }), ["config.fallback.redirect_pool_id"]);
  assert.deepEqual(brokenFields({ admission: { debounce: { key: "'a'", periodS: 61 } } }), [
    "config.admission.debounce.max_delay_s",
  ]);
  const throttle = { key: "'a'", limit: 2, periodS: 1, burst: 1 };
  assert.deepEqual(brokenFields({ admission: { throttle: { ...throttle, cost: 4 } } }), [
    "config.admission.throttle.cost",
  ]);
  assert.deepEqual(brokenFields({ admission: { throttle: { ...throttle, cost: 3 } } }), []);
});

test("missing required fields of a constraint are reported", () => {
  const fields = brokenFields({ admission: { singleton: {}, debounce: {}, throttle: {}, concurrency: {} } });
  assert.deepEqual(fields, [
    "config.admission.singleton.key",
    "config.admission.debounce.key",
    "config.admission.throttle.key",
    "config.admission.concurrency.key",
    "config.admission.throttle.limit",
    "config.admission.throttle.period_s",
    "config.admission.concurrency.limit",
  ]);
});

test("a reservation has defaults once it is present, and contradicts first_accept", () => {
  const config = effectiveConfig({ reservation: {} }, "round_robin");
  assert.deepEqual(config.reservation, { timeoutS: 30, reofferAfterS: 60 });
  assert.deepEqual(configViolations(config, "round_robin"), []);
  const fields = configViolations(effectiveConfig({ reservation: {} }, "first_accept"), "first_accept");
  assert.deepEqual(
    fields.map(({ field }) => field),
    ["config.reservation"],
  );
  assert.equal(effectiveConfig(resetSettings({ reservation: {} }, ["reservation"]), "priority").reservation, undefined);
});

test("every lease duration can be set by itself, down to a second", () => {
  for (const durationS of [1, 2, 5, 10, 29, 43_200]) {
    const config = effectiveConfig({ lease: { durationS } }, "round_robin");
    assert.deepEqual(configViolations(config, "round_robin"), [], `${durationS}`);
    assert.ok(config.lease.heartbeatS < Math.max(2, durationS), `${durationS}`);
  }
});

test("settings need an order that fits an ageing of 0", () => {
  const config = effectiveConfig({ queue: { ageingS: 0 } }, "priority");
  assert.match(configViolations(config, "priority")[0]!.message, /strict_priority or arrival/);
  assert.deepEqual(brokenFields({ queue: { ageingS: 0 } }), ["config.queue.ageing_s"]);
  for (const order of ["strict_priority", "arrival"] as const) {
    assert.deepEqual(brokenFields({ queue: { ageingS: 0, order } }), []);
  }
  assert.deepEqual(brokenFields({ queue: { ageingS: 0, order: "aged_priority" } }), ["config.queue.ageing_s"]);
});
