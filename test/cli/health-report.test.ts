import assert from "node:assert/strict";
import test from "node:test";
import { cli } from "./cli-run.ts";
import { startStub } from "./stub-service.ts";

const stub = await startStub();
const words = ["--address", stub.address, "report", "health", "--environment", "production", "--period", "1h"];
const report = (verdict: string) => ({
  id: "sha256:abc",
  version: "v1",
  verdict,
  confidence: "high",
  reason_codes: ["READY_QUEUE_DEPTH_UNHEALTHY"],
  scope: { tenant_id: "t", environment_id: "e", environment: "production" },
  window: { start: "2027-01-01T00:00:00Z", end: "2027-01-01T01:00:00Z", period_s: 3600 },
  ruleset: { version: "v1", digest: "sha256:def" },
  signals: [
    { name: "telemetry_age", title: "Telemetry age", level: "healthy", unit: "seconds", value: 4, unknown_above: 300 },
    {
      ...{ name: "ready_queue_depth", title: "Ready queue depth", level: "unhealthy", unit: "count", value: 1200 },
      ...{ degraded_at: 100, unhealthy_at: 1000 },
    },
  ],
  sources: [{ name: "workflow_runs", freshness: "current", age_s: 4, clock_skew_ms: 2 }],
  dependencies: [{ name: "database", state: "available", age_s: 4 }],
  next_steps: [
    {
      reason_code: "READY_QUEUE_DEPTH_UNHEALTHY",
      action: "Add workers.",
      runbook: "docs/runbooks/drain-ready-queues.md",
    },
  ],
  generated_at: "2027-01-01T01:00:03Z",
});
const answer = (verdict: string) => stub.answers({ json: { data: report(verdict), metadata: {} } });

test("the exit code is the verdict, in every form of output", async () => {
  for (const [verdict, exitCode] of [
    ["healthy", 0],
    ["degraded", 10],
    ["unhealthy", 11],
    ["unknown", 12],
    ["a verdict of a later version", 12],
  ] as const) {
    answer(verdict);
    for (const options of [[], ["--json"], ["--table"], ["--field", "verdict"]]) {
      assert.equal((await cli([...words, ...options])).exitCode, exitCode, `${verdict} ${options}`);
    }
  }
  assert.equal(stub.arrived.at(-1)!.target, "/api/operational-health/report?environment=production&period=1h");
});

test("a terminal shows the report in colour, a pipe gets the response, and NO_COLOR is respected", async () => {
  answer("unhealthy");
  const coloured = await cli(words, { terminal: true, columns: 120 });
  assert.match(coloured.out, /\u001b\[31m/);
  const plain = await cli(words, { terminal: true, columns: 120, env: { NO_COLOR: "1" } });
  assert.equal(
    plain.out,
    `UNHEALTHY  production  confidence high
2027-01-01T00:00:00Z to 2027-01-01T01:00:00Z (1h)

Signals
  healthy    Telemetry age      4 s    unknown above 5 min
  unhealthy  Ready queue depth  1,200  degraded from 100, unhealthy from 1,000

Sources and dependencies
  current    source workflow runs  4 s
  available  dependency database   4 s

Next steps
  1. Add workers.
     READY_QUEUE_DEPTH_UNHEALTHY, docs/runbooks/drain-ready-queues.md

Report sha256:abc
`,
  );
  assert.equal(JSON.parse((await cli(words)).out).data.verdict, "unhealthy");
});

test("columns that do not fit on a narrow terminal are left out", async () => {
  answer("unhealthy");
  const { out } = await cli(words, { terminal: true, columns: 60, env: { NO_COLOR: "1" } });
  assert.match(out, /^ {2}unhealthy {2}Ready queue depth {2}1,200$/m);
});

test("a refused report ends with the exit code of the refusal", async () => {
  stub.answers({ status: 404, json: { status: 404, title: "Not found", errorCode: "NOT_FOUND", retryable: false } });
  assert.equal((await cli(words)).exitCode, 4);
});
