import assert from "node:assert/strict";
import { before, test } from "node:test";
import { until } from "../harness/until.ts";
import {
  activeContent,
  base,
  easyGuardrails,
  type GovernedNode,
  type Person,
  routingArtifact,
  runToStoppedCanary,
  type StagedPool,
  stagedPool,
  startGovernedNode,
  step,
} from "../promotions/promotion-fixture.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";
import {
  artifactOf,
  createPack,
  environmentId,
  expireReceipt,
  reasonsOf,
  storeReport,
  type TestPack,
} from "./evidence-fixture.ts";

let node: GovernedNode;
let tenant: TenantFixture;
let approver: Person;
let production: string;
before(async () => {
  node = await startGovernedNode();
  tenant = node.tenant;
  approver = await node.person("ada", ["promotion_approver"]);
  production = await environmentId(tenant, "production");
});

/** The staged version of a pool, as a pack names it. */
async function subjectOf(pool: StagedPool) {
  const { data } = await tenant.ok("GET", `/api/pools/${pool.id}/versions/${pool.version}`);
  return { kind: "routing", name: pool.id, version: String(pool.version), sha256: data.sha256 };
}

/** A pool with a staged version, and a pack that contains it. */
async function stagedPack(fields: object = {}) {
  const pool = await stagedPool(tenant);
  const subject = await subjectOf(pool);
  const pack = await createPack(tenant, production, fields);
  await pack.add(subject);
  return { pool, subject, pack };
}

async function createCandidate(pool: StagedPool, fields: object = {}): Promise<ResponseData> {
  const request = { artifacts: [routingArtifact(pool)], guardrails: easyGuardrails, ...fields };
  return (await tenant.ok("POST", base, request)).data;
}

const attach = (pack: TestPack, candidateId: string) =>
  tenant.rest.call("POST", `${pack.path}:attach-to-promotion`, { candidate_id: candidateId });

test("a promotion is approved and promoted only while its gate is open, on the evidence that was approved", async () => {
  const { pool, subject, pack } = await stagedPack();
  const { id, pack_id } = await createCandidate(pool, { pack_id: pack.id });
  assert.equal(pack_id, pack.id);
  await runToStoppedCanary(tenant, id, [pool]);
  const approve = () => approver("POST", `${base}/${id}/approve`, {});
  const promote = () => tenant.rest.call("POST", `${base}/${id}/promote`, {});

  const early = await approve();
  assert.equal(early.body.reason, "gate_closed", early.text);
  assert.deepEqual(
    early.body.gate_reasons,
    ["runtime", "scenario"].map((type) => `routing.${type} of ${pool.id}: missing`),
    "the stopped canary is evidence already",
  );
  // Approvals read the gate of a locked promotion, and attachments change both. Neither may wait for the other in a ring.
  const concurrent = await Promise.all(
    Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? approve() : attach(pack, id))),
  );
  assert.deepEqual(new Set(concurrent.map(({ status }) => status)), new Set([412, 200]));
  await pack.receipt("runtime", [subject], await storeReport(node.service, tenant, production));
  await pack.receipt("scenario", [subject]);
  assert.equal((await approve()).status, 200);

  // A failure after the approval.
  const content = await activeContent(tenant, pool.id);
  await pack.receipt("scenario", [subject], { result: "failed" });
  const failed = await promote();
  assert.deepEqual([failed.body.reason, failed.body.gate_reasons?.length], ["gate_closed", 1], failed.text);
  assert.equal(await activeContent(tenant, pool.id), content);

  // The gate is open again, but on other evidence than was approved.
  const renewed = await pack.receipt("scenario", [subject]);
  assert.equal((await pack.gate()).state, "open");
  assert.equal((await promote()).body.errorCode, "FAILED_PRECONDITION");
  assert.equal(await activeContent(tenant, pool.id), content);
  assert.equal((await approve()).status, 200);

  // An expiry after the approval.
  await expireReceipt(node.service, renewed);
  await until(pack.gate, ({ state }) => state === "closed");
  assert.equal((await promote()).body.reason, "gate_closed");
  assert.equal(await activeContent(tenant, pool.id), content);

  await pack.receipt("scenario", [subject]);
  assert.equal((await approve()).status, 200);
  await step(tenant, id, "promote", "promoted");
  assert.notEqual(await activeContent(tenant, pool.id), content);
  assert.equal((await tenant.ok("POST", `${pack.path}:archive`, {})).data.status, "archived");
});

