import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import type { AnomalyAction } from "./anomaly.ts";
import { countAllowedPauses, pausedUntil, selectActions, selectReportable } from "./response.ts";

test("only the first finding of a topic is reported, and none that was reported recently", () => {
  const findings = [
    { recipientId: "a", metric: "latency_ms", method: "zscore" },
    { recipientId: "a", metric: "latency_ms", method: "iqr" },
    { recipientId: "a", metric: "cost", method: "iqr" },
    { recipientId: "b", metric: "latency_ms", method: "iqr" },
    { recipientId: "", metric: "latency_ms", method: "iqr" },
  ] as const;
  const reported = selectReportable(findings, [{ recipientId: "b", metric: "latency_ms" }]);
  assert.deepEqual(reported, [findings[0], findings[2], findings[4]]);
});

test("never more than half of a pool is paused, however often pauses are requested", () => {
  fc.assert(
    fc.property(fc.nat(200), fc.array(fc.nat(5), { maxLength: 30 }), (size, resumed) => {
      let autoPaused = 0;
      for (const back of resumed) {
        autoPaused += countAllowedPauses({ active: size - autoPaused, autoPaused });
        assert.ok(autoPaused <= size / 2);
        autoPaused = Math.max(0, autoPaused - back);
      }
    }),
  );
  assert.deepEqual(
    [0, 1, 2, 3, 10].map((active) => countAllowedPauses({ active, autoPaused: 0 })),
    [0, 0, 1, 1, 5],
  );
  assert.equal(countAllowedPauses({ active: 2, autoPaused: 5 }), 0);
});

test("a finding of a whole pool pauses no recipient, and a pause that did not happen is not reported", () => {
  const all: AnomalyAction[] = ["alert", "auto_pause", "deprioritize", "log"];
  assert.deepEqual(selectActions(all, { recipientId: "" }, new Set(["a"])), ["alert", "log"]);
  assert.deepEqual(selectActions(all, { recipientId: "a" }, new Set(["a"])), all);
  assert.deepEqual(selectActions(all, { recipientId: "b" }, new Set(["a"])), ["alert", "deprioritize", "log"]);
  assert.deepEqual(selectActions(["log"], { recipientId: "a" }, new Set(["a"])), ["log"]);
});

test("an automatic pause lasts for the cool-down, at least a window, and without auto-resume until somebody ends it", () => {
  const config = { autoResume: true, cooldownS: 600, windowS: 300 };
  assert.deepEqual(pausedUntil(config, 1000), new Date(601_000));
  assert.deepEqual(pausedUntil({ ...config, cooldownS: 0 }, 1000), new Date(301_000));
  assert.equal(pausedUntil({ ...config, autoResume: false }, 1000), null);
});
