import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import {
  AddEvidenceArtifactRequestSchema,
  AddEvidenceReceiptRequestSchema,
  ArchiveEvidencePackRequestSchema,
  AttachEvidencePackRequestSchema,
  CreateEvidencePackRequestSchema,
  EvaluateEvidenceGateRequestSchema,
  ExplainEvidencePackRequestSchema,
  StartEvidenceRunRequestSchema,
  UpdateEvidencePackRequestSchema,
} from "../../../../gen/service/api/rollout_evidence_pb.ts";
import { untilBlocked } from "../../../../test/harness/blocked-statements.ts";
import {
  contextFor,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import { until } from "../../../../test/harness/until.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createKeyring } from "../../../platform/crypto/index.ts";
import { notFound } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { createMetrics } from "../../../platform/telemetry/index.ts";
import { type Candidate, createEvidence, type Subject } from "./index.ts";
import { packStore } from "./packs/pack-store.ts";

const db = await testDatabase();
const tenantId: TenantId = freshTenant();
const candidates = new Map<string, Candidate>();
const evidence = createEvidence({
  db,
  signals: {} as never,
  log: {} as never,
  clock: { now: () => Date.now() } as never,
  keyring: createKeyring({ activeKeyId: "k", keys: { k: randomBytes(32).toString("base64") } }),
  metrics: createMetrics(),
  platformTenantId: () => tenantId,
  events: recordedEvents() as never,
  findRuntimeFinding: async () => undefined,
  candidates: {
    find: async (_sql, owner, id) => (owner === tenantId ? candidates.get(id) : undefined),
    async setPack(_context, id) {
      const found = candidates.get(id);
      if (found === undefined) throw notFound("promotion");
      return found;
    },
  },
});
const environmentId = await addEnvironment("staging");

async function addEnvironment(key: string): Promise<string> {
  const id = ulid(Date.now());
  await db.sql`
    insert into environments (tenant_id, id, key, name, mode, status, created_at, updated_at)
    values (${tenantId}, ${id}, ${key}, ${key}, 'sandbox', 'active', now(), now())`;
  return id;
}

function routing(version = "1"): Subject {
  const sha256 = createHash("sha256").update(version).digest("hex");
  return { kind: "routing", name: "leads", version, sha256, baseSha256: "" };
}

function candidate(fields: Partial<Candidate> = {}): Candidate {
  const made = { id: ulid(Date.now()), environmentId, hasEnded: false, subjects: [routing()], ...fields };
  candidates.set(made.id, made);
  return made;
}

const { handlers } = evidence;
const context = { tenantId };

async function newPack(subject = routing()) {
  const { createEvidencePack, addEvidenceArtifact } = handlers;
  const { pack } = await perform(db, context, createEvidencePack, CreateEvidencePackRequestSchema, {
    environmentId,
    name: "release",
  });
  const { baseSha256: _, ...artifact } = subject;
  const request = { environmentId, packId: pack!.id, artifact };
  await perform(db, context, addEvidenceArtifact, AddEvidenceArtifactRequestSchema, request);
  return { environmentId, packId: pack!.id };
}

const attach = (pack: object, candidateId: string) =>
  perform(db, context, handlers.attachEvidencePack, AttachEvidencePackRequestSchema, { ...pack, candidateId });
const receipt = (pack: object, fields: object = {}) =>
  perform(db, context, handlers.addEvidenceReceipt, AddEvidenceReceiptRequestSchema, {
    ...{ ...pack, type: "scenario", result: "passed", subjects: [routing()] },
    ...fields,
  });
const gateOf = async (pack: object) =>
  (await perform(db, context, handlers.evaluateEvidenceGate, EvaluateEvidenceGateRequestSchema, pack)).gate!;
const readGate = (packId: string, { id, subjects }: Candidate) =>
  db.transaction((tx) => evidence.readGate(tx, tenantId, { promotionId: id, packId, subjects }));

test("an attached pack is pinned, and its gate is about the promotion", async () => {
  const pack = await newPack();
  const promotion = candidate();
  const { pack: attached } = await attach(pack, promotion.id);
  assert.deepEqual([attached!.status, attached!.attachment!.candidateId], ["attached", promotion.id]);
  assert.deepEqual(
    [attached!.attachment!.revision, attached!.attachment!.digest],
    [attached!.revision, attached!.digest],
  );
  assert.equal(await packStore(db.sql).findAttached(tenantId, promotion.id), pack.packId);
  const { updateEvidencePack, addEvidenceArtifact } = handlers;
  const refused = failsWith("FAILED_PRECONDITION", /attached to a promotion, which does not allow/);
  await assert.rejects(
    perform(db, context, updateEvidencePack, UpdateEvidencePackRequestSchema, { ...pack, name: "x" }),
    refused,
  );
  const artifact = { kind: "routing", name: "leads", version: "2", sha256: "0".repeat(64) };
  await assert.rejects(
    perform(db, context, addEvidenceArtifact, AddEvidenceArtifactRequestSchema, { ...pack, artifact }),
    refused,
  );
  // A receipt and a run of an attached pack are about its promotion.
  assert.equal((await receipt(pack)).receipt!.candidateId, promotion.id);
  const run = { ...pack, type: "scenario", mode: "dry_run" };
  const started = await perform(db, context, handlers.startEvidenceRun, StartEvidenceRunRequestSchema, run);
  assert.equal(started.run!.candidateId, promotion.id);
  const gate = await gateOf(pack);
  assert.deepEqual([gate.state, gate.candidateId], ["open", promotion.id]);
  const again = await attach(pack, promotion.id);
  assert.equal(again.pack!.attachment!.revision, attached!.attachment!.revision);
});

test("evidence for another promotion does not count, and explain says so", async () => {
  const pack = await newPack();
  const promotion = candidate();
  await attach(pack, promotion.id);
  await receipt(pack, { candidateId: candidate().id });
  const [reason] = (await gateOf(pack)).reasons;
  assert.equal(reason!.reason, "wrong_candidate");
  const { explanation } = await perform(
    db,
    context,
    handlers.explainEvidencePack,
    ExplainEvidencePackRequestSchema,
    pack,
  );
  assert.match(explanation!.findings[0]!.explanation, /another promotion/);
  await assert.rejects(receipt(pack, { candidateId: ulid(Date.now()) }), failsWith("NOT_FOUND", /promotion/));
});

test("a receipt that fails or expires after an approval closes the gate and changes its digest", async () => {
  const pack = await newPack();
  const promotion = candidate();
  await attach(pack, promotion.id);
  await receipt(pack, { ttlS: 1 });
  const approved = await readGate(pack.packId, promotion);
  assert.equal(approved.state, "open");
  const later = await until(
    () => readGate(pack.packId, promotion),
    ({ state }) => state !== "open",
  );
  assert.deepEqual([later.reasons[0]!.reason, later.digest === approved.digest], ["expired", false]);
  assert.ok(Date.now() >= approved.validUntil!.getTime() - 1000);

  await receipt(pack);
  const reopened = await readGate(pack.packId, promotion);
  assert.equal(reopened.state, "open");
  await receipt(pack, { result: "failed" });
  const failed = await readGate(pack.packId, promotion);
  assert.deepEqual([failed.state, failed.reasons[0]!.reason], ["closed", "failed"]);
  assert.notEqual(failed.packDigest, reopened.packDigest);
});

test("a receipt is stale when what the artifact replaces has changed", async () => {
  const pack = await newPack();
  const base = "a".repeat(64);
  const promotion = candidate({ subjects: [{ ...routing(), baseSha256: base }] });
  await attach(pack, promotion.id);
  await receipt(pack, { subjects: [{ ...routing(), baseSha256: base }] });
  assert.equal((await readGate(pack.packId, promotion)).state, "open");
  const moved = { ...promotion, subjects: [{ ...routing(), baseSha256: "b".repeat(64) }] };
  assert.equal((await readGate(pack.packId, moved)).reasons[0]!.reason, "stale");
  candidates.set(promotion.id, moved);
  assert.equal((await gateOf(pack)).reasons[0]!.reason, "stale");
});

test("a pack gives no evidence to a promotion that it is not attached to", async () => {
  const pack = await newPack();
  await receipt(pack);
  assert.equal((await gateOf(pack)).state, "open");
  const gate = await readGate(pack.packId, candidate());
  assert.deepEqual(
    gate.reasons.map(({ reason, requirementId }) => [requirementId, reason]),
    [["routing.scenario", "missing"]],
  );
});

test("no receipt arrives between the check of a gate and the commit that depends on it", async () => {
  const pack = await newPack();
  const promotion = candidate();
  await attach(pack, promotion.id);
  await receipt(pack);
  const order: string[] = [];
  let adding: Promise<void> | undefined;
  await db.transaction(async (tx) => {
    const request = { promotionId: promotion.id, packId: pack.packId, subjects: promotion.subjects };
    assert.equal((await evidence.readGate(tx, tenantId, request)).state, "open");
    adding = receipt(pack, { result: "failed" }).then(() => void order.push("receipt"));
    await untilBlocked(db.sql, "evidence_packs");
    order.push("promotion");
  });
  await adding;
  assert.deepEqual(order, ["promotion", "receipt"]);
});

test("a pack is attached only to a promotion of its environment that is open and whose artifacts it contains", async () => {
  const pack = await newPack();
  const refused: [Candidate, RegExp][] = [
    [candidate({ environmentId: await addEnvironment("other") }), /another environment/],
    [candidate({ hasEnded: true }), /has ended/],
    [candidate({ subjects: [routing("2")] }), /does not contain these artifacts of the promotion: routing leads 2/],
  ];
  for (const [promotion, text] of refused) {
    await assert.rejects(attach(pack, promotion.id), failsWith("FAILED_PRECONDITION", text));
  }
  await assert.rejects(attach(pack, ulid(Date.now())), failsWith("NOT_FOUND", /promotion/));
  const promotion = candidate();
  await attach(pack, promotion.id);
  await assert.rejects(attach(await newPack(), promotion.id), failsWith("FAILED_PRECONDITION", /already has/));
});

test("a pack leaves its promotion only after the end", async () => {
  const pack = await newPack();
  const promotion = candidate();
  await attach(pack, promotion.id);
  const archive = () => perform(db, context, handlers.archiveEvidencePack, ArchiveEvidencePackRequestSchema, pack);
  const held = failsWith("FAILED_PRECONDITION", /which has not ended/);
  const next = candidate();
  await assert.rejects(attach(pack, next.id), held);
  await assert.rejects(archive(), held);
  candidates.set(promotion.id, { ...promotion, hasEnded: true });
  assert.equal((await attach(pack, next.id)).pack!.attachment!.candidateId, next.id);
  candidates.set(next.id, { ...next, hasEnded: true });
  assert.equal((await archive()).pack!.status, "archived");
});

test("a promotion that is created with a pack gets it attached in the same transaction, or is not created", async () => {
  const pack = await newPack();
  const promotion = candidate();
  const create = (packId: string, of: Candidate, fails = false) =>
    db.transaction(async (tx) => {
      await evidence.attachPack(contextFor(db, { tenantId, sql: tx }), packId, of);
      if (fails) throw new Error("The creation fails.");
    });
  await assert.rejects(create(pack.packId, promotion, true), /The creation fails/);
  assert.equal(await packStore(db.sql).findAttached(tenantId, promotion.id), undefined);
  await create(pack.packId, promotion);
  assert.equal(await packStore(db.sql).findAttached(tenantId, promotion.id), pack.packId);
  await assert.rejects(create(ulid(Date.now()), candidate()), failsWith("NOT_FOUND", /evidence pack/));
});
