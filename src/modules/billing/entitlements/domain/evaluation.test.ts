import assert from "node:assert/strict";
import { test } from "node:test";
import { type EnforcementMode, type EntitlementState, evaluate } from "./evaluation.ts";

const nowMs = 1_000_000;
const item = "workflow.run";
const fresh = { version: 1, freshUntilMs: nowMs + 1, allow: new Set<string>(), deny: new Set<string>() };
const states: Readonly<Record<string, EntitlementState | undefined>> = {
  denied: { ...fresh, deny: new Set([item]) },
  "denied, stale": { ...fresh, deny: new Set([item]), freshUntilMs: nowMs },
  allowed: { ...fresh, allow: new Set([item]) },
  "allowed, stale": { ...fresh, allow: new Set([item]), freshUntilMs: nowMs },
  missing: { ...fresh, allow: new Set(["another"]) },
  "missing, stale": { ...fresh, freshUntilMs: nowMs - 1 },
  never: undefined,
};

/** The verdict for each state in the modes off, report and strict; + marks evidence. */
const withoutGrace: Readonly<Record<string, readonly [off: string, report: string, strict: string]>> = {
  denied: ["deny+", "deny+", "deny+"],
  "denied, stale": ["deny+", "deny+", "deny+"],
  allowed: ["pass", "pass", "pass"],
  "allowed, stale": ["pass", "grace+", "deny+"],
  missing: ["pass", "grace+", "deny+"],
  "missing, stale": ["pass", "grace+", "deny+"],
  never: ["pass", "grace+", "deny+"],
};
const withGrace: typeof withoutGrace = { ...withoutGrace, never: ["pass", "grace", "grace+"] };

const modes: readonly EnforcementMode[] = ["off", "report", "strict"];
for (const [graceUnprovisioned, table] of [
  [false, withoutGrace],
  [true, withGrace],
] as const) {
  for (const [name, expected] of Object.entries(table)) {
    for (const [at, mode] of modes.entries()) {
      const grace = graceUnprovisioned ? " with grace for unprovisioned tenants" : "";
      test(`an entitlement that is ${name} gives ${expected[at]} in the mode ${mode}${grace}`, () => {
        const { verdict, evidence } = evaluate({ mode, graceUnprovisioned }, states[name], item, nowMs);
        assert.equal(verdict + (evidence ? "+" : ""), expected[at]);
      });
    }
  }
}

test("a snapshot is stale from fresh_until on", () => {
  const strict = { mode: "strict", graceUnprovisioned: false } as const;
  const state = { ...fresh, allow: new Set([item]) };
  assert.equal(evaluate(strict, state, item, state.freshUntilMs - 1).reason, "allowed");
  assert.equal(evaluate(strict, state, item, state.freshUntilMs).reason, "stale");
});
