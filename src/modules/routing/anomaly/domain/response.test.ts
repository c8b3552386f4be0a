import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import type { AnomalyAction } from "./anomaly.ts";
import { actionsTaken, pausesLeft, worthReporting } from "./response.ts";

test("of several findings about the same the first is reported, and none that was reported lately", () => {
  const findings = [
    { recipientId: "a", metric: "latency_ms", method: "zscore" },
    { recipientId: "a", metric: "latency_ms", method: "iqr" },
    { recipientId: "a", metric: "cost", method: "iqr" },
    { recipientId: "b", metric: "latency_ms", method: "iqr" },
    { recipientId: "", metric: "latency_ms", method: "iqr" },
  ] as const;
  const told = worthReporting(findings, [{ recipientId: "b", metric: "latency_ms" }]);
  assert.deepEqual(told, [findings[0], findings[2], findings[4]]);
});

test("never is more than half of a pool paused, however often it is asked", () => {
  fc.assert(
    fc.property(fc.nat(200), fc.array(fc.nat(5), { maxLength: 30 }), (size, resumed) => {
      let autoPaused = 0;
      for (const back of resumed) {
        autoPaused += pausesLeft({ active: size - autoPaused, autoPaused });
        assert.ok(autoPaused <= size / 2);
        autoPaused = Math.max(0, autoPaused - back);
      }
    }),
  );
  assert.deepEqual(
    [0, 1, 2, 3, 10].map((active) => pausesLeft({ active, autoPaused: 0 })),
    [0, 0, 1, 1, 5],
  );
  assert.equal(pausesLeft({ active: 2, autoPaused: 5 }), 0);
});

test("what is done about a pool as a whole stops nobody, and a pause that was not made is not claimed", () => {
  const all: AnomalyAction[] = ["alert", "auto_pause", "deprioritize", "log"];
  assert.deepEqual(actionsTaken(all, { recipientId: "" }, new Set(["a"])), ["alert", "log"]);
  assert.deepEqual(actionsTaken(all, { recipientId: "a" }, new Set(["a"])), all);
  assert.deepEqual(actionsTaken(all, { recipientId: "b" }, new Set(["a"])), ["alert", "deprioritize", "log"]);
  assert.deepEqual(actionsTaken(["log"], { recipientId: "a" }, new Set(["a"])), ["log"]);
});