test("an approver reads the evidence of a candidate, and cannot change it", async () => {
  const { pool, subject, pack } = await stagedPack();
  const { id } = await createCandidate(pool, { pack_id: pack.id });
  await pack.receipt("scenario", [subject]);
  const { body } = await approver("GET", `${base}/${id}`);
  assert.equal(body.data.pack_id, pack.id);
  assert.equal((await approver("GET", pack.path)).body.data?.id, pack.id);
  const receipts = await approver("GET", `${pack.path}/receipts`);
  assert.equal(receipts.body.data?.length, 1, receipts.text);
  const explained = await approver("POST", `${pack.path}:explain`, {});
  assert.equal(explained.body.data?.gate.state, "closed", explained.text);
  for (const call of [":archive", ":export", "/artifacts", "/receipts", "/runs"]) {
    assert.equal((await approver("POST", `${pack.path}${call}`, {})).body.errorCode, "PERMISSION_DENIED", call);
  }
});

test("an attached pack is pinned: only receipts and runs are added, and the refusal says what is possible", async () => {
  const { pool, subject, pack } = await stagedPack();
  const { id } = await createCandidate(pool);
  const attached = await attach(pack, id);
  assert.equal(attached.status, 200, attached.text);
  const { status, attachment, revision, digest, possible_calls } = attached.body.data;
  assert.deepEqual([status, attachment.candidate_id], ["attached", id]);
  assert.deepEqual([attachment.revision, attachment.digest], [revision, digest]);
  assert.equal((await tenant.ok("GET", `${base}/${id}`)).data.pack_id, pack.id);
  const possible = ["add_receipt", "start_run", "evaluate", "explain", "export", "attach", "archive"];
  assert.deepEqual(possible_calls, possible);
  const refused: [string, string, object][] = [
    ["PUT", pack.path, { name: "weaker" }],
    ["POST", `${pack.path}/artifacts`, { artifact: artifactOf("report", "late") }],
  ];
  for (const [method, path, body] of refused) {
    const { body: problem } = await tenant.refused("FAILED_PRECONDITION", method, path, body);
    assert.deepEqual([problem.current_status, problem.possible_calls], ["attached", possible]);
  }
  const { body: held } = await tenant.refused("FAILED_PRECONDITION", "POST", `${pack.path}:archive`, {});
  assert.match(held.detail, /has not ended/);
  assert.equal((await pack.startRun({ type: "scenario", mode: "dry_run" })).candidate_id, id);
  assert.equal((await pack.receipt("scenario", [subject])).candidate_id, id);
  assert.deepEqual(reasonsOf(await pack.gate()), ["routing.canary missing", "routing.runtime missing"]);
  assert.equal((await pack.explain()).gate.candidate_id, id);
  await tenant.ok("POST", `${pack.path}:export`, {});
  assert.equal((await attach(pack, id)).body.data.attachment.revision, attachment.revision);
  const { data: events } = await tenant.ok("GET", `/api/events?subject=${pack.id}&types=evidence.pack.attached`);
  assert.equal(events[0].data.candidate_id, id);
});

test("evidence for another promotion closes the gate as wrong_candidate", async () => {
  const { pool, subject, pack } = await stagedPack();
  const { id: first } = await createCandidate(pool, { pack_id: pack.id });
  await runToStoppedCanary(tenant, first, [pool]);
  await pack.receipt("runtime", [subject], await storeReport(node.service, tenant, production));
  await pack.receipt("scenario", [subject]);
  assert.equal((await pack.gate()).state, "open");
  await step(tenant, first, "abort", "aborted");
  const { id: second } = await createCandidate(pool, { pack_id: pack.id });
  const wrong = ["canary", "runtime", "scenario"].map((type) => `routing.${type} wrong_candidate`);
  assert.deepEqual(reasonsOf(await pack.gate()), wrong);
  await pack.receipt("scenario", [subject], { candidate_id: second });
  assert.deepEqual(reasonsOf(await pack.gate()), wrong.slice(0, 2));
});

