import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type TenantFixture } from "../routing/tenant-fixture.ts";
import { artifactOf, createPack, environmentId, reasonsOf, storeReport, type TestPack } from "./evidence-fixture.ts";

let service: TestService;
let tenant: TenantFixture;
let sandbox: string;
let production: string;
before(async () => {
  service = await startService();
  tenant = await newTenant(service);
  sandbox = await environmentId(tenant, "staging");
  production = await environmentId(tenant, "production");
});

const routing = artifactOf("routing", "leads");

/** A sandbox pack with one routing artifact, which needs a scenario receipt. */
async function routingPack(fields: object = {}): Promise<TestPack> {
  const pack = await createPack(tenant, sandbox, fields);
  await pack.add(routing);
  return pack;
}

test("a gate opens when every requirement of every artifact has a valid receipt, and says until when", async () => {
  const pack = await createPack(tenant, sandbox, { required_types: ["runtime"], max_age_s: 86_400 });
  const workflow = artifactOf("workflow", "order.fulfil");
  const empty = await pack.gate();
  assert.deepEqual([empty.state, reasonsOf(empty)], ["closed", ["artifacts missing"]]);
  await pack.add(workflow);
  await pack.add(artifactOf("report", "load-test"));
  const missing = await pack.gate();
  assert.deepEqual(reasonsOf(missing), [
    "workflow.graph missing",
    "workflow.runtime missing",
    "workflow.scenario missing",
  ]);
  assert.match(missing.next_step, /Add a graph receipt for workflow order\.fulfil\. 2 more requirements/);
  for (const type of ["graph", "scenario"]) await pack.receipt(type, [workflow]);
  assert.deepEqual(reasonsOf(await pack.gate()), ["workflow.runtime missing"]);
  const at = new Date(Date.now() - 3_600_000);
  await pack.receipt("runtime", [workflow], await storeReport(service, tenant, sandbox, { at }));
  const open = await pack.gate();
  assert.deepEqual([open.state, open.reasons, open.next_step], ["open", [], ""]);
  // A runtime receipt is as old as its report.
  assert.equal(Date.parse(open.valid_until) - at.getTime(), 86_400_000);
  assert.equal((await pack.gate()).digest, open.digest);
});

test("failed and blocked receipts close a gate that was open, and another digest says so", async () => {
  const pack = await routingPack();
  await pack.receipt("scenario", [routing]);
  const open = await pack.gate();
  assert.equal(open.state, "open");
  for (const result of ["failed", "blocked"]) {
    await pack.receipt("scenario", [routing], { result });
    const closed = await pack.gate();
    assert.deepEqual(reasonsOf(closed), [`routing.scenario ${result}`]);
    assert.notEqual(closed.digest, open.digest);
    assert.notEqual(closed.pack_digest, open.pack_digest);
  }
  await pack.receipt("scenario", [routing]);
  assert.equal((await pack.gate()).state, "open");
});

test("a receipt is void when its artifact changes", async () => {
  const pack = await routingPack();
  await pack.receipt("scenario", [routing]);
  const changed = artifactOf("routing", "leads", "2");
  await pack.add(changed);
  assert.deepEqual(reasonsOf(await pack.gate()), ["routing.scenario stale"]);
  // The old digest is not accepted any more, and the old content does not revive the receipt under a new version.
  const refused = await tenant.refused("INVALID_ARGUMENT", "POST", `${pack.path}/receipts`, {
    ...{ type: "scenario", result: "passed", subjects: [routing] },
  });
  assert.match(refused.body.detail, /as it is in the pack: version 2/);
  await pack.receipt("scenario", [changed]);
  assert.equal((await pack.gate()).state, "open");
});

test("a receipt expires, or becomes stale by its age, without any call; an event tells of it", async () => {
  const expiring = await routingPack();
  await expiring.receipt("scenario", [routing], { ttl_s: 1 });
  const aging = await routingPack({ max_age_s: 1 });
  await aging.receipt("scenario", [routing]);
  for (const [pack, reason] of [
    [expiring, "expired"],
    [aging, "stale"],
  ] as const) {
    const closed = await until(pack.gate, ({ state }) => state === "closed");
    assert.deepEqual(reasonsOf(closed), [`routing.scenario ${reason}`]);
    const events = async () =>
      (await tenant.ok("GET", `/api/events?subject=${pack.id}&types=evidence.gate.closed`)).data;
    const [event] = await until(events, ({ length }) => length > 0);
    assert.deepEqual(event.data.reasons, [reason]);
  }
});

test("a check in another environment does not count", async () => {
  const pack = await routingPack();
  await pack.receipt("scenario", [routing], { observed_environment_id: production });
  assert.deepEqual(reasonsOf(await pack.gate()), ["routing.scenario wrong_environment"]);
  // One of the right environment decides, even if it is older or worse.
  await pack.receipt("scenario", [routing], { result: "blocked" });
  await pack.receipt("scenario", [routing], { observed_environment_id: production });
  assert.deepEqual(reasonsOf(await pack.gate()), ["routing.scenario blocked"]);
});

