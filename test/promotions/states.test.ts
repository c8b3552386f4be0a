import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { ResponseData } from "../routing/tenant-fixture.ts";
import {
  base,
  createCandidate,
  type GovernedNode,
  harmedKeys,
  keysOf,
  type Person,
  routingArtifact,
  runToStoppedCanary,
  stagedPool,
  startGovernedNode,
  step,
  work,
} from "./promotion-fixture.ts";

let node: GovernedNode;
let approver: Person;
before(async () => {
  node = await startGovernedNode();
  approver = await node.person("ada", ["promotion_approver"]);
});

const calls: Readonly<Record<string, string>> = {
  preflight: "preflight",
  evaluate_guardrails: "guardrails/evaluate",
  start_canary: "canary/start",
  stop_canary: "canary/stop",
  approve: "approve",
  promote: "promote",
  rollback: "rollback",
  abort: "abort",
};

/** The calls that are possible in each state, and the state that they lead to. */
const table: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  created: { preflight: "preflight_passed", abort: "aborted" },
  preflight_passed: {
    preflight: "preflight_passed",
    evaluate_guardrails: "guardrails_passed",
    abort: "aborted",
  },
  preflight_blocked: { preflight: "preflight_blocked", abort: "aborted" },
  guardrails_passed: {
    preflight: "preflight_passed",
    evaluate_guardrails: "guardrails_passed",
    start_canary: "canary_running",
    abort: "aborted",
  },
  guardrails_failed: {
    preflight: "preflight_passed",
    evaluate_guardrails: "guardrails_failed",
    abort: "aborted",
  },
  canary_running: { stop_canary: "canary_stopped", abort: "aborted" },
  canary_stopped: { start_canary: "canary_running", approve: "approved", abort: "aborted" },
  canary_failed: { abort: "aborted" },
  approved: { promote: "promoted", abort: "aborted" },
  promoted: { rollback: "rolled_back" },
  rolled_back: {},
  aborted: {},
};

/** Creates a candidate in a state, through the API alone. */
async function candidateIn(state: string): Promise<string> {
  const { tenant } = node;
  const pool = await stagedPool(tenant);
  if (state !== "guardrails_failed") await work(tenant, pool.id, keysOf("past", 16));
  let artifact = routingArtifact(pool);
  if (state === "preflight_blocked") {
    const { data } = await tenant.ok("POST", `/api/pools/${pool.id}/versions`, {});
    artifact = { ...artifact, version: data.version };
  }
  const id = await createCandidate(tenant, [artifact]);
  if (state === "created") return id;
  if (state === "aborted") {
    await step(tenant, id, "abort", "aborted");
    return id;
  }
  const stages = ["canary_stopped", "approved", "promoted", "rolled_back"];
  if (stages.includes(state)) await runToStoppedCanary(tenant, id, [pool]);
  else {
    await step(tenant, id, "preflight", state === "preflight_blocked" ? state : "preflight_passed");
    if (/^guardrails|^canary/.test(state)) {
      const result = state === "guardrails_failed" ? state : "guardrails_passed";
      await step(tenant, id, "guardrails/evaluate", result);
    }
    if (state.startsWith("canary")) await step(tenant, id, "canary/start", "canary_running", { percent: 50 });
    if (state === "canary_failed") {
      await work(tenant, pool.id, harmedKeys, (recipient) => (recipient === pool.after ? "failure" : "success"));
      // The service may have stopped it before.
      await perform(id, "stop_canary");
    }
  }
  const at = stages.indexOf(state);
  if (at >= 1) assert.equal((await approver("POST", `${base}/${id}/approve`, {})).status, 200);
  if (at >= 2) await step(tenant, id, "promote", "promoted");
  if (at >= 3) await step(tenant, id, "rollback", "rolled_back");
  return id;
}

async function perform(id: string, call: string) {
  const path = `${base}/${id}/${calls[call]}`;
  return call === "approve" ? approver("POST", path, {}) : node.tenant.rest.call("POST", path, {});
}

const read = async (id: string): Promise<ResponseData> => (await node.tenant.ok("GET", `${base}/${id}`)).data;