test("what the service observed itself comes from the service alone, and receipts say who produced them", async () => {
  const { pool, subject, pack } = await stagedPack();
  const { id } = await createCandidate(pool, { pack_id: pack.id });
  const worker = await tenant.caller({ roles: ["service"] });
  const path = `${pack.path}/receipts`;
  const tool = { name: "switchyard-canary", version: "1" };
  const report = await storeReport(node.service, tenant, production);
  const refused: [fields: object, field: string][] = [
    [{ type: "canary", tool }, "type"],
    [{ type: "runtime", tool }, "report_id"],
    [{ type: "runtime", ...report, result: "failed" }, "result"],
    [{ type: "runtime", ...report, cases: [{ id: "mine", status: "passed" }] }, "cases"],
    [{ type: "scenario", ...report }, "report_id"],
  ];
  for (const [fields, field] of refused) {
    const { body } = await worker.call("POST", path, { result: "passed", subjects: [subject], ...fields });
    const violated = body.violations?.map((violation: ResponseData) => violation.field);
    assert.deepEqual([body.errorCode, violated], ["INVALID_ARGUMENT", [field]]);
  }
  const unknown = { type: "runtime", result: "passed", subjects: [subject], report_id: "0".repeat(64) };
  assert.equal((await worker.call("POST", path, unknown)).status, 404);
  const passed = { type: "runtime", subjects: [subject], ...report };
  const { data: runtime } = (await worker.call("POST", path, passed)).body;
  assert.deepEqual([runtime.producer, runtime.cases.length], ["service", 1]);
  // A later failure cannot be hidden behind an earlier report.
  await storeReport(node.service, tenant, production, { verdict: "failed" });
  const { body: superseded } = await worker.call("POST", path, passed);
  assert.match(superseded.detail, /newest report of its suite/);
  const { body } = await worker.call("POST", path, { type: "scenario", result: "passed", subjects: [subject] });
  assert.match(body.data.producer, /^key:/);
  await runToStoppedCanary(tenant, id, [pool]);
  const { data: receipts } = await tenant.ok("GET", path);
  const canary = receipts.find(({ type }: ResponseData) => type === "canary");
  assert.deepEqual([canary.producer, canary.tool.name], ["service", "switchyard-canary"]);
  const signed = JSON.parse(Buffer.from(body.data.envelope.payload, "base64").toString());
  assert.equal(signed.predicate.producer, body.data.producer);
});

test("a gate accepts only the producers that its pack names, and says whose receipt does not count", async () => {
  const trusted = await tenant.caller({ roles: ["service"] });
  const { pack: scratch, subject: other } = await stagedPack();
  const own = await trusted.call("POST", `${scratch.path}/receipts`, {
    ...{ type: "scenario", result: "passed", subjects: [other] },
  });
  const { producer } = own.body.data;
  const { subject, pack } = await stagedPack({ accepted_producers: ["service", producer] });
  const stranger = await pack.receipt("scenario", [subject]);
  const scenarioOf = async () =>
    (await pack.explain()).findings.find(({ requirement }: ResponseData) => requirement.id === "routing.scenario");
  const { verdict, explanation, next_step } = await scenarioOf();
  assert.equal(verdict, "wrong_producer");
  assert.ok(explanation.includes(`checked by ${stranger.producer}, which the pack does not accept`), explanation);
  assert.match(next_step, /a producer that the pack accepts/);
  await trusted.call("POST", `${pack.path}/receipts`, { type: "scenario", result: "passed", subjects: [subject] });
  assert.equal((await scenarioOf()).verdict, "satisfied");
  await pack.receipt("scenario", [subject], { result: "failed" });
  assert.equal((await scenarioOf()).verdict, "satisfied", "nobody else can close it either");
});

test("a pack is attached only where it belongs, and nothing changes otherwise", async () => {
  const { pool, pack } = await stagedPack();
  const { id } = await createCandidate(pool);
  const refused: [of: TestPack, candidateId: string, code: string, detail: RegExp][] = [
    [pack, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "NOT_FOUND", /candidate/],
    [await createPack(tenant, production), id, "FAILED_PRECONDITION", /does not contain these artifacts/],
    [
      await createPack(tenant, await environmentId(tenant, "staging")),
      id,
      "FAILED_PRECONDITION",
      /another environment/,
    ],
  ];
  for (const [of, candidateId, code, detail] of refused) {
    const { body } = await attach(of, candidateId);
    assert.equal(body.errorCode, code);
    assert.match(body.detail, detail);
    assert.equal((await tenant.ok("GET", of.path)).data.status, "open");
  }
  assert.equal((await tenant.ok("GET", `${base}/${id}`)).data.pack_id, "");
  const stranger = await newTenant(node.service);
  const path = `${pack.path}:attach-to-promotion`;
  assert.equal((await stranger.rest.call("POST", path, { candidate_id: id })).status, 404);
  assert.equal((await attach(pack, id)).status, 200);
  const another = await createPack(tenant, production);
  await another.add(await subjectOf(pool));
  assert.match((await attach(another, id)).body.detail, /already has the evidence pack/);
});