test("a gate lists every reason at once, and explain shows the receipts behind each", async () => {
  const names = ["connector", "routing", "strategy", "workflow"];
  const [connector, other, strategy, workflow] = names.map((kind) => artifactOf(kind, "all"));
  const pack = await createPack(tenant, sandbox, { required_types: ["runtime"] });
  for (const each of [connector, other, strategy, workflow]) await pack.add(each!);
  const first = await pack.receipt("connector", [connector!]);
  const failed = await pack.receipt("connector", [connector!], { result: "failed" });
  const incomplete = await storeReport(service, tenant, sandbox, { verdict: "incomplete" });
  await pack.receipt("runtime", [connector!], incomplete);
  const passed = await storeReport(service, tenant, sandbox);
  await pack.receipt("scenario", [other!], { observed_environment_id: production });
  await pack.receipt("runtime", [other!, strategy!], passed);
  await pack.receipt("strategy", [strategy!], { ttl_s: 1 });
  await pack.receipt("graph", [workflow!], { ttl_s: 1, result: "failed" });
  await pack.receipt("runtime", [workflow!], passed);
  await pack.add(artifactOf("routing", "all", "2"));
  const closed = await until(pack.gate, ({ reasons }) => {
    return reasons.filter(({ reason }: { reason: string }) => reason === "expired").length === 2;
  });
  assert.deepEqual(reasonsOf(closed), [
    "connector.connector failed",
    "connector.runtime blocked",
    "routing.runtime stale",
    "routing.scenario wrong_environment",
    "strategy.strategy expired",
    "workflow.graph expired",
    "workflow.scenario missing",
  ]);
  const { findings, gate } = await pack.explain();
  assert.equal(gate.digest, closed.digest);
  const finding = findings.find(
    (each: { requirement: { id: string } }) => each.requirement.id === "connector.connector",
  );
  assert.deepEqual(
    finding.receipts.map((each: { receipt_id: string; verdict: string; decisive: boolean }) => [
      each.receipt_id,
      each.verdict,
      each.decisive,
    ]),
    [
      [failed.id, "failed", true],
      [first.id, "satisfied", false],
    ],
  );
  assert.match(finding.explanation, new RegExp(`failed, according to receipt ${failed.id}`));
  const satisfied = findings.find(
    (each: { requirement: { id: string } }) => each.requirement.id === "strategy.runtime",
  );
  assert.deepEqual([satisfied.verdict, satisfied.next_step], ["satisfied", ""]);
});

test("requirements depend on the kind of the artifact and the mode of the environment", async () => {
  const expand = async (environment_id: string, kinds: string[]) => {
    const { data } = await tenant.ok("POST", "/api/rollout-evidence/requirements:expand", { environment_id, kinds });
    assert.equal(data.version, 1);
    return [data.environment_mode, ...data.requirements.map(({ id }: { id: string }) => id)];
  };
  assert.deepEqual(await expand(sandbox, ["workflow"]), ["sandbox", "workflow.graph", "workflow.scenario"]);
  assert.deepEqual(await expand(production, ["connector"]), [
    ...["live", "connector.canary", "connector.connector", "connector.runtime"],
  ]);
  const all = await expand(production, []);
  assert.equal(new Set(all.slice(1).map((id) => id.split(".")[0])).size, 4);
});

test("a receipt that contradicts itself, or cannot be about its artifact, is refused without effect", async () => {
  const pack = await routingPack();
  const before = (await tenant.ok("GET", pack.path)).data;
  const receipt = { type: "scenario", result: "passed", subjects: [routing] };
  const refused: [fields: object, detail: RegExp][] = [
    [{ subjects: [] }, /at least one artifact/],
    [{ subjects: [artifactOf("routing", "other")] }, /not in the pack/],
    [{ subjects: [{ ...routing, version: "9" }] }, /as it is in the pack/],
    [{ subjects: [routing, routing] }, /second time/],
    [{ type: "graph" }, /graph receipt cannot be about/],
    [{ cases: [{ id: "a", status: "failed" }] }, /the case a is failed/],
    [{ type: "proof" }, /the case kept is not/],
    [{ type: "proof", cases: [{ id: "kept", status: "not_applicable" }] }, /the case kept is not/],
    [{ cases: [1, 2].map(() => ({ id: "a", status: "passed" })) }, /second result/],
    [{ details: { text: "x".repeat(70_000) } }, /at most 65536 bytes/],
  ];
  for (const [fields, detail] of refused) {
    const answer = await tenant.refused("INVALID_ARGUMENT", "POST", `${pack.path}/receipts`, { ...receipt, ...fields });
    assert.match(answer.body.detail, detail);
  }
  assert.deepEqual((await tenant.ok("GET", pack.path)).data, before);
});