for (const state of Object.keys(table)) {
  test(`a candidate that is ${state} refuses every other call with what is possible`, async () => {
    const id = await candidateIn(state);
    const possible = Object.keys(table[state]!);
    for (const call of Object.keys(calls)) {
      if (table[state]![call] !== undefined) continue;
      const response = await perform(id, call);
      assert.equal(response.body.errorCode, "FAILED_PRECONDITION", `${call}: ${response.text}`);
      assert.deepEqual([response.body.status, response.body.current_state], [412, state]);
      assert.deepEqual(response.body.possible_calls, possible, call);
    }
    const after = await read(id);
    assert.deepEqual([after.state, after.possible_calls], [state, possible]);
    // The last one is performed; each other one is on the way to another state.
    const last = possible.at(-1);
    if (last === undefined) return;
    const response = await perform(id, last);
    assert.equal(response.status, 200, response.text);
    assert.equal((await read(id)).state, table[state]![last]);
  });
}

for (const [state, call] of [
  ["preflight_passed", "preflight"],
  ["preflight_blocked", "preflight"],
  ["guardrails_passed", "evaluate_guardrails"],
  ["guardrails_failed", "evaluate_guardrails"],
  ["guardrails_passed", "preflight"],
  ["guardrails_failed", "preflight"],
  ["canary_stopped", "start_canary"],
] as const) {
  test(`${call} can be repeated by a candidate that is ${state}`, async () => {
    const id = await candidateIn(state);
    const response = await perform(id, call);
    assert.equal(response.status, 200, response.text);
    const after = await read(id);
    assert.equal(after.state, table[state]![call]);
    if (call === "preflight") assert.equal(after.guardrail_report, undefined, "later results are discarded");
  });
}

test("guardrails without outcomes are inconclusive, and do not pass", async () => {
  const { guardrail_report: report } = await read(await candidateIn("guardrails_failed"));
  assert.equal(report.passed, false);
  assert.deepEqual(
    report.scores.map(({ metric, verdict, keys }: ResponseData) => [metric, verdict, keys]),
    [["success", "inconclusive", 0]],
  );
});

test("a target has one open candidate; the refusal names it", async () => {
  const { tenant } = node;
  const pool = await stagedPool(tenant);
  const id = await createCandidate(tenant, [routingArtifact(pool)]);
  const artifacts = [{ kind: "strategy", ref: pool.id, version: 1 }];
  const refused = await tenant.refused("ALREADY_EXISTS", "POST", base, { artifacts });
  assert.equal(refused.body.candidate_id, id);
  await step(tenant, id, "abort", "aborted");
  await createCandidate(tenant, artifacts);
});

test("an artifact must name a version with its digest; nothing is created otherwise", async () => {
  const { tenant } = node;
  const pool = await stagedPool(tenant);
  const artifact = routingArtifact(pool);
  const refuse = async (change: object, field: string) => {
    const body = { artifacts: [{ ...artifact, ...change }] };
    const { body: problem } = await tenant.refused("INVALID_ARGUMENT", "POST", base, body);
    assert.deepEqual(
      problem.violations.map((violation: ResponseData) => violation.field),
      [field],
    );
  };
  await refuse({ version: 99 }, "artifacts[0].version");
  await refuse({ sha256: "0".repeat(64) }, "artifacts[0].sha256");
  await refuse({ ref: "nothing" }, "artifacts[0].ref");
  const twice = { artifacts: [artifact, { ...artifact, kind: "strategy" }] };
  await tenant.refused("INVALID_ARGUMENT", "POST", base, twice);
  await tenant.refused("NOT_FOUND", "POST", base, { artifacts: [artifact], pack_id: "p" });
  const { data } = await tenant.ok("GET", `${base}?state=created`);
  assert.ok(!data.some((each: ResponseData) => each.artifacts[0].target_id === pool.id));
});

test("the timeline tells every step in order, with who did it and what came of it", async () => {
  const id = await candidateIn("rolled_back");
  const { data } = await node.tenant.ok("GET", `${base}/${id}/timeline`);
  assert.deepEqual(
    data.map(({ call, state }: ResponseData) => [call, state]),
    [
      ["create", "created"],
      ["preflight", "preflight_passed"],
      ["evaluate_guardrails", "guardrails_passed"],
      ["start_canary", "canary_running"],
      ["stop_canary", "canary_stopped"],
      ["approve", "approved"],
      ["promote", "promoted"],
      ["rollback", "rolled_back"],
    ],
  );
  assert.equal(data[5].actor, "ada");
  assert.ok(
    data.every(({ summary }: ResponseData) => summary.endsWith(".")),
    JSON.stringify(data),
  );
  const events = await node.tenant.ok("GET", `/api/events?types=promotion.promoted`);
  assert.equal(events.data.filter((event: ResponseData) => event.subject === id).length, 1);
});
